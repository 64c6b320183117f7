import { insertAfter, type Recipe } from "./recipe.ts";

/** Discipline that hands out the item that became ready last. */
export const discipline: Recipe = {
  heading: "Add a discipline",
  name: "newest_first",
  steps: [
    {
      path: "disciplines/NAME.ts",
      round: "modules",
      says: "disciplines/newest_first.ts",
      text: `/**
 * Discipline that hands out the item that became ready last.
 *
 * Order: the item that became ready last goes first.
 *
 * Choose it when old items have lost their worth.
 *
 * \`\`\`json
 * { "type": "newest-first" }
 * \`\`\`
 *
 * @module
 */

import type { QueueDiscipline } from "../lib/contracts/discipline.ts";
import type { OptionsInCode } from "../registry/fields.ts";
import { createDiscipline, type DisciplineDefinition } from "./definition.ts";
import { NewestFirstOrder } from "./newest_first_order.ts";
import { OrderedDiscipline } from "./ordered_discipline.ts";

export type * from "./types.ts";

/** Options of a newest-first discipline. */
export const newestFirstOptions: Record<never, never> = {};

/** Definition of \`{ "type": "newest-first" }\`. */
export const newestFirst: DisciplineDefinition<"newest-first", typeof newestFirstOptions> = {
  type: "newest-first",
  description: "Hands out the item that became ready last.",
  options: newestFirstOptions,
  create: () => new OrderedDiscipline((records) => new NewestFirstOrder(records)),
};

/** Creates a discipline that hands out the item that became ready last. */
export function createNewestFirstDiscipline<T = unknown>(
  options: OptionsInCode<typeof newestFirstOptions> = {},
): QueueDiscipline<T> {
  return createDiscipline(newestFirst, {}, options) as QueueDiscipline<T>;
}
`,
    },
    {
      path: "disciplines/NAME_order.ts",
      round: "entries",
      says: "disciplines/newest_first_order.ts",
      text: `import type { Order } from "../lib/queue/order.ts";
import { NONE, previousOf, RecordList, type Records } from "../lib/structures/records.ts";

/** Last in, first out. */
export class NewestFirstOrder implements Order {
  length = 0;
  readonly blocked = 0;
  readonly isFifo = false;
  readonly usesTime = false;
  readonly awaitsDone = false;
  begin?: () => void;
  readonly #records: Records;
  readonly #list: RecordList;

  constructor(records: Records) {
    this.#records = records;
    this.#list = new RecordList(records);
  }

  push(record: number): void {
    this.#list.append(record);
    this.length++;
  }

  pop(): number {
    const { last } = this.#list;
    if (last === NONE) return NONE;
    this.#list.remove(last);
    this.length--;
    return last;
  }

  touch(): void {}

  remove(record: number): void {
    this.#list.remove(record);
    this.length--;
  }

  done(): void {}

  peek(limit: number): number[] {
    const listed: number[] = [];
    for (let record = this.#list.last; record !== NONE && listed.length < limit; record = previousOf(this.#records, record)) {
      listed.push(record);
    }
    return listed;
  }
}
`,
    },
    {
      path: "disciplines/built_ins.ts",
      round: "lists",
      says: "'createNewestFirstDiscipline'",
      edits: [insertAfter('export * from "./fair.ts";\n', 'export * from "./newest_first.ts";\n')],
    },
    {
      path: "packages/engine/discipline_plan.ts",
      round: "entries",
      says: "packages/engine/discipline_plan.ts",
      edits: [
        insertAfter("import { fair, ", "newestFirst, "),
        insertAfter(
          "  priority: { definition: priority, plan: planPriority },\n",
          `  "newest-first": {
    definition: newestFirst,
    plan({ path, type }, _options, issues) {
      issues.push({ path, message: \`\${JSON.stringify(type)} is for queues in memory\` });
      return undefined;
    },
  },
`,
        ),
      ],
    },
    {
      path: "tests/contracts/engine_model.ts",
      round: "entries",
      says: "tests/contracts/engine_model.ts",
      edits: [insertAfter("readonly DisciplineConfig[]>> = {\n", '  "newest-first": [],\n')],
    },
    {
      path: "tests/redis/history/load.ts",
      round: "entries",
      says: "tests/redis/history/load.ts",
      edits: [insertAfter("readonly DisciplineConfig[]>> = {\n", '  "newest-first": [],\n')],
    },
    {
      path: "tests/disciplines/NAME_test.ts",
      round: "tests",
      says: "tests/disciplines/newest_first_test.ts is missing",
      text: `import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError, disciplines, loadConfig } from "@workqueue/core";
import { createNewestFirstDiscipline } from "@workqueue/core/disciplines";
import { planDiscipline } from "../../packages/engine/discipline_plan.ts";
import { takeAll } from "../queue_helpers.ts";

Deno.test("newest-first: a queue of a config document hands out the newest item", () => {
  const queue = loadConfig({ queues: { q: { discipline: { type: "newest-first" } } } }).queue<string>("q");
  for (const item of ["a", "b", "c"]) queue.add(item);
  assertEquals(takeAll(queue), ["c", "b", "a"]);
  assertEquals(createNewestFirstDiscipline().length, 0);
});

Deno.test("newest-first: engines refuse it by name", () => {
  const described = disciplines.describe({ type: "newest-first" });
  assertThrows(() => planDiscipline("plan", described), ConfigError, '"newest-first" is for queues in memory');
});
`,
    },
    {
      path: "tests/queue/orders_test.ts",
      round: "tests",
      says: "no discipline named newest-first",
      edits: [
        insertAfter("import {\n", "  createNewestFirstDiscipline,\n"),
        insertAfter(
          '  "strict priority": () => createPriorityDiscipline({ min: -3, max: 3, maxHeadStart: Infinity }),\n',
          '  "newest-first": () => createNewestFirstDiscipline(),\n',
        ),
      ],
    },
    {
      path: "tests/cli/every_type_test.ts",
      round: "tests",
      says: "have each built-in discipline ... FAILED",
      edits: [insertAfter('by: "time" },\n', '    "newest-first": { type: "newest-first" },\n')],
    },
    {
      path: "docs/ordering.md",
      round: "tests",
      says: "docs/ordering.md has no row for newest-first",
      edits: [insertAfter(
        "and no source adds so many items that it delays the others        |\n",
        "| `newest-first` | old items have lost their worth |\n",
      )],
    },
  ],
};
