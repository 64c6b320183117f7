/** Two copies of the package in one program: objects made by one copy work with the other copy. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { createDelayingQueue, createRateLimitingQueue, createWorkQueue, runWorkers } from "@workqueue/core";
import { onBucketChange, together } from "../../lib/tokens/bucket_changes.ts";
import { HandClock } from "../helpers.ts";
import { isSettled, take } from "../queue_helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";

const other = await loadSecondCopy();

interface Version {
  readonly id: number;
  readonly version: number;
}

const keyOf = ({ id }: Version) => id;

Deno.test("two copies: it is a copy", () => {
  assertFalse(Object.is(other.createWorkQueue, createWorkQueue));
});

Deno.test("rule 8, two copies: the retry of an old item does not replace a newer one that was added meanwhile", async () => {
  const clock = new HandClock();
  const queue = createDelayingQueue<Version>({ queue: other.createWorkQueue<Version>({ keyOf, clock }) });
  queue.add({ id: 1, version: 1 });
  const lease = take(queue);
  queue.add({ id: 1, version: 2 });
  queue.addAfter(lease.item, 10); // like a pool after a failed attempt
  lease[Symbol.dispose]();
  take(queue)[Symbol.dispose]();
  await clock.advance(10);
  assertEquals(take(queue).item.version, 2);
});

Deno.test("rule 6, two copies: a drain retries what fails", async () => {
  const limiter = other.createExponentialLimiter<string>({ baseDelay: 1, maxDelay: 1 });
  const queue = createRateLimitingQueue(limiter, {
    queue: other.createDelayingQueue<string>({ queue: createWorkQueue<string>() }),
  });
  queue.add("a");
  const attempts: number[] = [];
  other.runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    if (attempt < 3) throw new Error("not yet");
  }, { onError() {} });
  await queue.shutDownWithDrain({ delayed: "wait" });
  assertEquals(attempts, [1, 2, 3]);
});

Deno.test("two copies: layers of the one take keys and clock over from layers of the other", async () => {
  const clock = new HandClock();
  const below = other.createDelayingQueue<Version>({ keyOf, clock });
  const queue = createRateLimitingQueue<Version>(other.createDefaultItemLimiter(), { queue: below });
  queue.addAfter({ id: 1, version: 1 }, 10);
  queue.addAfter({ id: 1, version: 2 }, 20);
  assertEquals(queue.delayed, 1);
  assert(Object.is(queue.clock, clock));
  await clock.advance(10);
  assertEquals(take(queue).item.version, 2);
});

Deno.test("rule 11, two copies: a TerminalError of the other gives up at once", async () => {
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

Deno.test("two copies: a token bucket of the other reports its changes", () => {
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
