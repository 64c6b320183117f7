/** Tests of the size of files. `deno task bench:keys` measures more keys, and the time of calls. */

import { assert, assertEquals } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import { sqliteQueues } from "@workqueue/sqlite";
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Folder } from "./files.ts";

Deno.test("SQLite: a delayed key takes at most 400 bytes, and its place is used again", async () => {
  using folder = new Folder();
  const KEYS = 5000;
  /** Adds keys in any order of their deadlines, and cancels them. Returns the size of the file in between. */
  const addAndCancel = async (round: number) => {
    const keys = Array.from({ length: KEYS }, (_, i) => `image-${round}${100_000 + i * 7919 % KEYS}.jpg`);
    const first = folder.open();
    await Promise.all(keys.map((key, i) => first.addAfter(key, 3_600_000 + i * 104_729 % KEYS)));
    await first.shutDownWithDrain();
    const { size } = statSync(folder.path); // the last process that closes the file copies the log into it
    const second = folder.open();
    await Promise.all(keys.map((key) => second.cancelDelayed(key)));
    await second.shutDownWithDrain();
    return size;
  };
  const size = await addAndCancel(1);
  assert(size <= 400 * KEYS, `${size / KEYS} bytes`);
  const again = await addAndCancel(2);
  assert(again <= 1.2 * size, `${again / size} times the size`);
});

Deno.test("SQLite: the data of drained queues does not grow", async () => {
  using folder = new Folder();
  const config = loadConfig({
    queues: {
      images: {
        concurrency: 50,
        maxRetries: 2,
        discipline: { type: "fair", separator: "/", maxPerGroup: 5 },
        retryBudget: { ratio: 1, minRate: 1000 },
        throttle: { type: "concurrency", limit: 40 },
        limiter: {
          type: "max-of",
          limiters: [{ type: "exponential", baseDelay: "1ms", maxDelay: "2ms" }, {
            type: "bucket",
            rate: 100_000,
            burst: 1000,
          }],
        },
      },
    },
  });
  for (const round of [1, 2]) {
    const queue = sqliteQueues(config, { path: folder.path }).queue("images");
    const failed = new Set<string>();
    const pool = config.runWorkers("images", queue, (item) => {
      if (item.endsWith("7") || item.endsWith("8") && !failed.has(item)) {
        failed.add(item);
        throw new Error("no");
      }
    }, { onError() {}, onGiveUp() {} });
    await queue.addAll(Array.from({ length: 300 }, (_, i) => `group ${round}${i % 60}/${i}`));
    await queue.pauseGroup(`group ${round}1`, 1);
    await queue.whenIdle();
    await queue.redrive();
    await queue.whenIdle();
    assertEquals(await queue.discard(), 30);
    await pool.stop();
    await queue.shutDownWithDrain();
    const database = new DatabaseSync(folder.path);
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const rows = tables.map(({ name }) => [name, database.prepare(`SELECT * FROM ${name}`).all().length] as const);
    const left = Object.fromEntries(rows.filter(([name, count]) => count > 0 && name !== "machines"));
    assertEquals(left, { queues: 2, buckets: 1, paused_groups: 1 }); // one row of `queues` is that of the throttle
    for (const { state } of database.prepare("SELECT state FROM queues").all()) {
      assert((state as string).length < 5000, state as string);
    }
    database.close();
  }
});
