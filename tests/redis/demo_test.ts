/** Tests of the demo as a user starts it: with its task on Deno, as a script on Bun. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ended, interrupt, isLeft, startDemo } from "../demos.ts";
import { serverTest } from "./redis_tests.ts";
import { RedisServer } from "./server.ts";

serverTest("demo: a worker is killed, and every photo is still processed", async () => {
  const demo = startDemo("redis");
  const { code, stdout, stderr } = await ended(demo);
  assertEquals(code, 0, stdout + stderr);
  assertEquals(isLeft(demo), false);
  assertMatch(stdout, /worker \d is killed, in the middle of photo-\d\d/);
  assertMatch(stdout, /works on photo-\d\d, which comes back from worker \d/);
  assertMatch(stdout, /photo-\d\d failed: the disk was busy; it will be retried/);
  assertMatch(stdout, /works on photo-\d\d, attempt 2/);
  assertMatch(stdout, /^photos done: +18 /m);
  assertStringIncludes(stdout, "0 ready, 0 delayed, 0 processing, 0 failing, 0 given up");

  const orders = [...stdout.matchAll(/orders +(\w+\/\d) is (done|given up)/g)].map(([, order, end]) =>
    `${order} ${end}`
  );
  const loud = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `loud/${number}`);
  assertEquals(orders.slice(0, 5).map((line) => line.split("/")[0]).sort(), ["calm", "loud", "loud", "quiet", "quiet"]);
  assertEquals(orders.filter((line) => line.endsWith("given up")), loud.map((order) => `${order} given up`));
  assertEquals(orders.slice(11), loud.map((order) => `${order} done`));
  assertMatch(stdout, /^orders done: +11, and 0 are still given up$/m);
});

serverTest("demo: Ctrl-C leaves no process behind", async () => {
  assertEquals(await interrupt(startDemo("redis"), "works on"), 130);
});

serverTest("demo: Ctrl-C leaves no data on a given server", async () => {
  await using server = await RedisServer.start();
  assertEquals(await interrupt(startDemo("redis", { WORKQUEUE_REDIS_URL: server.url }), "works on"), 130);
  assertEquals(await server.call("KEYS", "*"), []);
});

Deno.test("demo: without a server, one line says how to get one", async () => {
  const { code, stdout, stderr } = await ended(startDemo("redis", { WORKQUEUE_REDIS_SERVER: "no-such-server" }));
  assertEquals([code, stdout], [1, ""]);
  assertMatch(
    stderr,
    /^There is no .*apt-get install redis-server.*WORKQUEUE_REDIS_URL to the address of a running server$/m,
  );
});
