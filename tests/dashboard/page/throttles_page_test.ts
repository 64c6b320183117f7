/** Tests of throttles and blocked groups on the page. Runs only on Deno, because the page runs in a browser. */

import { assert, assertEquals } from "@std/assert";
import { loadConfig, type RateLimitingQueue, type WorkerPool, type WorkQueueConfig } from "@workqueue/core";
import { allowLocal, createDashboard, type QueueDetails, type ThrottleRow } from "@workqueue/dashboard";
import { type PageServer, testAccessibilityOf, testPageOf } from "./any_server.ts";
import { FakeServer } from "./fake_server.ts";
import { badNight, queueOf } from "./scenes.ts";
import { browserTest, visit } from "./visitor.ts";

const NODE = { engine: "memory", options: {}, inside: [], bucket: null } as const;
const BREAKER: ThrottleRow = {
  ...NODE,
  path: "/throttles/api",
  type: "breaker",
  name: "api",
  options: { openFor: "20 s", probes: "2" },
  limit: 0,
  inUse: 0,
  state: "open for 12 s: 14 of 20 attempts failed",
  queues: ["invoices", "uploads"],
};
const SLOTS: ThrottleRow = {
  ...NODE,
  path: "/throttles/slots",
  type: "concurrency",
  name: "slots",
  options: { limit: "8" },
  limit: 4,
  inUse: 4,
  state: "4 of 4 running",
  queues: ["uploads"],
};
const SPARE: ThrottleRow = {
  ...NODE,
  path: "/throttles/spare",
  type: null,
  name: "spare \u202e",
  limit: null,
  inUse: 0,
  state: "closed\u202e",
  queues: [],
};

const GROUPS: QueueDetails["blockedGroups"] = {
  count: 1204,
  groups: [
    { name: "globex", reason: "paused", blocked: 4820, resumesInMs: 90_000 },
    { name: "", reason: "probing", blocked: 12, resumesInMs: null },
    { name: "acme", reason: "rate", blocked: 3, resumesInMs: 400 },
    { name: "initech", reason: "limit", blocked: 2, resumesInMs: null },
    { name: "x".repeat(300), reason: "inner", blocked: 1, resumesInMs: null },
  ],
};

/** Starts a server with throttles and blocked groups. The queue `uploads` has all of them. */
function serve(said: Partial<QueueDetails> = {}): FakeServer {
  const uploads = queueOf("uploads", { blockedGroups: GROUPS, throttle: null, throttleLimit: 4, ...said });
  const server = new FakeServer([...badNight(), uploads]);
  server.throttles = [BREAKER, SLOTS, SPARE];
  return server;
}

function startServer(): Promise<PageServer> {
  const { counts } = queueOf("uploads");
  return Promise.resolve(Object.assign(serve({ counts: { ...counts, failing: 1 } }), { queue: "uploads" }));
}

testPageOf("page with throttles and blocked groups", startServer);
testAccessibilityOf("page with throttles and blocked groups", startServer);

browserTest("page: the list has each throttle with its state and its queues, and follows them", async () => {
  await using server = serve();
  await using visitor = await visit(server.url);
  const section = visitor.section("Throttles");
  const rows = async () => {
    const rows = await section.locator("tbody tr").all();
    return await Promise.all(
      rows.map(async (row) => (await row.innerText()).split(/[\n\t]+/).map((line) => line.trim())),
    );
  };
  await visitor.sees("open for 12 s", section);
  assertEquals(await rows(), [
    ["api", "open for 12 s: 14 of 20 attempts failed", "used by invoices, uploads", "breaker", "0", "0"],
    ["slots", "4 of 4 running", "used by uploads", "Change", "concurrency", "4", "4"],
    ["spare ⟨U+202E⟩", "closed⟨U+202E⟩", "used by no queue on this page", "–", "0", "none"],
  ]);
  server.throttles = [{ ...BREAKER, limit: 3, state: "closed, and ramping up for 30 s" }];
  await visitor.sees("closed, and ramping up for 30 s", section);
  assertEquals((await rows()).map(([name, state]) => [name, state]), [["api", "closed, and ramping up for 30 s"]]);
  await section.getByRole("link", { name: "Queue uploads" }).click();
  await visitor.section("Blocked groups").waitFor();
  server.throttles = [];
  await visitor.page.goBack();
  await visitor.row("uploads").waitFor();
  await section.waitFor({ state: "detached" });
});

