/** Tests of the list of many queues, of its filters, and of the page's address. Runs only on Deno. */

import { assertEquals } from "@std/assert";
import type { QueueDetails } from "@workqueue/dashboard";
import { FakeServer } from "./fake_server.ts";
import { badNight, hotTenant, outage, paused, poison, queueOf } from "./scenes.ts";
import { browserTest, visit, type Visitor } from "./visitor.ts";

/** Returns fifty queues: one stuck, four failing, one paused, one busy, and healthy queues. */
function fifty(): QueueDetails[] {
  return [
    outage(),
    ...[1, 2, 3, 4].map((i) => ({ ...poison(), name: `webhooks-${i}` })),
    { ...paused(), reason: "Paused by someone. ".repeat(20) },
    { ...hotTenant(), counts: { ...hotTenant().counts, ready: 1_234_567 } },
    ...Array.from({ length: 43 }, (_, i) => queueOf(`${i % 2 === 0 ? "images" : "a-very-long-name-".repeat(4)}-${i}`)),
  ];
}

const total = ({ page }: Visitor, name: string) => page.getByRole("link", { name, exact: true });
const names = ({ page }: Visitor) => page.locator(".compact tbody th").allInnerTexts();
const hashOf = ({ page }: Visitor) => new URL(page.url()).hash;

browserTest("list: the headline has the totals by verdict, worst first", async () => {
  await using server = new FakeServer(fifty());
  await using visitor = await visit(server.url);
  const totals = visitor.page.getByRole("list", { name: "Queues by verdict" });
  await totals.waitFor();
  const texts = async () => (await totals.getByRole("link").allInnerTexts()).map((text) => text.trim());
  assertEquals(await texts(), ["1 stuck", "4 failing", "1 paused", "1 busy", "43 healthy", "50 queues"]);
  server.queues = badNight().slice(1);
  await totals.getByText("5 queues").waitFor();
  assertEquals(await texts(), ["1 failing", "1 paused", "1 busy", "2 healthy", "5 queues"]);
});

for (const width of [390, 1024, 1440]) {
  browserTest(`list: each of 50 queues has one line on a screen that is ${width} wide`, async () => {
    await using server = new FakeServer(fifty());
    await using visitor = await visit(server.url, { width });
    const rows = visitor.page.locator(".compact tbody tr");
    await rows.last().waitFor();
    assertEquals([await rows.count(), await visitor.contentWidth()], [50, width]);
    const heights = await rows.evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
    assertEquals(heights.filter((height) => height > 40), []);
    const cut = await visitor.page.locator(".compact td.number").evaluateAll((cells) =>
      cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map(({ textContent }) => textContent)
    );
    assertEquals(cut, []);
    assertEquals(await visitor.offencesInBothSchemes(), []);
  });
}

browserTest("list: a verdict and a part of a name filter the list, and both are in the address", async () => {
  await using server = new FakeServer(fifty());
  await using visitor = await visit(server.url);
  await total(visitor, "4 failing").click();
  await visitor.sees("4 of 50 queues, worst first");
  assertEquals([await names(visitor), hashOf(visitor)], [
    ["webhooks-1", "webhooks-2", "webhooks-3", "webhooks-4"],
    "#/?verdict=failing",
  ]);
  assertEquals(await total(visitor, "4 failing").getAttribute("aria-current"), "true");
  await visitor.page.getByLabel("Filter queues by name").fill("HOOKS-3");
  await visitor.sees("1 of 50 queues, worst first");
  assertEquals([await names(visitor), hashOf(visitor)], [["webhooks-3"], "#/?verdict=failing&name=HOOKS-3"]);

  await using other = await visit(visitor.page.url()); // the link is shared
  await other.sees("1 of 50 queues, worst first");
  assertEquals(await names(other), ["webhooks-3"]);
  assertEquals(await other.page.getByLabel("Filter queues by name").inputValue(), "HOOKS-3");

  await total(visitor, "1 stuck").click();
  await visitor.sees("No queue matches the filter.");
  await visitor.page.goBack();
  await visitor.sees("1 of 50 queues, worst first");
  assertEquals(await names(visitor), ["webhooks-3"]);
  await visitor.page.goBack();
  await visitor.sees("Worst first");
  assertEquals((await names(visitor)).length, 50);
});

