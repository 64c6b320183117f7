import { insertAfter, type Recipe } from "./recipe.ts";

/** Limiter whose delay is proportional to the square of the number of failures. */
export const limiter: Recipe = {
  heading: "Add a limiter",
  name: "quadratic",
  steps: [
    {
      path: "limiters/NAME.ts",
      round: "modules",
      says: "limiters/quadratic.ts",
      text: `/**
 * Limiter with a delay that grows with the square of the number of failures.
 *
 * Delay: \`step\` times the square of the number of the item's failures.
 *
 * Choose it when doubled delays grow too fast.
 *
 * \`\`\`json
 * { "type": "quadratic", "step": "100ms" }
 * \`\`\`
 *
 * @module
 */

import type { Clock } from "../lib/base/clock.ts";
import type { Duration } from "../lib/base/duration.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Fields, OptionsInput } from "../registry/fields.ts";
import { durationKind } from "../registry/option_kinds.ts";
import { createCounting } from "./counting_in_code.ts";
import type { LimiterDefinition } from "./definition.ts";
import { type DelayAfter, FailureLimiter } from "./failures.ts";

export type * from "./types.ts";

/** Options of a quadratic limiter. */
export const quadraticOptions = {
  step: { kind: "duration", description: "Delay after an item's first failure." },
} as const satisfies Fields;

/** Definition of \`{ "type": "quadratic" }\`. */
export const quadratic: LimiterDefinition<"quadratic", typeof quadraticOptions> = {
  type: "quadratic",
  description: "Delays an item by the square of its number of failures.",
  options: quadraticOptions,
  create: /* @__PURE__ */ builtIn(1, ({ step }) => new FailureLimiter(quadraticDelay(step))),
  update: (limiter: FailureLimiter, { step }) => limiter.change(quadraticDelay(step)),
};

function quadraticDelay(step: number): DelayAfter {
  return (failures) => Math.min(step * failures ** 2, Number.MAX_VALUE);
}

/** Creates a limiter that delays an item by \`step\` times the square of its number of failures. */
export function createQuadraticLimiter<T = unknown>(
  options: OptionsInput<typeof quadraticOptions> & { forgetAfter?: Duration | undefined; clock?: Clock | undefined },
): RateLimiter<T> {
  return createCounting(quadratic, { duration: durationKind }, options);
}
`,
    },
    {
      path: "limiters/built_ins.ts",
      round: "lists",
      says: "'\"quadratic\"' does not exist in type",
      edits: [insertAfter('export * from "./per_group.ts";\n', 'export * from "./quadratic.ts";\n')],
    },
    {
      path: "packages/engine/limiter_plan.ts",
      round: "entries",
      says: "packages/engine/limiter_plan.ts",
      edits: [[
        '  "steps": {',
        `  "quadratic": { version: 1, plan: "by the process" },
  "steps": {`,
      ]],
    },
    {
      path: "tests/contracts/reload_model.ts",
      round: "entries",
      says: "tests/contracts/reload_model.ts",
      edits: [
        insertAfter("isInGroup: boolean) => object>> = {\n", '  "quadratic": (draw) => ({ step: draw(3000) }),\n'),
        insertAfter("ReturnType<typeof of>>> = {\n", '      "quadratic": of({ step: delay }),\n'),
      ],
    },
    {
      path: "tests/model/plain_limiters.ts",
      round: "entries",
      says: "tests/model/plain_limiters.ts",
      edits: [
        insertAfter('  "jitter": "its delays are random",\n', '  "quadratic": "it counts as the other limiters do",\n'),
      ],
    },
    {
      path: "tests/limiters/NAME_test.ts",
      round: "tests",
      says: "tests/limiters/quadratic_test.ts is missing",
      text: `import { assertEquals } from "@std/assert";
import { createQuadraticLimiter, loadConfig } from "@workqueue/core";
import { delays } from "./helpers.ts";

Deno.test("quadratic: the delay is the square of the number of failures", () => {
  assertEquals(delays(createQuadraticLimiter({ step: 10 }), "a", 3), [10, 40, 90]);
});

Deno.test("quadratic: a config document has it", () => {
  const config = loadConfig({ limiters: { retries: { type: "quadratic", step: "10ms" } } });
  assertEquals(delays(config.limiter("retries"), "a", 3), [10, 40, 90]);
});
`,
    },
    {
      path: "tests/contracts/limiters_test.ts",
      round: "entries",
      says: "tests/contracts/limiters_test.ts",
      edits: [insertAfter(
        "[what: string, LimiterConfig, LimiterConfig, UpdateTraits?][];\n} = {\n",
        '  "quadratic": [["its step", { type: "quadratic", step: 5 }, { type: "quadratic", step: 7 }]],\n',
      )],
    },
    {
      path: "tests/cli/every_type_test.ts",
      round: "tests",
      says: "have each built-in limiter ... FAILED",
      edits: [insertAfter(
        '    "per-group": { type: "per-group", separator: "/", limiter: EXPONENTIAL },\n',
        '    "quadratic": { type: "quadratic", step: "1ms" },\n',
      )],
    },
    {
      path: "docs/limiters.md",
      round: "tests",
      says: "docs/limiters.md has no row for quadratic",
      edits: [[
        "| Other delays",
        "| Delays that grow slowly | [`quadratic`](config/limiters.md#quadratic) |\n| Other delays",
      ]],
    },
  ],
};
