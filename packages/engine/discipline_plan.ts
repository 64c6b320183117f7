/**
 * Plans of disciplines: disciplines in the form in which an engine evaluates them.
 *
 * @module
 */

import { ConfigError, type ConfigIssue, type DisciplineDescription } from "@workqueue/core";
import { createHash } from "node:crypto";
import { fairDiscipline, priorityDiscipline } from "@workqueue/core/disciplines";

/** Discipline in the form in which an engine evaluates it. */
export interface DisciplinePlan {
  /** Plan as JSON. */
  readonly text: string;
  /** Weights of groups. */
  readonly weights: readonly { readonly group: string; readonly weight: number }[];
  /** Text that ends the group of a key. Missing if the queue has no groups. */
  readonly separator?: string;
  /** Returns the group of a key. Missing if the queue has no groups. */
  readonly groupOf?: (key: string) => string;
}

/** Longest finite head start, in milliseconds. In-memory queues have the same limit. */
const MAX_HEAD_START = 3_155_760_000_000;

/**
 * Creates the plan for a discipline.
 *
 * @throws {ConfigError} If an engine can't evaluate the discipline. The error lists every reason with its path.
 */
export function planDiscipline(action: string, discipline: DisciplineDescription): DisciplinePlan {
  const issues: ConfigIssue[] = [];
  const plan = isA(discipline, fairDiscipline) ? planFair(discipline, issues) : planLine(discipline, issues);
  if (issues.length > 0) throw new ConfigError(action, issues);
  return plan;
}

interface FairOptions {
  readonly separator: string;
  readonly weights?: Readonly<Record<string, number>>;
  readonly maxPerGroup?: number;
  readonly ratePerGroup?: { readonly rate: number; readonly burst: number };
  readonly by?: "items" | "time";
  readonly within?: DisciplineDescription;
}

function planFair({ options, path }: DisciplineDescription, issues: ConfigIssue[]): DisciplinePlan {
  const { separator, weights: given, maxPerGroup = 0, ratePerGroup, by, within } = options as unknown as FairOptions;
  if (within !== undefined && isA(within, fairDiscipline)) {
    issues.push({ path: `${path}/within`, message: '"fair" inside "fair" is for queues in memory' });
  }
  const inner = within === undefined ? ["fifo"] : JSON.parse(planLine(within, issues).text);
  const weights = Object.entries(given ?? {}).map(([group, weight]) => ({ group, weight }))
    .toSorted((one, other) => one.group < other.group ? -1 : 1);
  const { rate = Infinity, burst = 0 } = ratePerGroup ?? {};
  return {
    text: JSON.stringify([
      "fair",
      separator.toWellFormed(),
      inner,
      maxPerGroup,
      rate === Infinity ? 0 : 1_000_000 / rate,
      burst,
      by === "time" ? 1 : 0,
      weights.length === 0 ? 0 : createHash("sha1").update(JSON.stringify(weights)).digest("hex"), // of all weights
    ]),
    weights,
    separator,
    groupOf: (key) => key.split(separator, 1)[0]!,
  };
}

function planLine(discipline: DisciplineDescription, issues: ConfigIssue[]): DisciplinePlan {
  const { type, path, options } = discipline;
  if (!isA(discipline, priorityDiscipline)) {
    if (!isA(discipline, fairDiscipline)) {
      issues.push({
        path,
        message: `${JSON.stringify(type)} is not a built-in discipline, so it is for queues in memory`,
      });
    }
    return { text: '["fifo"]', weights: [] };
  }
  const { min, max, maxHeadStart } = options as unknown as { min: number; max: number; maxHeadStart: number };
  const point = Math.min(maxHeadStart, MAX_HEAD_START) * 1000 / (max - min);
  const plan = maxHeadStart === Infinity ? ["strict", min, max] : ["aging", min, max, point];
  return { text: JSON.stringify(plan), weights: [] };
}

/** Reports whether a discipline is of a built-in type, and not of a custom type with the same name. */
function isA(discipline: DisciplineDescription, definition: object): boolean {
  return (discipline.definition() as object) === definition;
}