browserTest("list: going back from a queue restores the filtered list", async () => {
  await using server = new FakeServer(fifty());
  await using visitor = await visit(`${server.url}#/?verdict=failing`);
  await visitor.page.getByRole("link", { name: "webhooks-2", exact: true }).click();
  await visitor.section("Failing items").waitFor();
  assertEquals(hashOf(visitor), "#/queues/webhooks-2");
  await visitor.page.getByRole("link", { name: "← All queues" }).click();
  await visitor.sees("4 of 50 queues, worst first");
});

browserTest("list: the filters can be reached and used with the keyboard", async () => {
  await using server = new FakeServer(fifty());
  await using visitor = await visit(server.url);
  await total(visitor, "1 paused").focus();
  await visitor.page.keyboard.press("Enter");
  await visitor.sees("1 of 50 queues, worst first");
  assertEquals(await names(visitor), ["emails"]);
});

browserTest("list: the search in a queue is in the address, and the Back button works", async () => {
  await using server = new FakeServer([outage()]);
  await using visitor = await visit(server.url);
  await visitor.page.getByRole("link", { name: "invoices", exact: true }).first().click();
  const field = visitor.page.getByLabel("Search by key");
  await field.fill("/481");
  await visitor.sees("Matches among the delayed items: 10");
  assertEquals(hashOf(visitor), "#/queues/invoices?search=%2F481");

  await using other = await visit(visitor.page.url());
  await other.sees("Matches among the delayed items: 10");
  assertEquals(await other.page.getByLabel("Search by key").inputValue(), "/481");
  await other.page.evaluate(`location.hash = "#/queues/invoices?search=/4820"`);
  await other.sees(/^Matches among the delayed items: 1$/);
  assertEquals(await other.page.getByLabel("Search by key").inputValue(), "/4820");
  await other.page.goBack();
  await other.sees("Matches among the delayed items: 10");

  await visitor.page.goBack();
  await visitor.row("invoices").waitFor();
});

browserTest("list: a queue's name may have any characters, also those of the address", async () => {
  const name = "a?search=b&verdict=stuck#/queues/c %41";
  await using server = new FakeServer([queueOf(name)]);
  await using visitor = await visit(server.url);
  await visitor.row(name).getByRole("link").click();
  await visitor.section("Failing items").waitFor();
  assertEquals(await visitor.page.locator("h1").innerText(), name);
  assertEquals(await visitor.page.getByLabel("Search by key").inputValue(), "");
});

browserTest("list: a small chart has a scale, for the eye and for screen readers", async () => {
  const trend = [...Array.from({ length: 58 }, (_, i) => i), 12_000, null];
  await using server = new FakeServer([queueOf("images", { trend }), queueOf("mails", { trend: [] })]);
  await using visitor = await visit(server.url);
  await visitor.sees("0 to 12,000 items in 15 min", visitor.row("images"));
  const chart = visitor.row("images").getByRole("img");
  assertEquals(await chart.getAttribute("aria-label"), "Items in the last 15 min: at most 12,000, now 12,000");
  await visitor.sees("No samples yet", visitor.row("mails"));
  server.queues = [queueOf("mails", { trend: [0, 1] })];
  await visitor.sees("0 to 1 item in 15 min", visitor.row("mails"));
  server.queues = [...fifty(), queueOf("first", { trend })];
  await visitor.sees("0–12,000");
});

browserTest("list: empty and blank keys, and names with spaces, can be seen and acted on", async () => {
  const keys = ["", " ", "   ", " a", "a ", "a  b", "a\u00a0b", "\u3164", "\ud800"];
  const items = keys.map((key) => ({ key, dueInMs: 1000, priority: 0 }));
  await using server = new FakeServer([
    queueOf("  ", { delayedItems: items, groups: [{ name: "", count: 1 }, { name: " ", count: 1 }] }),
  ]);
  await using visitor = await visit(server.url);
  await visitor.row("⟨2 spaces⟩").getByRole("link").click();
  const delayed = visitor.section("Delayed items");
  await delayed.waitFor();
  assertEquals(await visitor.page.locator("h1").innerText(), "⟨2 spaces⟩");
  assertEquals(await delayed.locator(".key").allInnerTexts(), [
    ...["⟨empty⟩", "⟨1 space⟩", "⟨3 spaces⟩", "⟨1 space⟩a", "a⟨1 space⟩", "a  b"],
    ...["a⟨U+00A0⟩b", "⟨U+3164⟩", "⟨U+D800⟩"],
  ]);
  assertEquals(await visitor.section("Ready items by group").locator(".key").allInnerTexts(), ["⟨empty⟩", "⟨1 space⟩"]);
  await visitor.button("Retry now: ⟨empty⟩").click();
  await visitor.result().filter({ hasText: "Did" }).waitFor();
  assertEquals(server.posted.at(-1)!.body, { key: "" });
});