browserTest("page: a queue shows its throttles, their parts, and the queues that share them", async () => {
  const both: ThrottleRow = {
    ...SLOTS,
    name: null,
    type: "all-of",
    path: "/queues/uploads/throttle",
    options: {},
    inside: [BREAKER, { ...SLOTS, name: null }],
    state: "open for 12 s: 14 of 20 attempts failed; 4 of 4 running",
  };
  await using server = serve();
  server.throttles = [both, BREAKER];
  await using visitor = await visit(`${server.url}#/queues/uploads`);
  const limits = visitor.section("Limits");
  await visitor.sees("open for 12 s: 14 of 20 attempts failed; 4 of 4 running", limits);
  await visitor.sees("api (breaker): openFor 20 s, probes 2", limits);
  await visitor.sees("concurrency: limit 8", limits);
  await visitor.sees("also used by invoices", limits);
  server.throttles = [{ ...SLOTS, engine: "redis" }];
  await visitor.sees("4 of 4 running in this process", limits);
  server.throttles = [];
  await visitor.sees("No known throttle", limits);
});

browserTest("page: the limit of a throttle can be set, and the hint says which queues it affects", async () => {
  await using server = serve();
  await using visitor = await visit(`${server.url}#/queues/uploads`);
  const field = visitor.page.getByLabel("Throttle limit");
  assertEquals(await field.inputValue(), "4");
  await field.fill("12");
  await visitor.page.keyboard.press("Enter");
  await visitor.sees("Did api/queues/uploads/throttle.", visitor.result());
  assertEquals(server.posted.map(({ body }) => body), [{ limit: 12 }]);
  await visitor.sees("Attempts at once, over all queues that use the throttle.", visitor.section("Controls"));
});

browserTest("page: blocked groups are listed with the reason, and paused ones can be resumed", async () => {
  await using server = serve();
  await using visitor = await visit(`${server.url}#/queues/uploads`);
  const section = visitor.section("Blocked groups");
  await visitor.sees("5 of 1,204 groups, most blocked items first", section);
  const rows = await section.locator("tbody tr").all();
  const cells = await Promise.all(rows.map((row) => row.locator("td").allInnerTexts()));
  assertEquals(cells, [
    ["4,820", "in 1.5 min", "paused", "Resume"],
    ["12", "after another", "one item is tried first", "Resume"],
    ["3", "in 400 ms", "at its rate", "Pause for 10 min"],
    ["2", "after another", "at its limit", "Pause for 10 min"],
    ["1", "after another", "order within the group", "Pause for 10 min"],
  ]);
  assertEquals(await section.locator(".key").nth(1).innerText(), "⟨empty⟩");
  await visitor.button("Resume group: globex").click();
  await visitor.sees("Did api/queues/uploads/resume-group.", visitor.result());
  assertEquals(server.posted.map(({ body }) => body), [{ group: "globex" }]);
});

browserTest("page: a group that floods the queue is paused from its own row", async () => {
  await using server = serve();
  await using visitor = await visit(`${server.url}#/queues/uploads`);
  const section = visitor.section("Ready items by group");
  await section.getByRole("button", { name: "Pause for 10 min: north" }).click();
  await visitor.sees("Did api/queues/uploads/pause-group.", visitor.result());
  assertEquals(server.posted.map(({ body }) => body), [{ group: "north", duration: 600_000 }]);
  server.mayControl = false;
  await visitor.section("Controls").waitFor({ state: "detached" });
  assertEquals(await visitor.button(/^Pause/).count(), 0);
});

browserTest(
  "page: a group can be paused for a time, and there is no control without groups or without access",
  async () => {
    await using server = serve();
    await using visitor = await visit(`${server.url}#/queues/uploads`);
    const { page } = visitor;
    await page.getByLabel("Group to pause").fill("globex");
    await page.getByLabel("Group pause duration").fill("1h30m");
    await visitor.button("Pause group for 1.5 h").click();
    await visitor.sees("Did api/queues/uploads/pause-group.", visitor.result());
    assertEquals(server.posted.map(({ body }) => body), [{ group: "globex", duration: 5_400_000 }]);
    const names = await page.locator("datalist option").evaluateAll((all) =>
      all.map((one) => one.getAttribute("value"))
    );
    assert(names.includes("acme") && names.includes("north"), String(names));
    server.mayControl = false;
    await visitor.section("Controls").waitFor({ state: "detached" });
    assertEquals(await visitor.button(/^Resume/).count(), 0);
    server.mayControl = true;
    server.queues = [queueOf("uploads")];
    await visitor.section("Controls").waitFor();
    await visitor.section("Blocked groups").waitFor({ state: "detached" });
    assertEquals(await page.getByLabel("Group to pause").count(), 0);
  },
);

