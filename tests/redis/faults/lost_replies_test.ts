/**
 * Tests of each kind of call over a connection that breaks after the server has run the call and before the reply
 * arrives.
 */

import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { RedisConnectionError, type RedisLease, type RedisQueue, type RedisQueueOptions } from "@workqueue/redis";
import { countsOf } from "../../contracts/counts.ts";
import { RedisProxy } from "../proxy.ts";
import { redisTest } from "../redis_tests.ts";
import { newQueue, open, type Opened, QUICK, type Stored, take, until } from "./faults.ts";

interface Room extends Opened {
  /** Second object for the same queue, with a connection that loses no replies. */
  readonly other: RedisQueue;
  readonly proxy: RedisProxy;
  readonly stored: Stored;
  /** Loses the reply to the queue's next call. */
  loseNext(): Promise<void>;
}

function lossTest(name: string, run: (room: Room) => Promise<void>, options: Partial<RedisQueueOptions> = {}): void {
  redisTest(`lost replies: ${name}`, async ({ url }) => {
    const { name, stored } = newQueue(url);
    await using proxy = await RedisProxy.start(url);
    await using opened = open(proxy.url, name, options);
    await using other = open(url, name, options);
    await opened.queue.counts(); // opens the connection whose replies are lost later
    await run({ ...opened, other: other.queue, proxy, stored, loseNext: () => proxy.loseReply(`{${name}}:meta`) });
    assertEquals(await stored.stalls(), 0);
  });
}

lossTest("an add whose reply was lost adds the item once", async ({ queue, other, errors, loseNext }) => {
  for (const add of [() => queue.add("a"), () => queue.addAll(["a", "b"]), () => queue.addAfter("c", "1h")]) {
    const lost = loseNext();
    await Promise.all([add(), lost]);
  }
  const { ready, delayed, processing } = await other.counts();
  assertEquals([ready, delayed, processing, errors], [2, 1, 0, []]);
});

lossTest(
  "addRateLimited counts once, and rejects because its effect is unknown",
  async ({ queue, other, errors, loseNext }) => {
    const lost = loseNext();
    const error = await assertRejects(() => queue.addRateLimited("a"), RedisConnectionError);
    await lost;
    assert(error.mayHaveRun);
    assertEquals(errors, [error]);
    assertEquals(await other.numRequeues("a"), 1);
  },
);

lossTest(
  "an item taken without the process learning of it goes back to its place",
  async ({ queue, other, errors, loseNext }) => {
    const lost = loseNext();
    await other.addAll(["a", "b", "c"]);
    const lease = await take(queue);
    await lost;
    assertEquals(lease.item, "a");
    const { ready, processing } = await other.counts();
    assertEquals([ready, processing], [2, 1]);
    const others = [await take(queue), await take(queue)];
    assertEquals(others.map(({ item }) => item), ["b", "c"]);
    for (const each of [lease, ...others]) assert(await each.finish());
    assertEquals(errors, []);
  },
);

const finishes: [
  name: string,
  finish: (lease: RedisLease) => Promise<boolean>,
  after: Partial<Record<string, number>>,
][] = [
  ["success", (lease) => lease.finish(), { ready: 0, delayed: 0, failing: 0 }],
  ["requeue", (lease) => lease.finish({ requeue: true }), { ready: 0, delayed: 1, failing: 1 }],
  ["requeueAfter", (lease) => lease.finish({ requeueAfter: "1h" }), { ready: 0, delayed: 1, failing: 0 }],
  ["giveUp", (lease) => lease.finish({ giveUp: "no use" }), { ready: 0, delayed: 0, givenUp: 1 }],
];

for (const [name, finish, after] of finishes) {
  const limiter = { type: "exponential", baseDelay: "1h", maxDelay: "1h" } as const;
  lossTest(
    `finish with ${name} counts once, and gives the first answer`,
    async ({ queue, other, errors, loseNext }) => {
      await other.add("a");
      const lease = await take(queue);
      const lost = loseNext();
      const answers = [finish(lease), lease.finish()];
      await lost;
      assertEquals(await Promise.all(answers), [true, true]);
      const counts: Record<string, number> = { ...await other.counts() };
      assertEquals({ ...counts, ...after, processing: 0 }, counts);
      assertEquals(errors, []);
      if (name === "requeue") assertEquals(await other.numRequeues("a"), 1);
    },
    { limiter },
  );
}

lossTest("finish and take in one call: the outcome counts, and the taken item arrives", async (room) => {
  const { queue, other, errors, loseNext } = room;
  await other.addAll(["a", "b"]);
  const first = await take(queue);
  const lost = loseNext();
  const [answer, second] = await Promise.all([first.finish({ requeue: true }), take(queue)]);
  await lost;
  assertEquals([answer, second.item], [true, "b"]);
  assertEquals(await other.numRequeues("a"), 1);
  assert(await second.finish());
  assertEquals((await other.counts()).processing, 0);
  assertEquals(errors, []);
}, { limiter: { type: "exponential", baseDelay: "1h", maxDelay: "1h" } });

lossTest("a lease whose renewal got no reply continues", async ({ queue, other, errors, proxy, loseNext }) => {
  await other.add("a");
  const lease = await take(queue);
  await loseNext();
  const { length } = proxy.requests;
  await until(() => proxy.requests.slice(length).filter((request) => request.includes("EVALSHA")).length > 1);
  assertFalse(lease.signal.aborted);
  assert(await lease.finish());
  assertEquals(errors, []);
}, { leaseDuration: "1s", limiter: QUICK });

lossTest(
  "cancelDelayed ends the delay of its item, and forget leaves its item delayed",
  async ({ queue, other, errors, loseNext }) => {
    await other.addAfter("a", "1h");
    await other.addRateLimited("b");
    for (const call of [() => queue.cancelDelayed("a"), () => queue.forget("b"), () => queue.counts()]) {
      const lost = loseNext();
      await Promise.all([call(), lost]);
    }
    const { ready, delayed, failing } = await other.counts();
    assertEquals([ready + delayed, failing, errors], [1, 0, []]);
    assertEquals(await other.numRequeues("b"), 0);
  },
);

lossTest("counts and snapshots are read again", async ({ queue, other, loseNext }) => {
  await other.add("a");
  const snapshot = async () => ({ ...await queue.snapshot(), oldestReadyMs: undefined }); // `oldestReadyMs` grows
  for (const read of [() => countsOf(queue), snapshot, () => queue.numRequeues("a")]) {
    const lost = loseNext();
    const [result] = await Promise.all([read(), lost]);
    assertEquals(result, await read());
  }
});
