/**
 * Gaps: additions to the types of the core and of plans, without the code of the engines. Each place in an engine that
 * lacks code for an addition must not compile.
 *
 * @module
 */

import type { Edit } from "./recipe.ts";

/** Addition to a type, and the type errors that it must cause. */
export interface Gap {
  readonly adds: string;
  readonly path: string;
  readonly edit: Edit;
  /** Type errors: the file, and a part of the message. */
  readonly errors: readonly (readonly [path: string, words: string])[];
}

/** Gaps that the tests try. */
export const gaps: readonly Gap[] = [
  {
    adds: "an option of a limiter with a bucket",
    path: "limiters/bucket.ts",
    edit: ["  burst: {", '  calm: { kind: "boolean", required: false, description: "" },\n  burst: {'],
    errors: [["packages/engine/limiter_plan.ts", "'calm'"]],
  },
  {
    adds: "a kind of delay",
    path: "packages/engine/delay_nodes.ts",
    edit: ['  | readonly ["longest"', '  | readonly ["shortest", ...Delay[]]\n  | readonly ["longest"'],
    errors: [["packages/sqlite/store/failures.ts", "'shortest'"], ["packages/redis/scripts/kinds.ts", "'shortest'"]],
  },
  {
    adds: "a kind of order",
    path: "packages/engine/discipline_plan.ts",
    edit: ['  | readonly ["fifo"]', '  | readonly ["fifo"]\n  | readonly ["deadline"]'],
    errors: [
      ["packages/engine/discipline_plan.ts", "'deadline'"],
      ["packages/sqlite/store/line_order.ts", "'deadline'"],
      ["packages/sqlite/store/orders.ts", "'deadline'"],
      ["packages/redis/scripts/kinds.ts", "'deadline' is missing in type '{ fifo: true; aging: true; strict: true; }"],
      [
        "packages/redis/scripts/kinds.ts",
        "'deadline' is missing in type '{ fifo: true; aging: true; strict: true; fair",
      ],
      ["packages/redis/repartition.ts", '"deadline"'],
      ["tests/contracts/unknown_parts_suite.ts", "'deadline'"],
    ],
  },
  {
    adds: "a kind of gate",
    path: "packages/engine/throttle_store.ts",
    edit: [
      "PermitsPlan | TokensPlan;",
      'PermitsPlan | TokensPlan | (Omit<TokensPlan, "kind"> & { readonly kind: "places" });',
    ],
    errors: [["packages/engine/gate_plan.ts", "'places'"], ["packages/engine/gate.ts", "return"]],
  },
  {
    adds: "an outcome of attempts",
    path: "packages/engine/engine.ts",
    edit: ['"done" | "succeeded"', '"postponed" | "done" | "succeeded"'],
    errors: [
      ["packages/sqlite/store/turn.ts", '"postponed"'],
      ["packages/redis/scripts/kinds.ts", "'postponed'"],
      ["tests/contracts/engine_model.ts", "'postponed'"],
      ["tests/redis/history/load.ts", "'postponed'"],
    ],
  },
  {
    adds: "a reason to give an item up",
    path: "lib/contracts/handler.ts",
    edit: ['GiveUpReason = "maxRetries"', 'GiveUpReason = "boredom" | "maxRetries"'],
    errors: [["packages/sqlite/store/state.ts", "'boredom'"], ["packages/redis/scripts/constants.ts", "'boredom'"]],
  },
  {
    adds: "a value of an option of a queue",
    path: "packages/engine/contract.ts",
    edit: ['addWhileDelayed?: "keep"', 'addWhileDelayed?: "merge" | "keep"'],
    errors: [["packages/engine/options.ts", "'merge'"]],
  },
  {
    adds: "an option of a retry budget",
    path: "lib/contracts/delaying_queue.ts",
    edit: ["  ratio:", "  calm?: boolean;\n  ratio:"],
    errors: [
      ["packages/sqlite/store/retry_budget.ts", "'calm'"],
      ["packages/redis/scripts/define.ts", "'calm'"],
    ],
  },
];
