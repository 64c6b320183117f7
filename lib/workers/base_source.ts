import { argumentError } from "../base/errors.ts";
import type { WorkSource } from "../contracts/work_source.ts";

/** Members of a {@linkcode WorkSource} that most sources don't need. */
export type BaseSource = Omit<WorkSource<never>, "name" | "tryTake" | "take" | "attemptOf" | "finish">;

/**
 * Members of a {@linkcode WorkSource} that most sources don't need, for a source of your own: the pool has the system
 * clock and no metrics, each failure is counted, every item is taken back, leases can't be lost, and the number of
 * ready items is unknown. Copy the members into an object, as here. For a class `MySource`, declare
 * `interface MySource extends BaseSource {}`, and call `Object.setPrototypeOf(MySource.prototype, baseSource)`.
 *
 * @example A source of one item
 * ```ts
 * import { type Ending, runWorkers } from "@workqueue/core";
 * import { baseSource, SOURCE, type WorkLease, type WorkSource } from "@workqueue/core/hooks";
 * import { assertEquals } from "@std/assert";
 *
 * const lease = (item: string): WorkLease<string> => ({
 *   item,
 *   key: item,
 *   priority: 0,
 *   shutdown: false,
 *   addedAgain: () => false,
 *   [Symbol.dispose]() {},
 * });
 * const items = ["a"];
 * const endings: Ending[] = [];
 * const source: WorkSource<string> = {
 *   ...baseSource,
 *   name: "one item",
 *   attemptOf: () => 1,
 *   tryTake() {
 *     const item = items.shift();
 *     return item === undefined ? undefined : lease(item);
 *   },
 *   take: () => Promise.resolve({ shutdown: true, item: undefined, [Symbol.dispose]() {} }),
 *   finish: (_attempt, ending) => void endings.push(ending),
 * };
 * await runWorkers({ [SOURCE]: () => source }, () => {}).finished;
 * assertEquals(endings, [{ kind: "succeeded" }]);
 * ```
 */
export const baseSource: BaseSource = {
  clock: undefined,
  metrics: undefined,
  giveBackUnused() {},
  mayRetry: () => false,
  pause: () => false,
  timedOut() {},
  takesBack: () => true,
  takesPermits: () => false,
  sharedThrottle: () => undefined,
  isRemote: false,
  length: "unknown",
  isOver: false,
  isPaused: false,
  mayComeBack: false,
  watch: () => doNothing,
  watchHeld: () => doNothing,
  watchGivenUp: () => doNothing,
  isFailing: () => true,
  failing: "unknown",
  watchForgotten: () => doNothing,
  dueInMs: () => undefined,
};

function doNothing(): void {}

/** Throws an error that names the first member that a source lacks. */
export function requireSource<T>(action: string, source: WorkSource<T>): void {
  const own: readonly Exclude<keyof WorkSource<T>, keyof BaseSource>[] = [
    "name",
    "tryTake",
    "take",
    "attemptOf",
    "finish",
  ];
  const missing = [...own, ...Object.keys(baseSource)].find((member) => !(member in Object(source)));
  if (missing !== undefined) throw argumentError(action, `the source lacks '${missing}' of WorkSource`);
}
