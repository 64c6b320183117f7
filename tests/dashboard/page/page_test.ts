/** Tests of the page with prepared data. Runs only on Deno, because the page runs in a browser. */

import { assert, assertEquals } from "@std/assert";
import type { QueueDetails } from "@workqueue/dashboard";
import { type PageServer, testAccessibilityOf, testPageOf } from "./any_server.ts";
import { FakeServer } from "./fake_server.ts";
import { badNight, goodDay, outage, paused, poison, queueOf } from "./scenes.ts";
import { browserTest, visit, type Visitor } from "./visitor.ts";

function startServer(): Promise<PageServer> {
  const server = new FakeServer(badNight());
  return Promise.resolve(Object.assign(server, { queue: "invoices" }));
}

testPageOf("page", startServer);
testAccessibilityOf("page", startServer);

const keysIn = (visitor: Visitor, section: string) => visitor.section(section).locator(".key").allInnerTexts();

browserTest("page: the worst problem is described in one sentence, and in the title", async () => {
  await using server = new FakeServer(badNight());
  await using visitor = await visit(server.url);
  await visitor.sees("invoices is stuck: Every attempt of the last 4 min failed");
  assertEquals(await visitor.page.title(), "(!) invoices stuck · Work queues");
  server.queues = goodDay();
  await visitor.sees("None of the 4 queues is stuck, failing or paused.");
  assertEquals(await visitor.page.title(), "Work queues");
});

browserTest(
  "page: a row formats numbers and times like the rest of the product, and follows the server",
  async () => {
    await using server = new FakeServer([outage()]);
    await using visitor = await visit(server.url);
    const row = visitor.row("invoices");
    await row.waitFor();
    const figures = await row.locator(".figures > div").allInnerTexts();
    assertEquals(figures.map((figure) => figure.split("\n").filter(Boolean).join(" ")), [
      "Ready 14",
      "Delayed 4,820",
      "Processing 10",
      "Failing 4,830",
      "In 18.2/s",
      "Out 18/s",
      "Oldest ready 4.2 s",
      "Workers busy 10 of 10",
    ]);
    server.queues = [{ ...outage(), oldestReadyMs: 180_000, workers: null }];
    await visitor.sees("3 min", row);
    assertEquals(await visitor.figure("Workers busy", row), "–");
  },
);

browserTest("page: a queue shows how many items were given up for each reason", async () => {
  await using server = new FakeServer([{ ...outage(), givenUpFor: { maxRetries: 1234, terminal: 0, stalled: 2 } }]);
  await using visitor = await visit(`${server.url}#/queues/invoices`);
  await visitor.section("Failing items").waitFor();
  assertEquals(await visitor.figure("Given up: maxRetries"), "1,234");
  assertEquals(await visitor.figure("Given up: stalled"), "2");
  assertEquals(await visitor.page.getByText("Given up: terminal").count(), 0);
});

browserTest("page: a verdict links to the guide, in the list and on the page of a queue", async () => {
  const guide = "https://docs.example/operate/the-backend-is-down.md";
  await using server = new FakeServer([{ ...outage(), guide }, queueOf("images")]);
  await using visitor = await visit(server.url);
  const link = visitor.page.getByRole("link", { name: "What to do" });
  assertEquals(await link.first().getAttribute("href"), guide);
  assertEquals(await link.count(), 1); // none for the healthy queue
  await visitor.page.goto(`${server.url}#/queues/images`);
  await visitor.sees("What to do");
  assertEquals(await link.getAttribute("href"), queueOf("images").guide);
});

browserTest("page: a verdict names the section of the guide if the docs have no address", async () => {
  const guide = "docs/operate/the-backend-is-down.md";
  await using server = new FakeServer([{ ...outage(), guide }]);
  await using visitor = await visit(server.url);
  await visitor.sees(`What to do: ${guide}`);
  assertEquals(await visitor.page.getByRole("link", { name: "What to do" }).count(), 0);
});

browserTest("page: a queue is opened and left by its link and the Back button", async () => {
  await using server = new FakeServer(badNight());
  await using visitor = await visit(server.url);
  await visitor.row("webhooks").getByRole("link", { name: "webhooks" }).click();
  await visitor.section("Failing items").waitFor();
  assertEquals(new URL(visitor.page.url()).hash, "#/queues/webhooks");
  assertEquals(await visitor.page.locator("h1").innerText(), "webhooks");
  assertEquals(await visitor.page.locator("h1:focus").count(), 1);
  await visitor.page.goBack();
  await visitor.row("invoices").waitFor();
  await visitor.page.goto(`${server.url}#/queues/nowhere`);
  await visitor.sees("No queue has this name.");
});

