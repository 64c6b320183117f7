/**
 * Tests of the text printed for queues and leases on Redis. The text shows what the process knows about their state.
 * Printing makes no call to the server.
 */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { createClient } from "@redis/client";
import { createRedisQueue, type RedisQueueOptions } from "@workqueue/redis";
import { Redis } from "ioredis";
import { inspect } from "node:util";
import type { HeldLease } from "../../packages/engine/lease.ts";
import { redisTest, serverTest, uniqueName } from "./redis_tests.ts";
import { RedisServer } from "./server.ts";

type Inspect = (value: unknown) => string;
const { Deno: deno, Bun: bun } = globalThis as { Deno?: { inspect?: Inspect }; Bun?: { inspect?: Inspect } };

/** Returns the text that the runtime prints. All ways of printing a value must give the same text. */
function printed(value: unknown): string {
  const texts = new Set([
    inspect(value),
    ...[deno?.inspect, bun?.inspect].map((print) => print?.(value) ?? inspect(value)),
  ]);
  assertEquals(texts.size, 1, [...texts].join("\n"));
  return [...texts][0]!;
}

redisTest(
  "inspection: a queue shows its server, its processing items and whether it is connected",
  async ({ url }) => {
    const name = uniqueName("inspection");
    const { host } = new URL(url);
    const text = (rest: string) => `RedisQueue "${name}" on ${host}/0: ${rest}`;
    const queue = createRedisQueue({ name, url });
    assertEquals(printed(queue), text("0 processing here, not connected"));
    await queue.addAll(["a", "b"]);
    assertEquals(printed(queue), text("0 processing here, connected"));
    const lease = await queue.get();
    assertEquals(printed(queue), text("1 processing here, connected"));
    assert(inspect({ queue }).includes(text("1 processing here, connected")));
    queue.shutDown();
    assertEquals(printed(queue), text("1 processing here, shut down"));
    assert(!lease.shutdown);
    await lease.finish();
    await queue.shutDownWithDrain();
    assertEquals(printed(queue), text("0 processing here, shut down"));
  },
);

redisTest("inspection: a lease shows its holder and its outcome", async ({ url }) => {
  await using queue = createRedisQueue({ name: uniqueName("inspection"), url });
  await queue.add("a");
  const lease = await queue.get();
  assert(!lease.shutdown);
  assertEquals(printed(lease), `RedisLease "a": attempt 1, processing`);
  await lease.finish();
  assertEquals(printed(lease), `RedisLease "a": attempt 1, finished`);
  (lease as HeldLease<string>).lose(new Error("cut off"));
  assertEquals(printed(lease), `RedisLease "a": attempt 1, lost`);
});

serverTest("inspection: no text shows the password of a URL or of a client", async () => {
  await using server = await RedisServer.start({ args: ["--requirepass", "sesame"] });
  const url = new URL("/3", server.url);
  url.password = "sesame";
  const client = createClient({ url: url.href });
  await client.connect();
  const io = new Redis(url.href, { autoResendUnfulfilledCommands: false });
  const ways: Partial<RedisQueueOptions>[] = [{ url: url.href }, { client }, { client: io }];
  for (const way of ways) {
    await using queue = createRedisQueue({ name: "q", ...way });
    await queue.add("a");
    assertEquals(printed(queue), `RedisQueue "q" on 127.0.0.1:${server.port}/3: 0 processing here, connected`);
    for (const options of [{ showHidden: true }, { depth: 9 }]) assertFalse(inspect(queue, options).includes("sesame"));
  }
  client.destroy();
  io.disconnect();
});

Deno.test("inspection: showing a queue doesn't wait for an unreachable server", async () => {
  await using queue = createRedisQueue({ name: "q", url: "redis://[::1]:1/7" });
  assertEquals(printed(queue), `RedisQueue "q" on [::1]:1/7: 0 processing here, not connected`);
});