browserTest("list: acts of users are listed, and the page of a queue lists only its own", async () => {
  await using server = new FakeServer(badNight());
  await using visitor = await visit(server.url);
  const list = visitor.section("Audit list");
  await visitor.sees("Nobody has changed anything here since the process started.", list);
  const act = { time: server.time - 1000, by: "alice", action: "pause", body: "{}", isError: false };
  server.acts = [
    ...Array.from({ length: 6 }, (_, i) => ({ ...act, queue: "images", message: `Number ${i}.` })),
    { ...act, queue: "invoices", by: "\u202ebob", body: '{"duration":1000}', message: "It failed.", isError: true },
    { ...act, queue: null, by: null, time: server.time - 40 * 3_600_000, action: "reload", message: "Reloaded." },
  ];
  const rows = list.locator("tbody tr");
  await rows.nth(4).waitFor();
  assertEquals(await rows.count(), 5);
  await list.getByRole("button", { name: "Show 3 more" }).click();
  const cells = (await rows.nth(6).locator("th, td").allInnerTexts()).slice(0, 4);
  assertEquals(cells, ["It failed.", 'pause {"duration":1000}', "invoices", "⟨U+202E⟩bob"]);
  assertEquals((await rows.nth(7).locator("td").allInnerTexts()).slice(1, 3), ["config", "–"]);
  assertEquals(/^2026-11-2\d \d\d:\d\d:05$/.test(await rows.nth(7).locator("td").last().innerText()), true);
  assertEquals(await visitor.offences(), []);
  await visitor.page.goto(`${server.url}#/queues/invoices`);
  await visitor.section("Failing items").waitFor();
  assertEquals(await rows.locator("th").allInnerTexts(), ["It failed.", "Reloaded."]);
});

browserTest("list: a pause can have any length, shows its remaining time, and can be ended early", async () => {
  await using server = new FakeServer([queueOf("images")]);
  await using visitor = await visit(`${server.url}#/queues/images`);
  await visitor.page.getByLabel("Pause duration", { exact: true }).fill("soon");
  await visitor.button("Pause").click();
  await visitor.page.getByLabel("Pause duration", { exact: true }).fill(" 1h30m");
  await visitor.button("Pause for 1.5 h").click();
  await visitor.result().filter({ hasText: "Did" }).waitFor();
  assertEquals(server.posted.map(({ body }) => body), [{ duration: 5_400_000 }]); // the browser refused the other
  server.queues = [{ ...paused(), name: "images", pauseEndsInMs: 540_000 }];
  await visitor.sees("Resumes in 9 min.");
  await visitor.button("Resume").click();
  await visitor.page.getByLabel("Throttle pause duration").fill("5m");
  await visitor.button("Pause throttle for 5 min").click();
  await visitor.result().filter({ hasText: "pause-throttle" }).waitFor();
  assertEquals(server.posted.slice(1).map(({ path, body }) => [path, body]), [
    ["api/queues/images/resume", {}],
    ["api/queues/images/pause-throttle", { duration: 300_000 }],
  ]);
  server.queues = [{ ...paused(), throttle: { rate: 50, burst: 10, tokens: 7, resumesInMs: 12_000 }, name: "images" }];
  await visitor.sees("Paused until someone resumes.");
  await visitor.sees("Resumes in 12 s.");
  await visitor.button("Resume throttle").waitFor();
});

browserTest("list: a page beyond the maximum of open pages says so, and gets its turn", async () => {
  await using server = new FakeServer(badNight());
  server.tooMany = "Too many pages are open.";
  await using visitor = await visit(server.url, { failures: /status of 503/ });
  await visitor.sees("Too many pages are open.");
  await visitor.row("invoices").waitFor(); // a snapshot of the state is shown meanwhile
  server.tooMany = undefined;
  await visitor.sees("live");
  assertEquals(await visitor.page.getByText("Too many pages are open.").count(), 0);
});
