/** Tests of `workqueue delays`. The command prints the delays that an item in a queue would have. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import { formatDuration } from "@workqueue/core/internal";
import { HandClock } from "../helpers.ts";
import { ROOT, someRuntimes, Workspace } from "./cli.ts";

const DOCUMENT = {
  limiters: {
    api: { type: "bucket", rate: 1, burst: 2 },
    slow: { type: "exponential", baseDelay: "1.5s", maxDelay: "1h" },
    both: { type: "max-of", limiters: ["api", { type: "exponential", baseDelay: "10ms", maxDelay: "1m" }] },
    hosts: {
      type: "per-group",
      separator: "/",
      limiter: { type: "fast-slow", fastDelay: 5, slowDelay: "2m", maxFastAttempts: 3 },
    },
  },
  queues: { images: { limiter: "slow" }, api: { limiter: { type: "bucket", rate: 0.5, burst: 1 } }, mails: {} },
};

/** Returns the delays of an item whose every attempt fails, in a queue with the given limiter. */
async function failIn(limiter: unknown, failures: number): Promise<number[]> {
  const clock = new HandClock();
  const queue = loadConfig({ ...DOCUMENT, queues: { q: { limiter } } } as object, { clock }).queue<string>("q");
  const delays: number[] = [];
  for (let i = 0; i < failures; i++) {
    queue.addRateLimited("some/item");
    const delay = queue.snapshot().delayedItems[0]?.dueInMs ?? 0;
    delays.push(delay);
    await clock.advance(delay);
    const lease = queue.tryGet();
    assert(lease?.shutdown === false, `it is due after ${delay} ms`);
    queue.done(lease.item);
  }
  queue.shutDown();
  return delays;
}

/** Returns the numbers in a table, by column title. */
function columnsOf(table: string): Record<string, string[][]> {
  const [titles, headings, ...rows] = table.trimEnd().split("\n");
  assertMatch(headings!, /^failure( +delay +total)+$/);
  const cells = rows.map((row) => row.trim().split(/ {2,}/));
  assertEquals(cells.map(([failure]) => failure), cells.map((_, i) => String(i + 1)));
  const columns = titles!.trim().split(/ {2,}/).map((
    title,
    i,
  ) => [title, cells.map((row) => row.slice(2 * i + 1, 2 * i + 3))]);
  return Object.fromEntries(columns);
}

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`delays, ${runtime}: for each limiter, the delays match those of an item that fails in a queue`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("q.json", JSON.stringify(DOCUMENT));
    const { code, stdout, stderr } = await workspace.run(["delays", "q.json"]);
    assertEquals([code, stderr], [0, ""]);
    const { limiters, queues } = DOCUMENT;
    const expected: Record<string, string[][]> = {};
    const named = Object.keys(limiters).map((name) => [name, name]);
    for (const [title, limiter] of [...named, ["api (queue)", queues.api.limiter], ["mails", undefined]]) {
      let total = 0;
      const delays = await failIn(limiter, 20);
      expected[String(title)] = delays.map((delay) => [formatDuration(delay), formatDuration(total += delay)]);
    }
    const columns = columnsOf(stdout);
    assertEquals(columns, expected);
    assertEquals(columns["api"]!.slice(0, 4).map(([delay]) => delay), ["0 ms", "0 ms", "1 s", "1 s"]);
    assertEquals(columns["mails"]!.at(-1)![0], "16.7 min");
  });

  Deno.test(`delays, ${runtime}: random delays are the same each time`, async () => {
    await using workspace = new Workspace(runtime);
    const limiter = {
      type: "jitter",
      spread: 1,
      limiter: { type: "exponential", baseDelay: "900ms", maxDelay: "900ms" },
    };
    workspace.write("q.json", JSON.stringify({ limiters: { a: limiter, b: limiter } }));
    const { stdout } = await workspace.run(["delays", "q.json", "--failures", "50"]);
    const { a, b } = columnsOf(stdout);
    assertEquals(a, b);
    assert(new Set(a!.map(([delay]) => delay)).size > 40, stdout);
    assertEquals((await workspace.run(["delays", "q.json", "--failures", "50"])).stdout, stdout);
  });
}

Deno.test("delays: limiters can be chosen by their names, or by the names of queues that use them", async () => {
  await using workspace = new Workspace();
  workspace.write("q.json", JSON.stringify(DOCUMENT));
  const titles = async (...args: string[]) =>
    Object.keys(columnsOf((await workspace.run(["delays", "q.json", ...args])).stdout));
  assertEquals(await titles("--limiter", "hosts", "--queue", "images", "--limiter", "api"), ["hosts", "api", "images"]);
  const { stdout } = await workspace.run(["delays", "q.json", "--queue", "images", "--failures", "1"]);
  assertEquals(columnsOf(stdout), { images: [["1.5 s", "1.5 s"]] });
});

Deno.test("delays: a chart has a bar for each delay, on one scale for all limiters", async () => {
  await using workspace = new Workspace();
  workspace.write(
    "q.yaml",
    "limiters:\n  slow: { type: exponential, baseDelay: 5ms, maxDelay: 1h }\n  none: { type: bucket, rate: 1, burst: 4 }\n",
  );
  assertEquals(await workspace.run(["delays", "q.yaml", "--format", "chart", "--failures", "4"]), {
    code: 0,
    stdout: `slow: exponential, baseDelay 5ms, maxDelay 1h
failure  delay  total
      1   5 ms   5 ms  █████████████████▋
      2  10 ms  15 ms  ████████████████████████████
      3  20 ms  35 ms  █████████████████████████████████████████
      4  40 ms  75 ms  ████████████████████████████████████████████████████████

none: bucket, rate 1, burst 4
failure  delay  total
      1   0 ms   0 ms
      2   0 ms   0 ms
      3   0 ms   0 ms
      4   0 ms   0 ms

Each attempt fails at once. The bars are logarithmic, up to 40 ms.
`,
    stderr: "",
  });
});

