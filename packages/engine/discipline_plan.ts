/**
 * Plans of disciplines: disciplines in the form in which an engine evaluates them.
 *
 * @module
 */

import {
  type BuiltInDisciplineOptions,
  ConfigError,
  type ConfigIssue,
  type DisciplineDescription,
} from "@workqueue/core";
import { createHash } from "node:crypto";
import { fair, priority } from "@workqueue/core/disciplines";
import { type DescribedOptions, type PlannedPart, refuseOthers } from "./planned_part.ts";

/**
 * Order that does not depend on groups:
 *
 * - `["fifo"]`;
 * - `["aging", MIN, MAX, POINT]`: by the time when a key became ready, minus POINT microseconds for each point of its
 *   priority above MIN;
 * - `["strict", MIN, MAX]`: by priority, and within a priority by the time when the key became ready or was raised.
 */
export type LinePlan =
  | readonly ["fifo"]
  | readonly ["aging", min: number, max: number, point: number]
  | readonly ["strict", min: number, max: number];

/**
 * Start-time fair queuing. LIMIT is the maximum number of processing keys of a group, and INTERVAL the number of
 * microseconds between two hand-outs of a group after BURST of them. 0 stands for no limit and no rate. WEIGHTS is a
 * hash of all weights.
 */
export type FairPlan = readonly [
  kind: "fair",
  separator: string,
  within: LinePlan,
  limit: number,
  interval: number,
  burst: number,
  byTime: 0 | 1,
  weights: 0 | string,
];

/** Order in which ready keys are handed out. */
export type OrderPlan = LinePlan | FairPlan;

/** Kind of an order that does not depend on groups. */
export type LineKind = LinePlan[0];

/** Kind of an order. */
export type OrderKind = OrderPlan[0];

/** Difference between orders that don't depend on groups. */
export interface LineTraits {
  /** Whether a key whose priority is raised goes behind the keys that had this priority before. */
  readonly movesBehind: boolean;
  /** Whether a key goes further ahead the longer it waits, compared to keys of other priorities. */
  readonly ages: boolean;
}

/** Traits of each kind of line, for all engines. */
export const LINE_TRAITS: Readonly<Record<LineKind, LineTraits>> = {
  fifo: { movesBehind: false, ages: false },
  aging: { movesBehind: false, ages: true },
  strict: { movesBehind: true, ages: false },
};

/** Discipline in the form in which an engine evaluates it. */
export interface DisciplinePlan {
  /** Plan as JSON. */
  readonly text: string;
  /** Orders in the plan. */
  readonly parts: readonly PlannedPart[];
  /** Weights of groups. */
  readonly weights: readonly { readonly group: string; readonly weight: number }[];
  /** Text that ends the group of a key. Missing if the queue has no groups. */
  readonly separator?: string;
  /** Returns the group of a key. Missing if the queue has no groups. */
  readonly groupOf?: (key: string) => string;
}

/** Longest finite head start, in milliseconds. In-memory queues have the same limit. */
const MAX_HEAD_START = 3_155_760_000_000;

/** Plan of a discipline, without its text. */
interface Planned extends Omit<DisciplinePlan, "text"> {
  readonly plan: OrderPlan;
}

/** Planner of a built-in discipline. */
interface BuiltInPlan<Type extends keyof BuiltInDisciplineOptions> {
  readonly definition: object;
  /**
   * Returns the plan. Must name each option, and pass on the rest, which is empty. May add an issue that refuses the
   * discipline by name, instead of returning a plan.
   */
  plan(
    part: DisciplineDescription,
    options: DescribedOptions<BuiltInDisciplineOptions[Type]>,
    issues: ConfigIssue[],
  ): Planned | undefined;
}

/** Planner of each built-in discipline. A discipline of the core without one is a type error. */
const BUILT_INS: { readonly [Type in keyof BuiltInDisciplineOptions]: BuiltInPlan<Type> } = {
  fair: { definition: fair, plan: planFair },
  priority: { definition: priority, plan: planPriority },
};

/**
 * Creates the plan for a discipline.
 *
 * @throws {ConfigError} If an engine can't evaluate the discipline. The error lists every reason with its path.
 */
export function planDiscipline(action: string, discipline: DisciplineDescription): DisciplinePlan {
  const issues: ConfigIssue[] = [];
  const planned = planPart(discipline, issues);
  if (issues.length > 0 || planned === undefined) throw new ConfigError(action, issues);
  const { plan, ...rest } = planned;
  return { text: JSON.stringify(plan), ...rest };
}

/** Returns the plan of a discipline. If it is not of a built-in type, notes that, and returns `undefined`. */
function planPart(part: DisciplineDescription, issues: ConfigIssue[]): Planned | undefined {
  const { type, path, options } = part;
  // A custom type may have the name of a built-in type.
  const planner = Object.values<BuiltInPlan<never>>(BUILT_INS).find(({ definition }) =>
    definition === part.definition()
  );
  if (planner !== undefined) return planner.plan(part, options as never, issues);
  const message = `${JSON.stringify(type)} is not a built-in discipline, so it is for queues in memory`;
  issues.push({ path, message });
  return undefined;
}

/** Share of a group in a plan, by the option `by`. */
const BY_TIME: Readonly<Record<"items" | "time", 0 | 1>> = { items: 0, time: 1 };

function planFair(
  part: DisciplineDescription,
  options: DescribedOptions<BuiltInDisciplineOptions["fair"]>,
  issues: ConfigIssue[],
): Planned {
  const { separator, weights: given, maxPerGroup = 0, ratePerGroup, by = "items", within, ...others } = options;
  refuseOthers(part, others, issues);
  const inner = within && planPart(within, issues);
  if (inner !== undefined && !isLine(inner.plan)) {
    issues.push({ path: `${part.path}/within`, message: `"${within!.type}" inside "fair" is for queues in memory` });
  }
  const weights = Object.entries(given ?? {}).map(([group, weight]) => ({ group, weight }))
    .toSorted((one, other) => one.group < other.group ? -1 : 1);
  const { rate = Infinity, burst = 0 } = ratePerGroup ?? {};
  const plan: FairPlan = [
    "fair",
    separator.toWellFormed(),
    inner !== undefined && isLine(inner.plan) ? inner.plan : ["fifo"],
    maxPerGroup,
    rate === Infinity ? 0 : 1_000_000 / rate,
    burst,
    BY_TIME[by],
    weights.length === 0 ? 0 : createHash("sha1").update(JSON.stringify(weights)).digest("hex"),
  ];
  return {
    plan,
    parts: [partOf(part, plan), ...inner?.parts ?? [partOf(part, ["fifo"])]],
    weights,
    separator,
    groupOf: (key) => key.split(separator, 1)[0]!,
  };
}

function planPriority(
  part: DisciplineDescription,
  { min, max, maxHeadStart, ...others }: DescribedOptions<BuiltInDisciplineOptions["priority"]>,
  issues: ConfigIssue[],
): Planned {
  refuseOthers(part, others, issues);
  const point = Math.min(maxHeadStart, MAX_HEAD_START) * 1000 / (max - min);
  const plan: LinePlan = maxHeadStart === Infinity ? ["strict", min, max] : ["aging", min, max, point];
  return { plan, parts: [partOf(part, plan)], weights: [] };
}

function partOf({ type, path }: DisciplineDescription, [kind]: OrderPlan): PlannedPart {
  return { kind, type, path };
}

function isLine(plan: OrderPlan): plan is LinePlan {
  return Object.hasOwn(LINE_TRAITS, plan[0]);
}
