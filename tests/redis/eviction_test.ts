/**
 * Tests of servers that evict keys when their memory is full. The queue reports such a server once and names the
 * setting to change.
 */

import { assertEquals } from "@std/assert";
import { createRedisQueue, type RedisQueueOptions } from "@workqueue/redis";
import { Redis } from "ioredis";
import { serverTest, uniqueName } from "./redis_tests.ts";
import { RedisServer } from "./server.ts";

/** Opens two queues with the same options and makes several calls to each. Returns the reported errors. */
async function reportedOn(options: Partial<RedisQueueOptions>): Promise<string[]> {
  const reported: string[] = [];
  const onQueueError = (error: unknown) => void reported.push(String(error));
  await using one = createRedisQueue({ name: uniqueName("one"), onQueueError, ...options });
  await using other = createRedisQueue({ name: uniqueName("other"), onQueueError, ...options });
  for (const queue of [one, other]) {
    const taken = queue.get();
    await queue.add("a");
    const lease = await taken;
    if (!lease.shutdown) await lease.finish();
    await queue.counts();
  }
  return reported;
}

const warning = ({ port }: RedisServer, policy: string) =>
  `Error: The maxmemory-policy of Redis at 127.0.0.1:${port} is ${policy}. Set it to noeviction, so that no key is deleted ` +
  "when memory is full: CONFIG SET maxmemory-policy noeviction";

serverTest("eviction: any policy but noeviction is reported once for all queues of a connection", async () => {
  await using server = await RedisServer.start({ args: ["--maxmemory-policy", "allkeys-lru"] });
  assertEquals(await reportedOn({ url: server.url }), [warning(server, "allkeys-lru")]);
  await server.call("CONFIG", "SET", "maxmemory-policy", "volatile-ttl");
  const client = new Redis(server.url, { autoResendUnfulfilledCommands: false });
  assertEquals(await reportedOn({ client }), [warning(server, "volatile-ttl")]);
  client.disconnect();
  await server.call("CONFIG", "SET", "maxmemory-policy", "noeviction");
  assertEquals(await reportedOn({ url: server.url }), []);
});

serverTest("eviction: a process that only waits for work reports the policy, too", async () => {
  await using server = await RedisServer.start({ args: ["--maxmemory-policy", "allkeys-random"] });
  const reported = Promise.withResolvers<unknown>();
  await using queue = createRedisQueue({ name: "q", url: server.url, onQueueError: reported.resolve });
  queue.get();
  assertEquals(String(await reported.promise), warning(server, "allkeys-random"));
});

serverTest("eviction: CONFIG is not needed, and if INFO is forbidden as well, nothing is reported", async () => {
  await using server = await RedisServer.start({ args: ["--maxmemory-policy", "allkeys-lru"] });
  const user = async (...rights: string[]) => {
    await server.call("ACL", "SETUSER", "worker", "reset", "on", ">password", "~*", "&*", "+@all", ...rights);
    return await reportedOn({ url: server.url.replace("//", "//worker:password@") });
  };
  assertEquals(await user("-config"), [warning(server, "allkeys-lru")]);
  assertEquals(await user("-config", "-info"), []);
});