browserTest("page: failing items are shown with error, attempt, due time, and the deciding limiter", async () => {
  await using server = new FakeServer([poison()]);
  await using visitor = await visit(`${server.url}#/queues/webhooks`);
  const row = visitor.section("Failing items").locator("tbody tr");
  await row.waitFor();
  assertEquals(await row.locator(".key").innerText(), "customers/7731");
  assertEquals(await row.locator(".error").innerText(), poison().failingItems[0]!.error);
  assertEquals(await row.locator("td[data-name]").allInnerTexts(), ["34", "in 15.7 min", "exponential"]);
  assertEquals(await visitor.section("Running items").locator("tbody tr").first().locator("td").allInnerTexts(), [
    "1",
    "220 ms",
    "Cancel…",
  ]);
  await visitor.sees("10 a second, 100 at once, 61 tokens left.");
  await visitor.sees("base 5 ms, max 16.7 min");
});

browserTest(
  "page: a table shows the latencies of waiting and work, for which period, and for whose items",
  async () => {
    const none = { count: 0, p50: null, p90: null, p99: null };
    const queue = queueOf("images", {
      latency: { overMs: 870_000, waiting: { count: 1250, p50: 0.4, p90: 96.3, p99: 12_300 }, work: none },
    });
    await using server = new FakeServer([queue]);
    await using visitor = await visit(`${server.url}#/queues/images`);
    const section = visitor.section("Latency");
    await visitor.sees("last 15 minutes", section);
    assertEquals(await section.locator("thead th").allInnerTexts(), ["p50", "p90", "p99", "Items"]);
    const rows = async () => (await section.locator("tbody tr").allInnerTexts()).map((row) => row.split("\t"));
    assertEquals(await rows(), [["Waiting", "< 1 ms", "96 ms", "12.3 s", "1,250"], ["Work", "–", "–", "–", "0"]]);
    server.queues = [{ ...queue, engine: "redis", latency: { overMs: 59_000, waiting: none, work: none } }];
    await visitor.sees("last 1 minute, items taken by this process", section);
    server.queues = [{ ...queue, latency: null }];
    await section.waitFor({ state: "detached" });
  },
);

browserTest("page: the chart has a table as an alternative", async () => {
  await using server = new FakeServer([outage()]);
  await using visitor = await visit(`${server.url}#/queues/invoices`);
  await visitor.page.getByText("Show as a table").click();
  const rows = visitor.page.getByRole("region", { name: "The last fifteen minutes as a table" }).locator("tbody tr");
  await rows.first().waitFor();
  assertEquals(await rows.count(), 15);
  const { history } = outage();
  const text = await rows.first().locator("td").allInnerTexts();
  assertEquals(text.slice(1, 3), [history.delayed, history.failing].map((list) => list.at(-1)!.toLocaleString("en")));
});

const HOSTILE = [
  `<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>`,
  "\u202Egpj.exe\u2066\u0000\u001b[31m\u2028",
  "x".repeat(10_000),
  `"'>&lt;`,
];

