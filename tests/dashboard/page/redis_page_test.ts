/**
 * Tests of the page with a queue on a real Redis server. The dashboard and the workers use separate queue objects, as
 * in separate processes. Runs only on Deno, because the page runs in a browser.
 */

import { assertEquals } from "@std/assert";
import { runWorkers, TerminalError } from "@workqueue/core";
import { allowLocal, createDashboard } from "@workqueue/dashboard";
import { createRedisQueue } from "@workqueue/redis";
import { hasChromium } from "../../chromium.ts";
import { redisTest, uniqueName } from "../../redis/redis_tests.ts";
import { browserTest, visit } from "./visitor.ts";

if (hasChromium) {
  redisTest("page on Redis: what fails is shown with its error, tried now, paused and taken back", async ({ url }) => {
    const name = uniqueName("images");
    const limiter = { type: "exponential", baseDelay: "1h", maxDelay: "1h" } as const;
    await using shown = createRedisQueue({ name, url, limiter });
    await using worked = createRedisQueue({ name, url, limiter });
    const taken: string[] = [];
    await using _pool = runWorkers(worked, (item) => {
      taken.push(item);
      throw new TypeError("no address");
    }, { onError() {} });
    await worked.addAll(["bad/1", "bad/2"]);

    using dashboard = createDashboard({ queues: { images: { queue: shown } }, view: allowLocal, control: allowLocal });
    await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, dashboard.fetch);
    await using visitor = await visit(`http://127.0.0.1:${server.addr.port}/#/queues/images`);
    const failing = visitor.section("Failing items");
    await visitor.sees("TypeError: no address", failing);

    await visitor.button("Pause").click();
    await visitor.button("Resume").waitFor();
    await failing.getByRole("button", { name: "Retry now: bad/2" }).click();
    await visitor.sees("1 item is ready now.", visitor.result());
    assertEquals([(await shown.counts()).ready, taken.length], [1, 2]); // the item is not handed out
    await visitor.button("Resume").click();
    await visitor.button("Pause").waitFor();
    await failing.getByRole("row").filter({ hasText: "bad/2" }).getByText("2", { exact: true }).waitFor();
    assertEquals(taken.length, 3);

    await failing.getByRole("button", { name: "Take back… bad/1" }).click();
    await visitor.page.getByRole("dialog").getByRole("button", { name: "Take back 1 item" }).click();
    await visitor.sees("1 item is taken back", visitor.result());
    assertEquals((await shown.snapshot()).delayedItems.map(({ item }) => item), ["bad/2"]);
  });

  redisTest("page on Redis: given-up items are found, redriven and discarded", async ({ url }) => {
    const name = uniqueName("orders");
    await using shown = createRedisQueue({ name, url });
    await using worked = createRedisQueue({ name, url });
    let isFixed = false;
    const done: string[] = [];
    await using _pool = runWorkers(worked, (item) => {
      if (!isFixed) throw new TerminalError(`no stock for ${item}`);
      done.push(item);
    }, { onError() {} });
    await worked.addAll(["order/1", "order/2", "order/3", "mail/1"]);
    await worked.whenIdle();
    isFixed = true;

    using dashboard = createDashboard({ queues: { orders: { queue: shown } }, view: allowLocal, control: allowLocal });
    await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, dashboard.fetch);
    await using visitor = await visit(`http://127.0.0.1:${server.addr.port}/#/queues/orders`);
    const items = visitor.section("Given-up items");
    await visitor.sees("TerminalError: no stock for mail/1", items);
    await visitor.button("Redrive: order/2").click();
    await visitor.sees("The redrive is done: 1 item was added again.", visitor.result());
    await visitor.page.getByLabel("Redrives per second").fill("0.001");
    await visitor.button("Redrive… items with “TerminalError: no stock for *”").click();
    await visitor.page.getByRole("dialog").getByRole("button", { name: "Redrive 3 items" }).click();
    await visitor.sees("1 item added again, 2 left.", visitor.section("Redrive"));
    await visitor.button("Stop redrive").click();
    await visitor.button("Discard all given-up items…").click();
    await visitor.page.getByRole("dialog").getByRole("button", { name: "Discard 2 items" }).click();
    await visitor.sees("2 given-up items are discarded.", visitor.result());
    await visitor.sees("No given-up items.", items);
    await worked.whenIdle();
    assertEquals(done, ["order/2", "order/1"]);
  });
} else browserTest("page on Redis", () => Promise.resolve());