browserTest("page: the list shows the number of blocked items only if there are some", async () => {
  const { counts } = queueOf("uploads");
  await using server = serve({ counts: { ...counts, blocked: 4823 } });
  await using visitor = await visit(server.url);
  const row = visitor.row("uploads");
  await visitor.sees("4,823", row);
  assertEquals(await visitor.figure("Blocked", row), "4,823");
  assertEquals(await visitor.row("webhooks").getByText("Blocked").count(), 0);
});

/** Queue with a breaker, groups and a running dashboard. All items fail. */
class Served implements AsyncDisposable {
  readonly document = (openFor: string) => ({
    limiters: { later: { type: "exponential", baseDelay: "1h", maxDelay: "1h" } },
    throttles: { api: { type: "breaker", minAttempts: 4, openFor }, slots: { type: "concurrency", limit: 2 } },
    queues: {
      orders: { limiter: "later", throttle: "api", discipline: { type: "fair", separator: "/" } },
      mails: { throttle: "slots" },
    },
  });
  readonly config: WorkQueueConfig = loadConfig(this.document("1h"));
  readonly queues: Record<string, { queue: RateLimitingQueue<string>; pool: WorkerPool<string> }> = {};
  readonly url: string;
  readonly #dashboard;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    for (const name of this.config.queueNames) {
      const queue = this.config.queue<string>(name);
      const pool = this.config.runWorkers(name, queue, () => Promise.reject(new Error("503")), { onError() {} });
      this.queues[name] = { queue, pool };
    }
    const readConfig = () => this.document("30m");
    const { queues, config } = this;
    this.#dashboard = createDashboard({ queues, config, readConfig, view: allowLocal, control: allowLocal });
    this.#server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, this.#dashboard.fetch);
    this.url = `http://127.0.0.1:${this.#server.addr.port}/ops/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#dashboard[Symbol.dispose]();
    for (const { queue, pool } of Object.values(this.queues)) {
      queue.shutDown();
      await pool.stop();
    }
    await this.#server.shutdown();
  }
}

browserTest(
  "page of the server: an open breaker is the reason, and a reload changes its displayed options",
  async () => {
    await using served = new Served();
    const { queue } = served.queues["orders"]!;
    for (let i = 0; i < 10; i++) queue.add(`acme/${i}`);
    await using visitor = await visit(served.url);
    await visitor.sees(
      /^api: breaker open for .*: 4 of 4 attempts failed, for example .* with Error: 503; 6 items are ready\./,
      visitor.row("orders"),
    );
    await visitor.sees(/^open for .*: 4 of 4 attempts failed$/, visitor.section("Throttles"));
    await visitor.row("orders").getByRole("link", { name: "orders" }).click();
    await visitor.sees(
      "api (breaker): failureRatio 0.5, window 30 s, minAttempts 4, openFor 1 h",
      visitor.section("Limits"),
    );
    await visitor.sees('A throttle of type "breaker" is changed in the config', visitor.section("Controls"));
    await visitor.button("Preview reload").click();
    await visitor.sees("/throttles/api/openFor", visitor.section("Config"));
    await visitor.button("Apply").click();
    await visitor.sees("openFor 30 min", visitor.section("Limits"));
  },
);

browserTest("page of the server: groups are paused and resumed, and a limit is set", async () => {
  await using served = new Served();
  const { queue, pool } = served.queues["orders"]!;
  pool.pause();
  for (const item of ["acme/1", "acme/2", "globex/1"]) queue.add(item);
  await using visitor = await visit(`${served.url}#/queues/orders`);
  const { page } = visitor;
  const section = visitor.section("Blocked groups");
  await visitor.sees("No group is paused or has blocked items.", section);
  await page.getByLabel("Group to pause").fill("acme");
  await visitor.button("Pause group for 10 min").click();
  await visitor.sees('The group "acme" is paused for 10 min', visitor.result());
  await visitor.sees("acme", section);
  assertEquals([queue.length, queue.snapshot().blocked], [1, 2]);
  await visitor.button("Resume group: acme").click();
  await visitor.sees('The group "acme" is resumed.', visitor.result());
  await visitor.sees("no longer listed", section); // the pointer is at the list
  assertEquals(queue.length, 3);

  await page.goto(`${served.url}#/queues/mails`);
  await page.getByLabel("Throttle limit").fill("5");
  await page.keyboard.press("Enter");
  await visitor.sees("At most 5 attempts may run at once now; before, 2.", visitor.result());
  assertEquals(served.config.throttle("slots").snapshot!().limit, 5);
});
