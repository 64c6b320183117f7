/** Tests of given-up items on the page. Runs only on Deno, because the page runs in a browser. */

import { assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createGivenUpStore,
  createRateLimitingQueue,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { allowLocal, createDashboard, type GivenUpList } from "@workqueue/dashboard";
import { type PageServer, testAccessibilityOf, testPageOf } from "./any_server.ts";
import { FakeServer } from "./fake_server.ts";
import { badNight, queueOf } from "./scenes.ts";
import { browserTest, visit } from "./visitor.ts";

const LIST: GivenUpList = {
  total: 1204,
  dropped: 30,
  matching: 1204,
  checked: 1000,
  items: [
    {
      key: "order/7",
      error: "TerminalError: no stock for order/7",
      attempts: 1,
      reason: "terminal",
      group: null,
      firstFailedAgo: 4000,
      ago: 4000,
    },
    {
      key: "order/\u202e8",
      error: "Error: 503\u202e",
      attempts: 12,
      reason: "maxRetries",
      group: "acme",
      firstFailedAgo: 7_200_000,
      ago: 61_000,
    },
  ],
  errors: [
    {
      message: "TerminalError: no stock for *",
      items: 990,
      example: "TerminalError: no stock for order/7",
      last: 4000,
    },
    { message: "Error: 503", items: 10, example: "Error: 503", last: 61_000 },
  ],
  redrive: null,
};

/** Starts a server with given-up items. The queue `orders` has them. */
function serve(said: Partial<GivenUpList> = {}): FakeServer {
  return new FakeServer([...badNight(), queueOf("orders", { givenUp: { ...LIST, ...said } })]);
}

const at = (server: FakeServer) => visit(`${server.url}#/queues/orders`);

function startServer(): Promise<PageServer> {
  const redrive = { redriven: 20, left: 4, running: true, rate: 5 };
  const server = serve({ redrive });
  const { counts, ...orders } = server.queues.at(-1)!;
  server.queues = [{ ...orders, counts: { ...counts, failing: 1 } }];
  return Promise.resolve(Object.assign(server, { queue: "orders" }));
}

testPageOf("page with given-up items", startServer);
testAccessibilityOf("page with given-up items", startServer);

browserTest("page: given-up items are listed with their errors, newest first", async () => {
  await using server = serve();
  await using visitor = await at(server);
  const items = visitor.section("Given-up items");
  await visitor.sees("2 of 1,204 items, newest first", items);
  const rows = await items.locator("tbody tr").all();
  assertEquals(await Promise.all(rows.map((row) => row.locator("td[data-name]").allInnerTexts())), [
    ["1", "4 s ago", "terminal"],
    ["12", "2 h ago", "maxRetries"],
  ]);
  await visitor.sees("Error: 503⟨U+202E⟩", items);
  await visitor.sees(", group acme", items);
  const errors = visitor.section("Given-up errors");
  await visitor.sees("errors of the newest 1,000 items; 30 older items dropped", errors);
  const groups = await errors.locator("tbody tr").all();
  assertEquals(await Promise.all(groups.map((row) => row.locator("td[data-name]").allInnerTexts())), [
    ["990", "4 s ago"],
    ["10", "1 min ago"],
  ]);
});

browserTest("page: an item, a group and all items can be redriven, at a rate", async () => {
  await using server = serve();
  server.matched = { failing: 0, others: 990 };
  await using visitor = await at(server);
  const { page } = visitor;
  await visitor.button("Redrive: order/7").click();
  await visitor.sees("Did api/queues/orders/redrive.", visitor.result());
  await page.getByLabel("Redrives per second").fill("2.5");
  await visitor.button("Redrive… items with “TerminalError: no stock for *”").click();
  await visitor.sees("They are added again, at most 2.5 a second", page.locator("dialog"));
  await page.locator("dialog").getByRole("button", { name: "Redrive 990 items" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.getByLabel("Redrives per second").fill("0");
  assertEquals(await visitor.button("Redrive all given-up items…").isDisabled(), true);
  await page.getByLabel("Redrives per second").fill("");
  await visitor.button("Redrive all given-up items…").click();
  await visitor.sees("They are added again, at once", page.locator("dialog"));
  await page.locator("dialog").getByRole("button", { name: "Redrive 990 items" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  while (server.posted.length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  assertEquals(server.posted.map(({ body }) => body), [
    { key: "order/7" },
    { error: "TerminalError: no stock for *", rate: 2.5 },
    { search: "" },
  ]);
});

browserTest("page: a discard asks for confirmation", async () => {
  await using server = serve();
  server.matched = { failing: 0, others: 1 };
  await using visitor = await at(server);
  const dialog = visitor.page.locator("dialog");
  await visitor.button("Discard… order/7").click();
  await visitor.sees("The queue forgets order/7. This cannot be undone.", dialog);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assertEquals(server.posted, []);
  await visitor.button("Discard all given-up items…").click();
  await dialog.getByRole("button", { name: "Discard 1 item" }).click();
  await visitor.sees("Did api/queues/orders/discard.", visitor.result());
  assertEquals(server.posted.map(({ body }) => body), [{ search: "" }]);
});

browserTest("page: a redrive is shown while it runs, and can be stopped", async () => {
  await using server = serve({ redrive: { redriven: 20, left: 1184, running: true, rate: 5 } });
  await using visitor = await at(server);
  const errors = visitor.section("Redrive");
  await visitor.sees("Redriving, at most 5 a second: 20 items added again, 1,184 left.", errors);
  await visitor.button("Stop redrive").click();
  await visitor.sees("Did api/queues/orders/stop-redrive.", visitor.result());
  server.queues = [
    queueOf("orders", { givenUp: { ...LIST, redrive: { redriven: 21, left: 3, running: false, rate: 5 } } }),
  ];
  await visitor.sees("Last redrive: 21 items added again, stopped with 3 left.", errors);
  server.mayControl = false;
  await visitor.section("Controls").waitFor({ state: "detached" });
  assertEquals(await visitor.button(/^(Redrive|Discard)/).count(), 0);
  server.queues = [queueOf("orders")];
  await visitor.section("Given-up items").waitFor({ state: "detached" });
});

browserTest("page of the server: given-up items are found, redriven and discarded", async () => {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 10 }), {
    keepGivenUp: createGivenUpStore({ max: 100 }),
  });
  let isUp = false;
  const done: string[] = [];
  const pool = runWorkers(queue, (item) => {
    if (!isUp) throw new TerminalError(`no stock for ${item}`);
    done.push(item);
  }, { onError() {} });
  using dashboard = createDashboard({ queues: { orders: { queue, pool } }, view: allowLocal, control: allowLocal });
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, dashboard.fetch);
  for (const item of ["order/1", "order/2", "order/3", "mail/1"]) queue.add(item);
  await queue.whenIdle();
  isUp = true;
  await using visitor = await visit(`http://127.0.0.1:${server.addr.port}/ops/#/queues/orders`);
  const { page } = visitor;
  const items = visitor.section("Given-up items");
  await visitor.sees("TerminalError: no stock for mail/1", items);
  await visitor.button("Redrive: order/2").click();
  await visitor.sees("The redrive is done: 1 item was added again.", visitor.result());
  await page.getByLabel("Search by key or error").fill("ORDER");
  await visitor.button("Redrive given-up items found…").click();
  await page.locator("dialog").getByRole("button", { name: "Redrive 2 items" }).click();
  await visitor.sees("The redrive is done: 2 items were added again.", visitor.result());
  await page.getByLabel("Search by key or error").fill("");
  await visitor.button("Discard… items with “TerminalError: no stock for *”").click();
  await page.locator("dialog").getByRole("button", { name: "Discard 1 item" }).click();
  await visitor.sees("1 given-up item is discarded.", visitor.result());
  await visitor.sees("No given-up items.", items);
  assertEquals(done.sort(), ["order/1", "order/2", "order/3"]);
  queue.shutDown();
  await pool.finished;
});