Deno.test("delays: a picture has a plot for each limiter, and a point for each delay", async () => {
  await using workspace = new Workspace();
  const slow = { type: "exponential", baseDelay: "10ms", maxDelay: "1h" };
  workspace.write(
    "q.json",
    JSON.stringify({ limiters: { "<a & b>": slow, c: slow, d: { ...slow, baseDelay: "1h" } } }),
  );
  const { code, stdout } = await workspace.run(["delays", "q.json", "--format", "svg", "--failures", "3"]);
  assertEquals(code, 0);
  assertMatch(stdout, /^<svg [^>]*>.*<\/svg>\n$/s);
  assertStringIncludes(stdout, ">&lt;a &amp; b&gt;</text>");
  const plots = stdout.match(/<g .*?<\/g>/g)!.map((plot) =>
    plot.match(/cy="[\d.]+"/g)!.map((y) => Number(y.slice(4, -1)))
  );
  const height = (delay: number) => (1 - Math.log1p(delay / 5) / Math.log1p(3_600_000 * 1.2 / 5)) * 220;
  const rounded = (delays: number[]) => delays.map((delay) => Math.round(height(delay) * 100) / 100);
  assertEquals(plots, [rounded([10, 20, 40]), rounded([10, 20, 40]), rounded([3_600_000, 3_600_000, 3_600_000])]);
});

Deno.test({
  name: "delays: on a terminal, a chart fills the width; a table is split",
  ignore: Deno.build.os !== "linux" ||
    new Deno.Command("sh", { args: ["-c", "command -v script"] }).outputSync().code !== 0,
  async fn() {
    await using workspace = new Workspace();
    workspace.write("q.json", JSON.stringify(DOCUMENT));
    const terminal = 'export SHELL=/bin/sh; command="stty cols 50;"; for arg; do command="$command $arg"; done; ' +
      'script -qec "$command" /dev/null < /dev/null';
    const run = async (...args: string[]) =>
      (await workspace.run(["delays", "q.json", "--failures", "3", ...args], "", terminal)).stdout.replaceAll("\r", "");
    const chart = await run();
    assertStringIncludes(chart, "slow: exponential, baseDelay 1.5s, maxDelay 1h\n");
    assertEquals(Math.max(...chart.split("\n").filter((line) => line.includes("█")).map(({ length }) => length)), 49);
    const tables = (await run("--format", "table")).trimEnd().split("\n\n");
    assertEquals(tables.flatMap((table) => Object.keys(columnsOf(table))).length, 6);
    for (const line of tables.join("\n").split("\n")) assert(line.length <= 50, line);
  },
});

Deno.test("delays: a limiter that can't be shown is reported in a sentence", async () => {
  await using workspace = new Workspace();
  workspace.write("q.json", JSON.stringify(DOCUMENT));
  workspace.write("empty.json", "{}");
  workspace.write("wrong.yaml", "queues:\n  a: { limiter: b }\n");
  workspace.write("odd.json", '{ "limiters": { "odd": { "type": "odd" }, "bad": { "type": "bad" } } }');
  workspace.write(
    "odd.mjs",
    `const define = (type, when) =>
      ({ type, description: "", options: {}, create: () => ({ when, forget() {}, numRequeues: () => 0 }) });
    let count = 0;
    export default ({ limiters }) => {
      limiters.register(define("odd", () => ++count < 3 ? 1 : NaN));
      limiters.register(define("bad", () => { throw new Error("not today"); }));
    };`,
  );
  const odd = ["odd.json", "--plugin", "odd.mjs"];
  const refusals: [args: string[], message: string][] = [
    [["q.json", "--limiter", "hots"], `Cannot get limiter: the config has none named "hots"; did you mean "hosts"?`],
    [["q.json", "--queue", "mail"], `Cannot get queue: the config has none named "mail"; did you mean "mails"?`],
    [["none.json"], "Cannot read config 'none.json': there is no such file"],
    [["empty.json"], "Cannot show delays: config 'empty.json' has no limiters and no queues"],
    [
      ["wrong.yaml"],
      `Cannot load config 'wrong.yaml': "b" is not the name of a limiter here (at /queues/a/limiter, line 2, column 8)`,
    ],
    [
      [...odd, "--limiter", "odd"],
      "Cannot show the delays of 'odd': after failure 3, the limiter returned NaN, which is not a delay",
    ],
    [[...odd, "--limiter", "bad"], "Cannot show the delays of 'bad': not today"],
  ];
  for (const [args, message] of refusals) {
    assertEquals(await workspace.run(["delays", ...args]), { code: 2, stdout: "", stderr: `workqueue: ${message}\n` });
  }
  const { code, stderr } = await workspace.run(["delays", "q.json", "--failures", "0"]);
  assertEquals([code, stderr], [
    2,
    "error: option '--failures <n>' argument '0' is invalid. It must be an integer from 1 to 1000.\n",
  ]);
});

Deno.test("delays: the limiters of examples/workqueue.json can be shown", async () => {
  await using workspace = new Workspace();
  const { code, stdout } = await workspace.run(["delays", `${ROOT}examples/workqueue.json`]);
  assertEquals(code, 0);
  assertEquals(stdout.split("\n").length, 23);
});
