/** Tests of the options of `redisQueues`, which opens the queues of a document. No server is needed. */

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import { createRedisQueue, RedisConnectionError, redisQueues } from "@workqueue/redis";

const NOBODY = "redis://127.0.0.1:1";
const config = loadConfig({ queues: { images: {} } });

/**
 * Returns the name of the error that a call throws, and the error's message without the part that names the failed
 * action.
 */
function refusal(call: () => unknown): [name: string, reason: string] {
  const error = assertThrows(call) as Error;
  return [error.name, error.message.replace(/^Cannot [\w ]+: /, "")];
}

const WRONG: readonly object[] = [
  { url: "http://localhost" },
  { url: 6379 },
  { client: {} },
  { client: 1 },
  { url: NOBODY, client: {} },
  { leaseDuration: 99 },
  { leaseDuration: "long" },
  { callTimeout: "25h" },
  { maxStalls: 0.5 },
  { maxStalls: "5" },
  { metrics: {} },
  { onQueueError: 3 },
  { keyOf: "id" },
];

for (const wrong of WRONG) {
  const [option, value] = Object.entries(wrong)[0]!;
  Deno.test(`queues: ${option} ${JSON.stringify(value)} is refused at once, as by createRedisQueue`, () => {
    const expected = refusal(() => createRedisQueue({ name: "images", ...wrong }));
    const isOfServer = option === "url" || option === "client";
    if (option !== "keyOf") assertEquals(refusal(() => redisQueues(config, wrong)), expected);
    if (!isOfServer) assertEquals(refusal(() => redisQueues(config, {}).queue("images", wrong)), expected);
  });
}

for (const name of ["{images}", "a}"]) {
  Deno.test(`queues: the name ${JSON.stringify(name)} is refused, as by createRedisQueue`, () => {
    const queues = redisQueues(loadConfig({ queues: { [name]: {} } }), { url: NOBODY });
    const expected = refusal(() => createRedisQueue({ name, url: NOBODY }));
    assertEquals(refusal(() => queues.queue(name)), expected);
  });
}

Deno.test("queues: an undefined option counts as omitted", async () => {
  const errors: unknown[] = [];
  const onQueueError = (error: unknown) => void errors.push(error);
  const queues = redisQueues(config, { url: NOBODY, client: undefined, callTimeout: 100, onQueueError });
  await using queue = queues.queue("images", { callTimeout: undefined, onQueueError: undefined, keyOf: undefined });
  const error = await assertRejects(() => queue.add("a"), RedisConnectionError, "within 100 ms");
  assertEquals(errors, [error]);
});

Deno.test("queues: an option of one queue replaces the option for all queues", async () => {
  const queues = redisQueues(config, { url: NOBODY, callTimeout: "1m", onQueueError: () => {} });
  await using queue = queues.queue("images", { callTimeout: 200 });
  await assertRejects(() => queue.add("a"), RedisConnectionError, "within 200 ms");
});
