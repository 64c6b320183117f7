/** Tests that the history of each key is linearizable. They need Go. */

import { assert, assertEquals } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { setTimeout as delay } from "node:timers/promises";
import { open } from "../faults/faults.ts";
import { seeded } from "../faults/seeded.ts";
import { readFolder } from "../history/folder.ts";
import { HAS_GO, notLinear, type Operation, operationsOf } from "../history/linear.ts";
import { RedisProxy } from "../proxy.ts";
import { redisTest, uniqueName } from "../redis_tests.ts";

const KEYS = ["a", "b", "c"];
const CLIENTS = 4;
/** Number of adds of a client. With cut connections, each takes longer. */
const addsOf = (isCut: boolean) => isCut ? 40 : 100;

/** Lets clients add and take a few keys, while their replies are delayed or, if `isCut` is true, lost. */
async function operate(url: string, isCut: boolean): Promise<Operation[]> {
  const random = seeded(1);
  const name = uniqueName("linear");
  await using stack = new AsyncDisposableStack();
  const clients = await Promise.all(Array.from({ length: CLIENTS }, async () => {
    const proxy = stack.use(await RedisProxy.start(url));
    const opened = stack.use(open(proxy.url, name, { callTimeout: "1m", onQueueError() {} }));
    const pool = runWorkers(opened.queue, () => delay(3 * random()), { concurrency: 2 });
    return { proxy, pool, ...opened };
  }));
  let isOver = false;
  const disturbing = clients.map(async ({ proxy }) => {
    while (!isOver) {
      await delay((isCut ? 500 : 20) * random());
      if (isCut) proxy.dropAll();
      proxy.holdReplies();
      await delay(10 * random());
      proxy.holdReplies(false);
    }
  });
  const adding = clients.map(async ({ queue }) => {
    for (let i = 0; i < addsOf(isCut); i++) {
      await queue.add(KEYS[Math.floor(KEYS.length * random())]!);
      await delay(4 * random());
    }
  });
  await Promise.all(adding);
  isOver = true;
  await Promise.all(disturbing);
  await clients[0]!.queue.whenIdle();
  for (const { pool } of clients) await pool.stop();
  const [lines] = readFolder(clients[0]!.history.folder);
  return operationsOf(lines!, isCut);
}

for (const isCut of [false, true]) {
  const how = isCut ? "connections are cut" : "replies are late";
  redisTest(`process: linearizable while ${how}`, async ({ url }) => {
    if (!HAS_GO) return console.log("Go is not installed: leaving out the test of linearizability.");
    const operations = await operate(url, isCut);
    assert(operations.length > CLIENTS * addsOf(isCut));
    assertEquals(await notLinear(operations), []);

    // A hand-out too many is noticed, and a finish that counts too late.
    const takes = operations.filter((operation) => operation.do === "take");
    const [first, second] = takes.filter(({ key }) => key === "a").toSorted((one, other) => one.token! - other.token!);
    const again = { ...first!, key: "a", token: second!.token! - 1, call: second!.call, return: second!.return! };
    assertEquals(await notLinear([...operations, again]), ["a: Illegal"]);
    const late = operations.map((operation) =>
      operation.do === "finish" && operation.token === first!.token
        ? { ...operation, call: second!.return! + 1, return: second!.return! + 2 }
        : operation
    );
    assertEquals(await notLinear(late), ["a: Illegal"]);
  });
}
