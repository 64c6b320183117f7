/** Two copies of the package in one program: objects made by one copy work with the other copy. */

import { assertEquals, assertFalse } from "@std/assert";
import { createRateLimitingQueue, createWorkQueue, runWorkers } from "@workqueue/core";
import { inspectionOf } from "@workqueue/core/hooks";
import { onBucketChange, together } from "../../lib/tokens/bucket_changes.ts";
import { isSettled } from "../queue_helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";

const other = await loadSecondCopy();

Deno.test("two copies: the second one is a copy", () => {
  assertFalse(Object.is(other.createWorkQueue, createWorkQueue));
});

Deno.test("rule 6, two copies: a drain retries items that fail", async () => {
  const limiter = other.createExponentialLimiter<string>({ baseDelay: 1, maxDelay: 1 });
  const queue = createRateLimitingQueue(limiter);
  queue.add("a");
  const attempts: number[] = [];
  other.runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    if (attempt < 3) throw new Error("not yet");
  }, { onError() {} });
  await queue.shutDownWithDrain({ delayed: "wait" });
  assertEquals(attempts, [1, 2, 3]);
});

Deno.test("rule 11, two copies: a TerminalError of the other copy gives up at once", async () => {
  const queue = createRateLimitingQueue<string>(other.createDefaultItemLimiter());
  queue.add("a");
  const givenUp: string[] = [];
  const pool = runWorkers(queue, () => {
    throw new other.TerminalError("never");
  }, { onError() {}, onGiveUp: (_error, item) => void givenUp.push(item) });
  assertFalse(await isSettled(pool.finished));
  assertEquals(givenUp, ["a"]);
  queue.shutDown();
  await pool.finished;
});

Deno.test("two copies: a token bucket of the other copy reports its changes", () => {
  const bucket = new other.TokenBucket(1, 1);
  let changes = 0;
  onBucketChange(bucket, () => changes++);
  bucket.setRate(2);
  assertEquals(changes, 1);
  together(() => {
    bucket.setRate(3);
    bucket.setBurst(3);
    assertEquals(changes, 1);
  });
  assertEquals(changes, 2);
});

Deno.test("two copies: a queue of the other copy can be inspected, and an object that is not a queue can't", () => {
  const queue = other.createRateLimitingQueue(other.createDefaultItemLimiter<string>());
  queue.add("a");
  queue.addAfter("b", 1000);
  const inspection = inspectionOf<string>(queue)!;
  const delayed = Array.from(inspection.allDelayed(), ({ item }) => item);
  assertEquals([inspection.stateOf("a"), inspection.stateOf("b"), delayed], ["ready", undefined, ["b"]]);
  assertEquals(inspectionOf({}), undefined);
  queue.shutDown();
});
