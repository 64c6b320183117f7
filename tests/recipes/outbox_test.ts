/** Tests of the outbox, as processes with a server, and of what its parts guarantee. */

import { assertEquals, assertRejects } from "@std/assert";
import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { becomeOwner, flush, open } from "../../examples/outbox/outbox.ts";
import { serverTest } from "../redis/redis_tests.ts";
import { RedisServer } from "../redis/server.ts";
import { RUNTIMES } from "../run_script.ts";
import { runtimes } from "../runtimes.ts";

const MAIN = fileURLToPath(new URL("../../examples/outbox/main.ts", import.meta.url));

for (const runtime of RUNTIMES) {
  serverTest(`recipes, ${runtime}: the outbox delivers every order, although its owner is killed`, async () => {
    await using server = await RedisServer.start();
    const [file, ...options] = await runtimes[runtime]!();
    const env = { ...process.env, WORKQUEUE_REDIS_URL: server.url };
    const { stdout } = await promisify(execFile)(file!, [...options, MAIN], { env, timeout: 300_000 });
    assertEquals(stdout.trimEnd().split("\n"), [
      "the first owner was killed",
      "another process flushes",
      "600 orders delivered, at most one batch twice",
    ]);
  });
}

/** Opens a database with an outbox of so many rows. */
function outboxOf(count: number) {
  const folder = Deno.makeTempDirSync({ prefix: "outbox_" });
  const path = `${folder}/shop.db`;
  const database = open(path);
  for (let i = 1; i <= count; i++) database.prepare("INSERT INTO outbox (item) VALUES (?)").run(`order ${i}`);
  return {
    path,
    database,
    items: () => database.prepare("SELECT item FROM outbox ORDER BY id").all().map(({ item }) => item),
    [Symbol.dispose]() {
      database.close();
      Deno.removeSync(folder, { recursive: true });
    },
  };
}

Deno.test("outbox: rows are deleted only after they were added, oldest first", async () => {
  using outbox = outboxOf(5);
  const added: string[][] = [];
  const queue = { addAll: (items: string[]) => Promise.resolve(void added.push(items)) };
  assertEquals(await flush(outbox.database, queue, 2), 2);
  assertEquals([added, outbox.items()], [[["order 1", "order 2"]], ["order 3", "order 4", "order 5"]]);
  const down = { addAll: () => Promise.reject(new Error("The server can't be reached")) };
  await assertRejects(() => flush(outbox.database, down, 2), Error, "can't be reached");
  assertEquals(outbox.items(), ["order 3", "order 4", "order 5"]);
});

Deno.test("outbox: rows written while others are added stay", async () => {
  using outbox = outboxOf(2);
  const queue = {
    addAll: () => Promise.resolve(void outbox.database.exec("INSERT INTO outbox (item) VALUES ('late')")),
  };
  assertEquals(await flush(outbox.database, queue, 2), 2);
  assertEquals(outbox.items(), ["late"]);
});

Deno.test("outbox: there is one owner at a time", async () => {
  using outbox = outboxOf(0);
  const first = await becomeOwner(outbox.path);
  let isOwner = false;
  const second = becomeOwner(outbox.path).then((lock) => {
    isOwner = true;
    return lock;
  });
  await Promise.resolve();
  assertEquals(isOwner, false);
  first.close();
  (await second).close();
});