browserTest("page: hostile names, keys, errors and reasons are shown as text", async () => {
  const hostile = (text: string): QueueDetails => ({
    ...poison(),
    reason: text,
    failingItems: [{ ...poison().failingItems[0]!, key: text, error: text, decidedBy: text }],
    runningItems: [{ key: text, attempt: 1, for: 1 }],
    delayedItems: [{ key: text, dueInMs: 1, priority: 0 }],
    readyItems: [{ key: text, priority: 0 }],
    groups: [{ name: text, count: 1 }],
    cannot: { pause: text },
  });
  await using server = new FakeServer([]);
  for (const text of HOSTILE) {
    const name = text.slice(0, 100);
    server.queues = [{ ...hostile(text), name }, queueOf("images")];
    await using visitor = await visit(`${server.url}#/queues/${encodeURIComponent(name)}`, { width: 320 });
    const { page } = visitor;
    await visitor.section("Failing items").waitFor();
    const marked = text.replace(
      /[\p{Cc}\u2028\u202e\u2066]/gu,
      (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
    );
    if (text.length > 1000) {
      await visitor.section("Failing items").getByRole("button", { name: "Show all 10,000 characters" }).click();
    }
    assertEquals(await visitor.section("Failing items").locator(".key").textContent(), marked);
    assertEquals(await visitor.section("Failing items").locator(".error").textContent(), marked);
    assertEquals(await page.locator("#page img, #page script").count(), 0);
    assertEquals(await page.evaluate(() => "hit" in globalThis), false);
    assertEquals(await visitor.contentWidth(), 320);
    await visitor.section("Failing items").getByRole("button", { name: /^Retry / }).click();
    await visitor.result().filter({ hasText: "Did" }).waitFor();
    assertEquals(server.posted.at(-1)!.body, { key: text });
    assertEquals(server.posted.at(-1)!.path, `api/queues/${encodeURIComponent(name)}/retry`);
    await page.goto(server.url);
    await visitor.row("images").waitFor();
    assertEquals(await page.locator(".card .reason").first().textContent(), marked);
    assertEquals(await visitor.contentWidth(), 320);
  }
});

browserTest("page: lists do not move while the pointer or the focus is in them", async () => {
  const items = ["a", "b", "c"].map((key) => ({ key, dueInMs: 1000, priority: 0 }));
  await using server = new FakeServer([queueOf("images", { delayedItems: items })]);
  await using visitor = await visit(`${server.url}#/queues/images`);
  const waits = visitor.section("Delayed items");
  await waits.waitFor();

  await waits.locator("tbody tr").first().hover();
  await visitor.sees("order frozen while you point at it", waits);
  server.queues = [
    queueOf("images", {
      delayedItems: [{ key: "d", dueInMs: 1, priority: 0 }, { ...items[2]!, dueInMs: 500 }, items[0]!],
    }),
  ];
  await visitor.sees("in 500 ms", waits);
  assertEquals(await keysIn(visitor, "Delayed items"), ["a", "b", "c"]);
  assertEquals(await waits.locator(".gone .key").allInnerTexts(), ["b"]);
  await visitor.page.mouse.move(0, 0);
  await waits.locator(".key").filter({ hasText: "d" }).waitFor();
  assertEquals(await keysIn(visitor, "Delayed items"), ["d", "c", "a"]);

  await visitor.button("Retry now: d").focus();
  server.queues = [queueOf("images", { delayedItems: items })];
  await visitor.sees("no longer listed", waits);
  assertEquals(await keysIn(visitor, "Delayed items"), ["d", "c", "a"]);
  await visitor.page.getByLabel("Search by key").focus();
  await waits.locator(".key").filter({ hasText: "b" }).waitFor();
  assertEquals(await keysIn(visitor, "Delayed items"), ["a", "b", "c"]);
});

browserTest("page: queues keep their places under the pointer, and their numbers are updated", async () => {
  await using server = new FakeServer([queueOf("images"), queueOf("invoices")]);
  await using visitor = await visit(server.url);
  const names = () => visitor.page.locator(".card h2").allInnerTexts();
  await visitor.row("images").hover();
  server.queues = [outage(), queueOf("images")];
  await visitor.sees("4,820", visitor.row("invoices"));
  assertEquals(await names(), ["images", "invoices"]);
  await visitor.sees("Order frozen while you point at it");
  await visitor.page.mouse.move(0, 0);
  await visitor.sees("Worst first");
  assertEquals(await names(), ["invoices", "images"]);
});

browserTest(
  "page: after three seconds without data, the page says so, and it continues once there is some",
  async () => {
    await using server = new FakeServer(badNight());
    await using visitor = await visit(server.url, { hasHandClock: true });
    await visitor.sees("live");
    server.isSilent = true;
    const { page } = visitor;
    await page.clock.runFor(4000);
    await visitor.sees(
      /^No update for \d s\. Showing data from \d\d:\d\d:05\.$/,
    );
    await visitor.sees("reconnecting");
    assertEquals(await page.locator(".stale").count(), 1);
    assertEquals(await page.locator("[aria-live]").first().textContent(), "No data from the server.");
    assertEquals(await visitor.offences(), []);
    server.isSilent = false;
    await visitor.sees("live");
    assertEquals(await page.locator(".stale").count(), 0);
  },
);

browserTest("page: the page reconnects to a server that restarts", async () => {
  await using server = new FakeServer(badNight());
  await using visitor = await visit(server.url, { failures: /net::ERR_/ });
  await visitor.sees("live");
  await server.stop();
  await visitor.sees("reconnecting");
  server.queues = [queueOf("reborn")];
  server.restart("two");
  await visitor.sees("live");
  await visitor.row("reborn").waitFor();
});

browserTest("page: a change of verdict is announced to screen readers, once", async () => {
  await using server = new FakeServer([queueOf("images"), queueOf("invoices")]);
  await using visitor = await visit(server.url);
  await visitor.row("images").waitFor();
  const spoken = visitor.page.locator("[aria-live=polite]");
  assertEquals(await spoken.first().textContent(), "");
  server.queues = [outage(), queueOf("images")];
  await spoken.filter({ hasText: "invoices is stuck: Every attempt" }).waitFor({ state: "attached" });
});

browserTest("page: a viewer without control sees no controls", async () => {
  await using server = new FakeServer(badNight());
  server.mayControl = false;
  await using visitor = await visit(`${server.url}#/queues/invoices`);
  await visitor.sees("You have read-only access.");
  await visitor.section("Failing items").waitFor();
  assertEquals(await visitor.section("Controls").count(), 0);
  assertEquals(await visitor.button(/^(Retry|Take back|Cancel|Set|Pause|Resume|Preview reload)/).count(), 0);
});

browserTest("page: each control sends its request, and the result is shown", async () => {
  await using server = new FakeServer([outage()]);
  await using visitor = await visit(`${server.url}#/queues/invoices`);
  const { page } = visitor;
  await visitor.section("Controls").waitFor();
  const posts = async (act: () => Promise<void>, action: string, body: unknown) => {
    await act();
    await visitor.result().filter({ hasText: `Did api/queues/invoices/${action}.` }).waitFor();
    const { path, ...posted } = server.posted.at(-1)!;
    assertEquals([path, posted], [`api/queues/invoices/${action}`, { instance: "one", body }]);
    await visitor.button("Dismiss").click();
  };

  await posts(() => visitor.button("Pause").click(), "pause", {});
  await page.getByLabel("Concurrency").fill("4");
  await posts(() => page.keyboard.press("Enter"), "concurrency", { concurrency: 4 });
  await page.getByLabel("Attempts per second").fill("2.5");
  await page.getByLabel("Burst").fill("1");
  await posts(() => page.keyboard.press("Enter"), "throttle", { rate: 2.5, burst: 1 });
  await page.getByLabel("Attempts per second").fill("unlimited");
  await posts(() => page.keyboard.press("Enter"), "throttle", { rate: "unlimited", burst: 5 });
  await posts(() => visitor.button("Pause throttle for 30 s").click(), "pause-throttle", { duration: 30_000 });
  await posts(() => visitor.button("Resume throttle").click(), "resume-throttle", {});
  const fails = visitor.section("Failing items");
  await posts(
    () => fails.getByRole("button", { name: "Retry now" }).or(fails.getByText("Retry now")).first().click(),
    "retry",
    { key: "invoice/2026-11/4820" },
  );

  server.queues = [paused()].map((queue) => ({ ...queue, name: "invoices" }));
  await visitor.button("Resume throttle").waitFor({ state: "detached" }); // the throttle of the new queue is not paused
  await posts(() => visitor.button("Resume").click(), "resume", {});
  await visitor.sees("Limits new attempts; running attempts continue.");
});

browserTest("page: text in a field stays, whatever the server sends meanwhile", async () => {
  await using server = new FakeServer([outage()]);
  await using visitor = await visit(`${server.url}#/queues/invoices`);
  const field = visitor.page.getByLabel("Concurrency");
  await field.fill("3");
  server.queues = [{ ...outage(), reason: "Another reason.", workers: { active: 1, concurrency: 20 }, paused: false }];
  await visitor.sees("Another reason.");
  assertEquals(await field.inputValue(), "3");
  await field.fill("none");
  await visitor.page.keyboard.press("Enter");
  assertEquals(server.posted, []); // the browser shows the error
});

browserTest(
  "page: a search asks the server after typing, and acts on all matches after a question",
  async () => {
    await using server = new FakeServer([outage()]);
    await using visitor = await visit(`${server.url}#/queues/invoices`, { hasHandClock: true });
    const { page } = visitor;
    await visitor.section("Delayed items").waitFor();
    await page.clock.pauseAt(Date.now() + 60_000); // the time between the keys is the same on every machine
    for (const key of "/481") {
      await page.getByLabel("Search by key").pressSequentially(key);
      await page.clock.runFor(50);
    }
    await page.clock.resume();
    await visitor.sees("Matches among the delayed items: 10");
    assertEquals(new Set(server.searches), new Set(["", "/481"]));
    assertEquals((await keysIn(visitor, "Delayed items")).length, 10);
    assert((await keysIn(visitor, "Failing items")).every((key) => key.includes("/481")));

    await visitor.button("Take back items found…").click();
    const dialog = page.getByRole("dialog", { name: "Take back items found?" });
    await visitor.sees("10 failing items and 0 items delayed without a failure.", dialog);
    assertEquals(await visitor.offences(), []);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assertEquals(server.posted, []);

    await visitor.button("Retry items found…").click();
    await visitor.button("Retry 10 items").click();
    await visitor.result().filter({ hasText: "Did" }).waitFor();
    assertEquals(server.posted, [{ path: "api/queues/invoices/retry", instance: "one", body: { search: "/481" } }]);
    assertEquals(server.previews.map(({ body }) => body), [
      { search: "/481", preview: true },
      { search: "/481", preview: true },
    ]);
  },
);

browserTest(
  "page: failing items are retried without waiting ones, and the question has both numbers",
  async () => {
    await using server = new FakeServer([outage()]);
    await using visitor = await visit(`${server.url}#/queues/invoices`);
    server.matched = { failing: 12, others: 0 };
    await visitor.button("Retry failing items…").click();
    await visitor.button("Retry 12 items").click();
    await visitor.result().filter({ hasText: "Did" }).waitFor();
    assertEquals(server.posted.map(({ path, body }) => [path, body]), [["api/queues/invoices/retry", {
      failing: true,
    }]]);

    server.matched = { failing: 12, others: 5000 };
    await visitor.button("Retry all delayed items…").click();
    const dialog = visitor.page.getByRole("dialog", { name: "Retry all delayed items now?" });
    await visitor.sees("12 failing items and 5000 items delayed without a failure.", dialog);
    assertEquals(await dialog.getByRole("button", { name: "Retry 5,012 items" }).isEnabled(), true);
    await visitor.page.keyboard.press("Escape");

    server.matched = { failing: 0, others: 0 };
    await visitor.section("Ready items by group").getByRole("button", { name: "Retry… delayed items of north" })
      .click();
    await visitor.sees("0 failing items");
    assertEquals(await visitor.button("Retry 0 items").isEnabled(), false);
    assertEquals(server.previews.at(-1)!.body, { group: "north", preview: true });
    await visitor.page.keyboard.press("Escape");

    await visitor.page.getByLabel("Search by key").fill("/481");
    await visitor.sees("Matches among the delayed items: 10");
    await visitor.button("Retry failing items found…").click();
    await visitor.sees("0 failing items");
    assertEquals(server.previews.at(-1)!.body, { failing: true, search: "/481", preview: true });
  },
);

browserTest("page: errors are grouped, and a group can be shown, retried or taken back", async () => {
  await using server = new FakeServer([outage()]);
  await using visitor = await visit(`${server.url}#/queues/invoices`);
  const errors = visitor.section("Errors");
  const message = "TimeoutError: The handler did not end within * ms";
  await visitor.sees("FetchError: connect ECONNREFUSED 10.3.0.1:443 while posting to billing.internal", errors);
  await visitor.sees("and 4,801 more", errors);
  await visitor.sees("invoice/2026-11/12", errors);
  assertEquals(await visitor.offences(), []);
  await errors.getByRole("button", { name: `Take back… items with “${message}”` }).click();
  await visitor.button("Take back 10 items").click();
  await visitor.result().filter({ hasText: "Did" }).waitFor();
  assertEquals(server.posted.map(({ path, body }) => [path, body]), [
    ["api/queues/invoices/take-back", { error: message }],
  ]);
  await errors.getByRole("button", { name: `Show items: ${message}` }).click();
  await visitor.sees("Matches among the delayed items: 0");
  assertEquals(await visitor.page.getByLabel("Search by key or error").inputValue(), message);
  assertEquals(server.searches.at(-1), message);
});

browserTest("page: a running item is cancelled, after a question", async () => {
  await using server = new FakeServer([outage()]);
  await using visitor = await visit(`${server.url}#/queues/invoices`);
  const running = visitor.section("Running items");
  const button = running.getByRole("button", { name: /^Cancel… / }).first();
  const key = (await button.getAttribute("aria-label"))!.replace("Cancel… ", "");
  await button.click();
  const dialog = visitor.page.getByRole("dialog", { name: "Cancel 1 item?" });
  await visitor.sees(`${key} will not run unless it is added again.`, dialog);
  assertEquals([server.posted, await visitor.offences()], [[], []]);
  await dialog.getByRole("button", { name: "Cancel 1 item" }).click();
  await visitor.result().filter({ hasText: "Did" }).waitFor();
  assertEquals(server.posted.map(({ path, body }) => [path, body]), [["api/queues/invoices/cancel", { key }]]);
});

browserTest("page: an abandoned handler is marked, with the time since its timeout", async () => {
  await using server = new FakeServer([outage()]);
  await using visitor = await visit(`${server.url}#/queues/invoices`);
  const running = visitor.section("Running items");
  await visitor.sees("abandoned, timed out 19 s ago", running);
  assertEquals(await running.getByText("abandoned").count(), 2);
  assertEquals(await visitor.figure("Abandoned"), "2");
});

browserTest("page: if more items are delayed in a shared queue than a search checks, the page says so", async () => {
  await using server = new FakeServer([{ ...outage(), engine: "sqlite", matching: 1040 }]);
  await using visitor = await visit(`${server.url}#/queues/invoices`);
  const { page } = visitor;
  await visitor.button("Retry items due first…").click();
  await page.getByRole("dialog", { name: "Retry items due first now?" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByLabel("Search by key").pressSequentially("/481");
  await visitor.sees("Matches among the 1,000 items due first and the listed failing items: 10");
});

browserTest("page: a refusal is shown in the server's words", async () => {
  await using server = new FakeServer([outage()]);
  server.answer = () => ({ status: 403, body: { error: "You may not control this." } });
  await using visitor = await visit(`${server.url}#/queues/invoices`, { failures: /status of 403/ });
  await visitor.button("Pause").click();
  await visitor.sees("You may not control this.", visitor.result());
});

browserTest("page: a confirmation for a process that has ended affects nothing in the next one", async () => {
  await using server = new FakeServer([outage()]);
  await using visitor = await visit(`${server.url}#/queues/invoices`, { failures: /status of 409/ });
  await visitor.button("Take back all delayed items…").click();
  const button = visitor.page.getByRole("dialog").getByRole("button", { name: "Take back 10 items" });
  await button.waitFor(); // the page has counted the items
  server.instance = "two";
  server.answer = () => {
    throw new Error("it was taken for the new process");
  };
  await button.click();
  await visitor.sees("This page showed a process that has ended.", visitor.result());
});

browserTest("page: a config is put in force after its changes were shown", async () => {
  await using server = new FakeServer(badNight());
  const changes = [
    { path: "/queues/images/concurrency", old: 10, new: 4, inForce: "now" as const },
    { path: "/limiters/slow", new: { type: "exponential" }, inForce: "nextStart" as const },
  ];
  server.answer = ({ body }) => ({
    body: "apply" in (body as object) ? { message: "2 changes are in force." } : { message: "2 changes.", changes },
  });
  await using visitor = await visit(server.url);
  await visitor.button("Preview reload").click();
  const rows = visitor.section("Config").locator("tbody tr");
  await rows.first().waitFor();
  assertEquals(
    (await rows.allInnerTexts()).map((row) => row.split("\t")),
    [["/queues/images/concurrency", "10", "4", "at once"], [
      "/limiters/slow",
      "–",
      `{"type":"exponential"}`,
      "at the next start",
    ]],
  );
  assertEquals(server.posted.at(-1), { path: "api/reload", instance: "one", body: {} });
  await visitor.button("Apply").click();
  await visitor.sees("2 changes are in force.", visitor.result());
  assertEquals(server.posted.at(-1)!.body, { apply: true });
  assertEquals(await rows.count(), 0);
});
