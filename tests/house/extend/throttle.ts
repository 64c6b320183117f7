import { insertAfter, type Recipe } from "./recipe.ts";

/** Throttle whose limit grows with each success. */
export const throttle: Recipe = {
  heading: "Add a throttle",
  name: "ramp",
  steps: [
    {
      path: "throttles/NAME.ts",
      round: "modules",
      says: "throttles/ramp.ts",
      text: `/**
 * Throttle with a limit that grows with each success.
 *
 * Effect: runs at most \`start\` attempts at once in the beginning, and one more after each success, up to \`limit\`.
 *
 * Choose it when a backend is slow in the beginning.
 *
 * \`\`\`json
 * { "type": "ramp", "start": 1, "limit": 10 }
 * \`\`\`
 *
 * @module
 */

import type { Clock } from "../lib/base/clock.ts";
import type { AttemptResult, Throttle } from "../lib/contracts/throttle.ts";
import type { Fields, OptionsInput } from "../registry/fields.ts";
import { integerKind } from "../registry/option_kinds.ts";
import { createThrottle, type ThrottleDefinition } from "./definition.ts";
import { LimitedThrottle } from "./limited_throttle.ts";

export type * from "./types.ts";

/** Options of a ramp throttle. */
export const rampOptions = {
  start: { kind: "integer", min: 1, description: "Maximum number of attempts at once in the beginning." },
  limit: { kind: "integer", min: 1, description: "Maximum number of attempts at once." },
} as const satisfies Fields;

/** Definition of \`{ "type": "ramp" }\`. */
export const ramp: ThrottleDefinition<"ramp", typeof rampOptions> = {
  type: "ramp",
  description: "Runs one more attempt at once after each success, up to a limit.",
  options: rampOptions,
  create: ({ start, limit }) => new RampThrottle(start, limit),
};

/** Creates a throttle that runs one more attempt at once after each success, up to \`limit\`. */
export function createRampThrottle(
  options: OptionsInput<typeof rampOptions> & { clock?: Clock | undefined },
): Throttle {
  return createThrottle(ramp, { integer: integerKind }, options);
}

class RampThrottle extends LimitedThrottle {
  readonly ignoresDurations = true;
  readonly #most: number;

  constructor(start: number, most: number) {
    super(Math.min(start, most));
    this.#most = most;
  }

  protected override learn({ outcome }: AttemptResult): void {
    if (outcome === "succeeded") this.limit = Math.min(this.limit + 1, this.#most);
  }
}
`,
    },
    {
      path: "throttles/built_ins.ts",
      round: "lists",
      says: "'createRampThrottle'",
      edits: [insertAfter('export * from "./gradient.ts";\n', 'export * from "./ramp.ts";\n')],
    },
    {
      path: "packages/engine/gate_plan.ts",
      round: "entries",
      says: "packages/engine/gate_plan.ts",
      edits: [insertAfter('  "aimd": OF_EACH_PROCESS,\n', '  "ramp": OF_EACH_PROCESS,\n')],
    },
    {
      path: "tests/throttles/contract_test.ts",
      round: "tests",
      says: "throttles: each type is here ... FAILED",
      edits: [
        insertAfter("  createGradientThrottle,\n", "  createRampThrottle,\n"),
        insertAfter(
          "  gradient: (clock) => createGradientThrottle({ min: 2, max: 2, clock }),\n",
          "  ramp: (clock) => createRampThrottle({ start: 2, limit: 2, clock }),\n",
        ),
      ],
    },
    {
      path: "tests/throttles/NAME_test.ts",
      round: "tests",
      says: "tests/throttles/ramp_test.ts is missing",
      text: `import { assertEquals } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import { begin, result } from "./helpers.ts";

Deno.test("ramp: each success allows one more attempt, up to the limit of the document", () => {
  const throttle = loadConfig({ throttles: { api: { type: "ramp", start: 1, limit: 3 } } }).throttle("api");
  const limits = [1, 2, 3].map(() => {
    begin(throttle).end(result("succeeded"));
    return throttle.snapshot!().limit;
  });
  assertEquals(limits, [2, 3, 3]);
});
`,
    },
    {
      path: "tests/cli/every_type_test.ts",
      round: "tests",
      says: "have each built-in throttle ... FAILED",
      edits: [
        insertAfter(
          '    "gradient": { type: "gradient", max: 10 },\n',
          '    "ramp": { type: "ramp", start: 1, limit: 5 },\n',
        ),
      ],
    },
    {
      path: "docs/generate/throttles.ts",
      round: "generate",
      says: "Cannot draw throttles: missing ramp",
      edits: [
        insertAfter(
          '  gradient: { type: "gradient", max: 100 },\n',
          '  ramp: { type: "ramp", start: 1, limit: 10 },\n',
        ),
      ],
    },
    {
      path: "docs/throttles.md",
      round: "tests",
      says: "docs/throttles.md has no row for ramp",
      edits: [insertAfter(
        "](config/throttles.md#gradient)                |\n",
        "| A slow beginning | [`ramp`](config/throttles.md#ramp) |\n",
      )],
    },
    {
      path: "docs/redis/limits.md",
      round: "tests",
      says: "docs/redis/limits.md has no row for ramp",
      edits: [insertAfter("| `aimd`, `gradient`, ", "`ramp`, ")],
    },
  ],
};
