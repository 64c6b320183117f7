/** Contract suite for the scopes of `RetryAfterError` on queues that processes share: rule 13. */

import { assertEquals } from "@std/assert";
import { RetryAfterError, type RetryScope, runWorkers } from "@workqueue/core";
import type { RemoteQueueSnapshot } from "@workqueue/engine";
import { setImmediate } from "node:timers/promises";
import type { RemoteTest } from "./remote_place.ts";

/** Returns the state of the queue by which the effect of a scope is recognized. */
function stateOf({ paused, blocked, delayed, failing, blockedGroups = [] }: RemoteQueueSnapshot<string>) {
  return { paused, blocked, delayed, failing, groups: blockedGroups.map(({ group, reason }) => `${group} ${reason}`) };
}

const NOTHING = { paused: false, blocked: 0, delayed: 0, failing: 0, groups: [] as string[] };

/**
 * State after the only item, "tenant/a", failed with each scope, for a queue with groups and one without. An attempt
 * that pauses more than its item is not a failure. If no group can be paused, another error says so.
 */
const STATES: readonly [scope: RetryScope, hasGroups: boolean, state: typeof NOTHING, errors: number][] = [
  ["group", true, { ...NOTHING, blocked: 1, groups: ["tenant paused"] }, 0],
  ["group", false, { ...NOTHING, delayed: 1, failing: 1 }, 2],
  ["queue", true, { ...NOTHING, paused: true }, 0],
  ["queue", false, { ...NOTHING, paused: true }, 0],
  ["item", true, { ...NOTHING, delayed: 1, failing: 1 }, 1],
];

/** Registers the suite for one engine. */
export function retryScopeSuite(test: RemoteTest): void {
  for (const [scope, hasGroups, state, count] of STATES) {
    test(`rule 13: scope ${scope}, ${hasGroups ? "with" : "without"} groups`, async (place) => {
      const discipline = hasGroups ? { type: "fair", separator: "/" } as const : undefined;
      await using queue = place.open({ name: `scope-${scope}-${hasGroups}`, discipline });
      await queue.add("tenant/a");
      const errors: unknown[] = [];
      const pool = runWorkers(queue, () => {
        throw new RetryAfterError("1m", "too busy", { scope });
      }, { onError: (error) => errors.push(error) });
      for (;;) {
        const snapshot = await queue.snapshot();
        if (snapshot.totals.handedOut === 1 && snapshot.processing === 0) {
          assertEquals(stateOf(snapshot), state);
          break;
        }
        await setImmediate();
      }
      assertEquals(errors.length, count, errors.join("\n"));
      await pool.stop();
    });
  }
}
