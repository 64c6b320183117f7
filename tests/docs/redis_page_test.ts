/**
 * Tests of the Redis examples in pages and comments. Each example runs here with its own server. `deno test --doc` has
 * no server, and it skips blocks marked `ignore`. `check.ts` checks their types.
 */

import { assert, assertEquals } from "@std/assert";
import { loadConfig, runWorkers } from "@workqueue/core";
import { createRedisQueue, redisQueues } from "@workqueue/redis";
import type { Tokens } from "marked";
import { ROOT, run } from "../installs/project.ts";
import { serverTest } from "../redis/redis_tests.ts";
import { RedisServer } from "../redis/server.ts";
import { testArguments } from "../std/arguments.ts";
import { tokensOf } from "./markdown.ts";
import { MODULES, ON_REDIS, read, redisExamples } from "./redis_examples.ts";

const NO_SERVER = "redis://localhost:6379";

/** Writes modules to a folder and runs a command on them. */
async function withModules(codes: string[], run: (files: string[]) => Promise<unknown>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "workqueue_" });
  try {
    const files = codes.map((_, i) => `${folder}/example${i}.ts`);
    for (const [i, file] of files.entries()) await Deno.writeTextFile(file, codes[i]!);
    await run(files);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function deno(command: string, ...args: string[]): Promise<void> {
  await run(Deno.execPath(), [command, ...testArguments, ...args], ROOT);
}

/** Returns a module that imports modules one after the other, and prints the name of each that has run to its end. */
function oneByOne(files: string[]): string {
  return files.map((file) => `await import(${JSON.stringify(file)});\nconsole.log(${JSON.stringify(file)});\n`).join(
    "",
  );
}

for (const [file, codes] of redisExamples.filter(([, codes]) => codes.length > 0)) {
  serverTest(`${file}: the examples that need a server run to their end, and then the process ends`, async () => {
    await using servers = new AsyncDisposableStack();
    const own = await Promise.all(codes.map(async (code) => {
      const server = servers.use(await RedisServer.start());
      return code.replaceAll(NO_SERVER, server.url);
    }));
    await withModules(own, async (files) => {
      const main = files[0]!.replace("example0.ts", "main.ts");
      await Deno.writeTextFile(main, oneByOne(files));
      await deno("run", "--no-prompt", "--allow-net", main);
    });
  });
}

/** Pages and modules that have examples. */
const WITH_EXAMPLES = [
  "docs/from-bullmq.md",
  "docs/redis.md",
  ...["cluster", "connecting", "control", "limits", "options", "production"].map((name) => `docs/redis/${name}.md`),
  "packages/redis/README.md",
  "packages/redis/create_queue.ts",
  "packages/redis/queues.ts",
];

Deno.test("docs/redis.md and other pages have examples that need a server", () => {
  const found = redisExamples.filter(([, codes]) => codes.length > 0).map(([file]) => file);
  for (const file of WITH_EXAMPLES) assert(found.includes(file), file);
});

/** Text of all pages on Redis. */
const text = ON_REDIS.map(read).join("\n\n");
const scripts = [...Deno.readDirSync(new URL(`${MODULES}lua`, ROOT))].map(({ name }) => read(`${MODULES}lua/${name}`))
  .join("\n");

/**
 * Finds the table whose first column has the given heading. Returns the rows of this table, each as an array of cells.
 */
function table(heading: string): string[][] {
  const found = tokensOf(text).find((token): token is Tokens.Table =>
    token.type === "table" && (token as Tokens.Table).header[0]!.text === heading
  );
  return found!.rows.map((row) => row.map(({ text }) => text));
}

Deno.test("docs/redis/options.md: every option of a queue is explained, with its default, and no other", () => {
  const own = /interface RedisQueueOptions<.*?\{\n(.*?)\n\}/s.exec(read("packages/redis/contract.ts"))![1]!;
  const common = /interface RemoteQueueOptions<.*?\{\n(.*?)\n\}/s.exec(read("packages/engine/contract.ts"))![1]!;
  const declared = [...`${own}\n${common}`.matchAll(/\/\*\*(.*?)\*\/\s+(\w+)(\??):/gs)];
  const explained = table("option").map((cells) => cells.map((cell) => cell.replaceAll("`", "")));
  assertEquals(explained.map(([option]) => option), declared.map(([, , option]) => option));
  for (const [i, [, comment, option, mark]] of declared.entries()) {
    const byDefault = /@default \{(.*)\}/.exec(comment!)?.[1] ?? (mark === "?" ? "none" : "required");
    assert(explained[i]!.at(-1)!.startsWith(byDefault), `${option}: ${byDefault}`);
  }
});

Deno.test("docs/redis/options.md: with a document, every option is given where the page says", () => {
  const config = loadConfig({ queues: { q: {} } });
  const takes = (call: (options: object) => unknown) => (option: string) => {
    try {
      call({ [option]: 0 });
    } catch (error) {
      return !(error as Error).message.includes("is not an option here");
    }
    return true;
  };
  const all = table("option").map(([option]) => option!.replaceAll("`", ""));
  const rows = table("given to").map(([, options]) => [...options!.matchAll(/`(\w+)`/g)].map(([, option]) => option!));
  const [ofDocument, ofLoadConfig, ofQueues, ofQueue] = rows.map((options) => options.sort());
  assertEquals(new Set(rows.flat()), new Set(all));
  const expected = ["addWhileDelayed", "discipline", "forgetAfter", "keepGivenUp", "limiter", "name", "retryBudget"];
  assertEquals(ofDocument, expected);
  assertEquals(ofLoadConfig, all.filter(takes((options) => loadConfig({}, options))).sort());
  assertEquals(ofQueues, all.filter(takes((options) => redisQueues(config, options))).sort());
  assertEquals(ofQueue, all.filter(takes((options) => redisQueues(config, {}).queue("q", options))).sort());
});

Deno.test("docs/redis/keys.md: every key on the server is explained, and no other", () => {
  const keysIn = (lua: string) => [...lua.matchAll(/prefix \.\. '([\w:]+)'/g)].map(([, name]) => name!);
  const ofThrottle = keysIn(read(`${MODULES}lua/throttle_prelude.lua`));
  const ofQueue = keysIn(scripts).filter((name) => !ofThrottle.includes(name));
  const explained = (heading: string) =>
    table(heading).map(([key]) => key!.replaceAll("`", "").replace(/:[A-Z]+$/, ":")).sort();
  assertEquals(explained("key"), [...new Set([...ofQueue, "meta"])].sort());
  assertEquals(explained("key of a throttle"), [...ofThrottle, "state", "buckets"].sort());
});

serverTest("docs/redis/connecting.md: its rights suffice for a queue, and match those of its scripts", async () => {
  await using server = await RedisServer.start();
  const rights = /^ACL SETUSER .*$/m.exec(text)![0].split(" ");
  await server.call(...rights);
  const url = server.url.replace("//", "//worker:password@");
  await use(url);
  await server.call("FLUSHALL");
  const ofPartitions = /`(workqueue:\{images#\*\}:\*)`/.exec(text)![1];
  await server.call("ACL", "SETUSER", "worker", `~${ofPartitions}`, `&${ofPartitions}`);
  await usePartitions(url);
  assertEquals(await server.call("ACL", "LOG"), []);

  const granted = rights.filter((word) => word.startsWith("+")).map((word) => word.slice(1));
  const words = new Set(scripts.match(/(?<=')[A-Z]+(?=')/g)!.map((word) => word.toLowerCase()));
  const infos = await server.call("COMMAND", "INFO", ...words) as unknown[]; // null for words that are not commands
  const used = [...words].filter((_, i) => infos[i] !== null);
  assertEquals(granted.sort(), [...used, "eval", "evalsha", "ping", "subscribe", "unsubscribe"].sort());
});

const keyOf = ({ key }: { key: string }) => key;

/** Calls every operation of a queue. */
async function use(url: string): Promise<void> {
  const errors: unknown[] = [];
  const open = (maxStalls: number) =>
    createRedisQueue<{ key: string }>({
      name: "images",
      url,
      leaseDuration: "100ms",
      maxStalls,
      keyOf,
      limiter: {
        type: "max-of",
        limiters: [{ type: "bucket", rate: 1000, burst: 10 }, QUICK],
      },
      forgetAfter: "1m",
      onQueueError: (error) => errors.push(error),
    });
  const queue = open(5);
  const item = (key: string) => ({ key });
  await queue.addAll(["a", "b", "c"].map(item));
  await queue.addAfter(item("d"), 20);
  await queue.addAfter(item("e"), "1h");
  await queue.cancelDelayed(item("e"));
  await queue.addRateLimited(item("f"));
  await queue.numRequeues(item("f"));
  await queue.forget(item("f"));
  await queue.snapshot();
  await queue.pause();
  await queue.resume();
  await queue.addAfter(item("g"), "1h");
  await queue.promoteDelayed(item("g"));
  await queue.snapshot();
  const pool = runWorkers(queue, async ({ key }, { attempt }) => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    if (key === "b" && attempt === 1) throw new Error("a hiccup");
    if (key === "c") throw new Error("bad");
  }, { concurrency: 2, maxRetries: 1, onError() {} });
  await queue.whenIdle();
  await pool.stop();
  const { items: [given] } = await queue.givenUp();
  await queue.redrive({ keys: [given!.key], rate: 1000 });
  while ((await queue.redriveProgress())!.running);
  await queue.stopRedrive();
  await queue.discard({ search: "a" });
  await queue.discard({ keys: ["b"] });
  await queue.shutDownWithDrain();
  const throttle = { type: "concurrency", limit: 1 } as const;
  const config = loadConfig({
    throttles: { api: { type: "all-of", throttles: [throttle, { rate: 1000, burst: 10 }] } },
    queues: { images: { throttle: "api", concurrency: 5 } },
  });
  const throttled = redisQueues(config, { url, onQueueError: (error) => errors.push(error) }).queue("images", {
    keyOf,
  });
  const throttledPool = config.runWorkers("images", throttled, () => {});
  await throttled.addAll(["a", "b", "c"].map(item));
  await throttled.whenIdle();
  await throttled.shutDownWithDrain();
  await throttledPool.finished;
  assertEquals(errors, []);
}

/** Uses a queue with partitions, and changes their number. */
async function usePartitions(url: string): Promise<void> {
  const queue = createRedisQueue({ name: "images", url, partitions: 2 });
  const pool = runWorkers(queue, () => {});
  await queue.addAll(["a", "b", "c"]);
  await queue.whenIdle();
  await pool.stop();
  await queue.addAfter("d", "1h");
  await queue.pause();
  await queue.repartition(3);
  await queue.shutDownWithDrain();
}

const QUICK = { type: "exponential", baseDelay: 1, maxDelay: 1 } as const;
