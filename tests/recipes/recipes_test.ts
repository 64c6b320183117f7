/**
 * Tests that run every recipe to its end, on Deno and on Bun. The libraries that recipes use come from npm: Deno
 * installs the versions in `tests/package.json`, and Bun installs the newest versions.
 */

import { assert, assertEquals, assertLess } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { crawl, INTERVAL } from "../../examples/recipes/crawler.ts";
import { runScript, type Runtime, RUNTIMES } from "../run_script.ts";

function run(runtime: Runtime, recipe: string): Promise<string[]> {
  return runScript(runtime, new URL(`../../examples/recipes/${recipe}`, import.meta.url));
}

for (const runtime of RUNTIMES) {
  Deno.test(`recipes, ${runtime}: webhooks.ts folds bursts and misses no repository`, async () => {
    const lines = await run(runtime, "webhooks.ts");
    assertLess(lines.length, 10); // 40 events cause only two lines, or a few more if the machine stalls
    assertEquals(new Set(lines), new Set(["mirrored acme/web", "mirrored acme/api"]));
  });

  Deno.test(`recipes, ${runtime}: crawler.ts fetches each page once, retries, and no host delays another`, async () => {
    const lines = await run(runtime, "crawler.ts");
    const blog = ["blog/", ...Array.from({ length: 7 }, (_, i) => `blog/${i + 1}`)];
    assertEquals(
      lines.toSorted(),
      [
        ...[...blog, "shop/", "shop/terms"].map((page) => `fetched ${page} at attempt 1`),
        "fetched shop/cart at attempt 2",
        "gave up blog/gone: status 404",
      ].sort(),
    );
    const last = (site: string) => lines.findLastIndex((line) => line.includes(site));
    assertLess(last("shop/"), last("blog/")); // even though most pages of the blog were found earlier
  });

  Deno.test(`recipes, ${runtime}: resync.ts processes each feed again and again, also after a failure`, async () => {
    const lines = await run(runtime, "resync.ts");
    for (const feed of ["news", "weather"]) {
      const syncs = lines.filter((line) => line.startsWith(`${feed}: sync`));
      assert(syncs.length >= 3);
      syncs.forEach((line, i) => {
        const attempt = feed === "weather" && i === 1 ? 2 : 1;
        assertEquals(line, `${feed}: sync ${i + 1}, attempt ${attempt}`);
      });
    }
    assert(lines.includes("weather: Error: no answer"));
  });

  Deno.test(`recipes, ${runtime}: results_over_http.ts answers with the result, or with 202 first`, async () => {
    const lines = await run(runtime, "results_over_http.ts");
    const done = '200 {"state":"done","pages":5}';
    assertEquals(lines.map((line) => line.replace(/^((?:small|unknown).*), after a 202$/, "$1")), [
      `small: ${done}`,
      `small: ${done}`,
      `large: ${done}, after a 202`,
      'unknown: 422 {"state":"failed","error":"TerminalError: there is no such report"}',
    ]);
  });

  Deno.test(`recipes, ${runtime}: read_own_writes.ts shows each request its write, with few rebuilds`, async () => {
    const lines = await run(runtime, "read_own_writes.ts");
    assertEquals(lines.slice(-2), ["acme 50, globex 50", "100 requests saw their payments after fewer rebuilds"]);
  });

  Deno.test(`recipes, ${runtime}: search_box.ts shows the answer of the newest query last`, async () => {
    const lines = await run(runtime, "search_box.ts");
    assertEquals(lines.at(-2), "workqueue: 111 hits");
    const lengths = lines.slice(0, -1).map((line) => line.indexOf(":"));
    assertEquals(lengths, lengths.toSorted((a, b) => a - b));
    const [requests, aborted] = lines.at(-1)!.match(/\d+/g)!.map(Number) as [number, number];
    assertEquals(requests - aborted, lengths.length);
  });

  Deno.test(`recipes, ${runtime}: bulk_api.ts waits when it is asked to, and gives up only the refused item`, async () => {
    assertEquals(await run(runtime, "bulk_api.ts"), [
      "13 given up at attempt 1: TerminalError: the API refuses it",
      "199 stored with 5 requests, of which 1 got status 429",
    ]);
  });

  Deno.test(`recipes, ${runtime}: ticks.ts runs the job once per tick in one of three processes`, async () => {
    assertEquals(await run(runtime, "ticks.ts"), ["5 runs, each in a tick of its own: true"]);
  });

  Deno.test(`recipes, ${runtime}: file_events.ts handles a file less often than it is written, and handles its last state`, async () => {
    const lines = await run(runtime, "file_events.ts");
    const log = lines.filter((line) => line.startsWith("log.txt"));
    assertEquals(log.at(-1), "log.txt has 1000 characters");
    assertLess(log.length, 50);
    assertEquals(lines.filter((line) => line.startsWith("draft.txt")).at(-1), "draft.txt is gone");
  });

  Deno.test(`recipes, ${runtime}: deploy.ts retries items that fail once, and saves the remaining items for the next start`, async () => {
    const lines = await run(runtime, "deploy.ts");
    assertEquals(lines.slice(0, 3).sort(), ["delivered order 1", "delivered order 2", "delivered order 4"]);
    assertEquals(lines.slice(3), [
      "saved for the next start: order 3",
      "the next process starts",
      "delivered order 3",
    ]);
  });

  Deno.test(`recipes, ${runtime}: priorities.ts processes urgent items first, also items that became urgent after they were added`, async () => {
    assertEquals(await run(runtime, "priorities.ts"), [
      "index, priority 100", // of equal priorities, "index" became ready before "login"
      "login, priority 100",
      "feed 1, priority 0",
      "feed 2, priority 0",
      "archive, priority -100",
    ]);
  });

  Deno.test(`recipes, ${runtime}: backpressure.ts keeps the queue short and ends when all work is done`, async () => {
    const lines = await run(runtime, "backpressure.ts");
    assertEquals(lines, ["record 200: Error: a hiccup", "200 records, at most 10 in the queue"]);
  });
}

Deno.test("recipes: crawler.ts never starts two requests to a host within the interval, also after a stall", async () => {
  using time = new FakeTime();
  const begun: number[] = [];
  const fetchPage = (url: URL | RequestInfo): Promise<Response> => {
    begun.push(time.now);
    const links = Array.from({ length: 20 }, (_, i) => `<a href="/${i}">${i}</a>`);
    const response = new Response(links.join(""), { status: begun.length === 5 ? 503 : 200 });
    return Promise.resolve(Object.defineProperty(response, "url", { value: url }));
  };
  let isOver = false;
  const crawling = crawl(["http://blog.example/"], () => {}, fetchPage).then(() => isOver = true);

  while (begun.length === 0) await time.tickAsync();
  await time.runMicrotasks(); // all pages have been found
  time.tick(20 * INTERVAL); // all timers fire before any handler runs, as after a stall
  while (!isOver) await time.tickAsync(INTERVAL / 10);
  await crawling;

  assertEquals(begun.length, 22); // the page "/", the 20 pages that it links to, and one retry
  const apart = begun.slice(1).map((at, i) => at - begun[i]!);
  assert(apart.every((ms) => ms >= INTERVAL), `${apart}`);
});
