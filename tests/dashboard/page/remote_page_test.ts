/**
 * Tests of the page with a queue that processes share, on every engine. The dashboard and the workers use separate
 * queue objects, as in separate processes. Runs only on Deno, because the page runs in a browser.
 */

import { assertEquals } from "@std/assert";
import { loadConfig, runWorkers, TerminalError } from "@workqueue/core";
import { allowLocal, createDashboard } from "@workqueue/dashboard";
import { hasChromium } from "../../chromium.ts";
import { onRedis } from "../../redis/place.ts";
import { uniqueName } from "../../redis/unique_name.ts";
import { inFile } from "../../sqlite/place.ts";
import { browserTest, visit } from "./visitor.ts";

if (hasChromium) {
  for (const test of [onRedis, inFile]) {
    test("page: failing items are shown with their errors, retried, paused and taken back", async (place) => {
      const name = uniqueName("images");
      const limiter = { type: "exponential", baseDelay: "1h", maxDelay: "1h" } as const;
      await using shown = place.open({ name, limiter });
      await using worked = place.open({ name, limiter });
      const taken: string[] = [];
      await using _pool = runWorkers(worked, (item) => {
        taken.push(item);
        throw new TypeError("no address");
      }, { onError() {} });
      await worked.addAll(["bad/1", "bad/2"]);

      using dashboard = createDashboard({
        queues: { images: { queue: shown } },
        view: allowLocal,
        control: allowLocal,
      });
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

      await failing.getByRole("button", { name: "Cancel… bad/1" }).click();
      await visitor.page.getByRole("dialog").getByRole("button", { name: "Cancel 1 item" }).click();
      await visitor.sees('"bad/1" is cancelled', visitor.result());
      assertEquals((await shown.snapshot()).delayedItems.map(({ item }) => item), ["bad/2"]);
    });

    test("page: given-up items are found, redriven and discarded", async (place) => {
      const name = uniqueName("orders");
      await using shown = place.open({ name });
      await using worked = place.open({ name });
      let isFixed = false;
      const done: string[] = [];
      await using _pool = runWorkers(worked, (item) => {
        if (!isFixed) throw new TerminalError(`no stock for ${item}`);
        done.push(item);
      }, { onError() {} });
      await worked.addAll(["order/1", "order/2", "order/3", "mail/1"]);
      await worked.whenIdle();
      isFixed = true;

      using dashboard = createDashboard({
        queues: { orders: { queue: shown } },
        view: allowLocal,
        control: allowLocal,
      });
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

    test("page: a group is paused and resumed, and the throttle of this process is shown", async (place) => {
      const name = uniqueName("images");
      const config = loadConfig({
        throttles: { slots: { type: "concurrency", limit: 1 } },
        queues: { [name]: { throttle: "slots", discipline: { type: "fair", separator: "/" } } },
      });
      await using shown = place.openFrom(config, name);
      await using worked = place.openFrom(config, name);
      const end = Promise.withResolvers<void>();
      await using pool = config.runWorkers(name, worked, () => end.promise);
      using _end = { [Symbol.dispose]: end.resolve }; // ends the attempt, also if the test fails
      await worked.addAll(["acme/1", "acme/2", "globex/1"]);

      const queues = { images: { queue: shown, pool } };
      using dashboard = createDashboard({ queues, config, view: allowLocal, control: allowLocal });
      await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, dashboard.fetch);
      await using visitor = await visit(`http://127.0.0.1:${server.addr.port}/#/queues/images`);
      await visitor.sees("items taken by this process", visitor.section("Latency"));
      await visitor.sees("1 of 1 running in this process", visitor.section("Limits"));
      await visitor.sees("Each process takes the rate from its own config.", visitor.section("Controls"));
      await visitor.page.getByLabel("Group to pause").fill("acme");
      await visitor.button("Pause group for 10 min").click();
      await visitor.sees('The group "acme" is paused for 10 min', visitor.result());
      const groups = visitor.section("Blocked groups");
      await visitor.sees("paused", groups);
      await visitor.button("Resume group: acme").click();
      await visitor.sees('The group "acme" is resumed.', visitor.result());
      await visitor.sees("no longer listed", groups);
      assertEquals((await shown.counts()).blocked, 0);
    });
  }
} else browserTest("page with a shared queue", () => Promise.resolve());
