/**
 * Tests of the page with the server that the package exports. Runs only on Deno, because the page runs in a browser.
 */

import { assertEquals } from "@std/assert";
import { loadConfig, type RateLimitingQueue, type WorkerPool, type WorkQueueConfig } from "@workqueue/core";
import { allowLocal, createDashboard } from "@workqueue/dashboard";
import { EVERY } from "../../every.ts";
import { type PageServer, testAccessibilityOf, testPageOf } from "./any_server.ts";
import { browserTest, visit, type Visitor } from "./visitor.ts";

const CONFIG = {
  limiters: { slow: { type: "exponential", baseDelay: "10m", maxDelay: "1h" } },
  queues: { images: { limiter: "slow", concurrency: 2, throttle: { rate: 100, burst: 10 } } },
};

/** Queue with its pool and a running dashboard. Items that begin with `bad` fail. */
class Served implements AsyncDisposable {
  readonly config: WorkQueueConfig = loadConfig(CONFIG);
  readonly queue: RateLimitingQueue<string> = this.config.queue<string>("images");
  /** Items passed to handlers, in order. */
  readonly taken: string[] = [];
  readonly pool: WorkerPool<string> = this.config.runWorkers("images", this.queue, (item) => {
    this.taken.push(item);
    if (item.startsWith("bad")) throw new TypeError(`no address in ${item}`);
  }, { onError() {} });
  /** Content of the config file. */
  file: object = CONFIG;
  mayLook = true;
  readonly url: string;
  readonly #dashboard = createDashboard({
    queues: { images: { queue: this.queue, pool: this.pool } },
    config: this.config,
    readConfig: () => this.file,
    view: (request) => this.mayLook && allowLocal(request),
    control: allowLocal,
  });
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, this.#dashboard.fetch);
    this.url = `http://127.0.0.1:${this.#server.addr.port}/ops/`;
  }

  /** Adds items and waits until their attempts have ended. */
  async work(...items: string[]): Promise<void> {
    for (const item of items) this.queue.add(item);
    while (this.queue.length + this.queue.processing > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  async visit(): Promise<Visitor> {
    const visitor = await visit(`${this.url}#/queues/images`);
    await visitor.section("Failing items").waitFor();
    return visitor;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#dashboard[Symbol.dispose]();
    this.queue.shutDown();
    await this.pool.stop();
    await this.#server.shutdown();
  }
}

async function startServer(): Promise<PageServer> {
  const served = new Served();
  await served.work("bad/1", "bad/2", "good/1");
  served.pool.pause();
  served.queue.add("next/1");
  return { url: served.url, queue: "images", [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
}

testPageOf("page of the server", startServer);
if (EVERY) testAccessibilityOf("page of the server", startServer);

browserTest("page of the server: failing items are found, retried, and taken back", async () => {
  await using served = new Served();
  await served.work("bad/1", "bad/2", "good/1");
  await using visitor = await served.visit();
  const fails = visitor.section("Failing items");
  const row = fails.locator("tbody tr").filter({ hasText: "bad/1" });
  await visitor.sees("TypeError: no address in bad/1", row);
  assertEquals(await row.locator("td[data-name]").allInnerTexts(), ["1", "in 10 min", "slow"]);

  await fails.getByRole("button", { name: "Retry now: bad/1" }).click();
  await visitor.sees("1 item is ready now.", visitor.result());
  await row.locator("td").getByText("2", { exact: true }).waitFor();
  assertEquals(served.taken, ["bad/1", "bad/2", "good/1", "bad/1"]);

  await visitor.page.getByLabel("Search by key").fill("bad/2");
  await visitor.sees("Matches among the delayed items: 1");
  await visitor.button("Take back items found…").click();
  await visitor.button("Take back 1 item").click();
  await visitor.sees("1 item is taken back", visitor.result());
  assertEquals(served.queue.snapshot().delayedItems.map(({ item }) => item), ["bad/1"]);
});

browserTest("page of the server: failing items are retried by error, and waiting items are left alone", async () => {
  await using served = new Served();
  await served.work("bad/1", "bad/2");
  for (let i = 0; i < 50; i++) served.queue.addAfter(`later/${i}`, "1h");
  await using visitor = await served.visit();
  const errors = visitor.section("Errors");
  await visitor.sees("TypeError: no address in *", errors);
  await visitor.button("Retry all delayed items…").click();
  await visitor.sees("2 failing items and 50 items delayed without a failure.");
  await visitor.button("Cancel").click();
  await errors.getByRole("button", { name: /^Retry… / }).click();
  await visitor.sees("2 failing items.");
  await visitor.button("Retry 2 items").click();
  await visitor.sees("2 items are ready now.", visitor.result());
  await errors.locator("td").getByText("4", { exact: true }).waitFor();
  assertEquals([served.taken, served.queue.delayed], [["bad/1", "bad/2", "bad/1", "bad/2"], 52]);
});

browserTest("page of the server: the controls for pausing, the workers, the throttle and its pause work", async () => {
  await using served = new Served();
  await using visitor = await served.visit();
  const { page } = visitor;
  await visitor.button("Pause").click();
  await visitor.sees("is paused", visitor.result());
  await visitor.button("Resume").waitFor();
  assertEquals(served.pool.snapshot().paused, true);
  await visitor.button("Resume").click();
  await visitor.sees("is resumed", visitor.result());
  assertEquals(served.pool.snapshot().paused, false);

  await page.getByLabel("Concurrency").fill("7");
  await page.keyboard.press("Enter");
  await visitor.sees("The concurrency is now 7; it was 2.", visitor.result());
  assertEquals(served.pool.concurrency, 7);

  await page.getByLabel("Attempts per second").fill("0.5");
  await page.keyboard.press("Enter");
  await visitor.sees("Attempts may now start 0.5 times a second, 10 at once", visitor.result());
  await page.getByLabel("Pause duration", { exact: true }).fill("1h30m");
  await visitor.button("Pause for 1.5 h").click();
  await visitor.sees(/nothing is handed out for another 1\.5 h|Resumes in 1\.5 h/);
  await visitor.sees('pause {"duration":5400000}', visitor.section("Audit list"));
  await visitor.button("Resume").click();
  await visitor.sees("is resumed", visitor.result());
  assertEquals(served.pool.snapshot().paused, false);

  await visitor.button("Pause throttle for 30 s").click();
  await visitor.sees("No attempt starts for 30 s.", visitor.result());
  await visitor.sees("Paused: no tokens for", visitor.section("Limits"));
  await visitor.button("Resume throttle").click();
  await visitor.sees("Attempts may start again.", visitor.result());
  await visitor.button("Resume throttle").waitFor({ state: "detached" });
});

browserTest(
  "page of the server: a config is reloaded from its file, and refused with its problems",
  async () => {
    await using served = new Served();
    await using visitor = await visit(served.url, { failures: /status of 422/ });
    served.file = { ...CONFIG, queues: { images: { ...CONFIG.queues.images, concurrency: 5 } } };
    await visitor.button("Preview reload").click();
    await visitor.sees("/queues/images/concurrency", visitor.section("Config"));
    assertEquals(served.pool.concurrency, 2);
    await visitor.button("Apply").click();
    await visitor.sees("The config was reloaded: 1 change.", visitor.result());
    assertEquals(served.pool.concurrency, 5);

    served.file = { queues: { images: { limiter: "slwo" } } };
    await visitor.button("Preview reload").click();
    await visitor.sees("slwo", visitor.result());
  },
);

browserTest("page of the server: a queue that is not shown is reported as such", async () => {
  await using served = new Served();
  await using visitor = await visit(`${served.url}#/queues/nowhere`, { failures: /status of 404/ });
  await visitor.sees("No queue has this name.");
});

browserTest("page of the server: a viewer who loses access sees that, without a reload", async () => {
  await using served = new Served();
  await using visitor = await visit(served.url, { failures: /status of 403/ });
  await visitor.sees("images");
  served.mayLook = false;
  await visitor.sees("'view' of this dashboard denies access");
});
