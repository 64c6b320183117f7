import { assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createGivenUpStore,
  createRateLimitingQueue,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import type { SteerEvent } from "@workqueue/dashboard";
import { HandClock } from "../helpers.ts";
import { flush, takeAll } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

const PATH = "api/queues/orders";

/** Queue of items whose keys are their IDs, with given-up items and a dashboard. */
class Kept implements Disposable {
  readonly clock = new HandClock(1e6);
  readonly queue = createRateLimitingQueue<{ id: string }>(createExponentialLimiter({ baseDelay: 10, maxDelay: 10 }), {
    clock: this.clock,
    keepGivenUp: createGivenUpStore({ max: 2000 }),
    keyOf: ({ id }) => id,
  });
  readonly acts: Partial<SteerEvent>[] = [];
  readonly asked: Asked;

  constructor(keyText?: (item: { id: string }) => string) {
    this.asked = new Asked({
      queues: { orders: { queue: this.queue, ...keyText && { keyText } } },
      onSteer: ({ action, body, message, isError }) => this.acts.push({ action, body, message, isError }),
    });
  }

  /** Gives up items with errors. The text after `!` is the error. */
  async giveUp(...items: string[]): Promise<void> {
    const pool = runWorkers(this.queue, ({ id }) => {
      throw new TerminalError(id.split("!")[1] ?? `no stock for ${id}`);
    }, { onError() {} });
    for (const id of items) this.queue.add({ id });
    while (this.queue.length + this.queue.processing > 0) await flush();
    await pool.stop();
  }

  async keys(): Promise<string[]> {
    return (await this.queue.givenUp()).items.map(({ item }) => item.id);
  }

  [Symbol.dispose](): void {
    this.queue.shutDown();
    this.asked[Symbol.dispose]();
  }
}

Deno.test("given-up items are listed, searched, and grouped by error", async () => {
  using kept = new Kept();
  await kept.giveUp("order/1", "order/2", "late!503 after 12 ms", "later!503 after 7 ms", "order/3");
  await kept.clock.advance(500);
  const { givenUp } = await kept.asked.details("orders", "?limit=2");
  const common = { attempts: 1, reason: "terminal", group: null, firstFailedAgo: 500, ago: 500 } as const;
  assertEquals(givenUp, {
    total: 5,
    dropped: 0,
    matching: 5,
    checked: 5,
    items: [
      { key: "order/3", error: "TerminalError: no stock for order/3", ...common },
      { key: "later!503 after 7 ms", error: "TerminalError: 503 after 7 ms", ...common },
    ],
    errors: [
      {
        message: "TerminalError: no stock for *",
        items: 3,
        example: "TerminalError: no stock for order/3",
        last: 500,
      },
      { message: "TerminalError: 503 after * ms", items: 2, example: "TerminalError: 503 after 7 ms", last: 500 },
    ],
    redrive: null,
  });
  const found = await kept.asked.details("orders", "?search=STOCK");
  assertEquals([found.givenUp!.matching, found.givenUp!.items.length, found.givenUp!.errors.length], [3, 3, 1]);
});

Deno.test("a queue that keeps no given-up items has no list, and acts on them are refused", async () => {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  using asked = new Asked({ queues: { orders: { queue } } });
  assertEquals((await asked.details("orders")).givenUp, null);
  for (const action of ["redrive", "discard"]) {
    assertEquals(await asked.post(`${PATH}/${action}`, { search: "" }), [
      422,
      "The queue keeps no given-up items: set its option 'keepGivenUp'.",
    ]);
  }
  assertEquals((await asked.post(`${PATH}/stop-redrive`))[0], 422);
  queue.shutDown();
});

Deno.test("one item, a group of errors, and items found are redriven, and each act is in the audit list", async () => {
  using kept = new Kept();
  const { asked, queue } = kept;
  await kept.giveUp("order/1", "order/2", "other!503 at 1", "late!503 at 2", "x!broken", "y!stock is broken");
  const redrive = (body: object) => asked.post(`${PATH}/redrive`, body);
  assertEquals(await redrive({ error: "TerminalError: 503 at *", preview: true }), [200, "2 given-up items."]);
  assertEquals((await kept.keys()).length, 6);
  assertEquals(await redrive({ key: "order/2" }), [200, "The redrive is done: 1 item was added again."]);
  assertEquals(await redrive({ error: "TerminalError: 503 at *" }), [
    200,
    "The redrive is done: 2 items were added again.",
  ]);
  assertEquals(await redrive({ search: "STOCK", preview: true }), [200, "2 given-up items."]);
  assertEquals(await redrive({ search: "STOCK" }), [200, "The redrive is done: 2 items were added again."]);
  assertEquals(await redrive({ search: "stock" }), [200, "No given-up item was added again."]);
  assertEquals(await redrive({ search: "", preview: true }), [200, "1 given-up item."]);
  assertEquals(await redrive({ key: "order/2" }), [422, 'Nothing was done: "order/2" is not given up, or no longer.']);
  assertEquals(takeAll(queue).map(({ id }) => id), [
    "order/2",
    "other!503 at 1",
    "late!503 at 2",
    "order/1",
    "y!stock is broken",
  ]);
  assertEquals(await kept.keys(), ["x!broken"]);
  assertEquals(kept.acts.map(({ action, body }) => [action, body]), [
    ["redrive", { key: "order/2" }],
    ["redrive", { error: "TerminalError: 503 at *" }],
    ["redrive", { search: "STOCK" }],
    ["redrive", { search: "stock" }],
  ]);
});

Deno.test("a redrive keeps its rate, is shown, and is stopped; a second one is refused meanwhile", async () => {
  using kept = new Kept();
  const { asked } = kept;
  await kept.giveUp("1", "2", "3", "4");
  const redrive = (body: object) => asked.post(`${PATH}/redrive`, body);
  assertEquals(await asked.post(`${PATH}/stop-redrive`), [200, "No redrive is running: nothing was done."]);
  assertEquals(await redrive({ search: "", rate: 2 }), [
    200,
    "The redrive has begun, at most 2 a second: 1 item was added again, 3 left to check.",
  ]);
  await kept.clock.advance(500);
  const state = { redriven: 2, left: 2, running: true, rate: 2 };
  assertEquals((await asked.details("orders")).givenUp!.redrive, state);
  assertEquals(await redrive({ search: "" }), [
    422,
    "Nothing was done: a redrive of this queue is running. Stop it, or wait until it ends.",
  ]);
  assertEquals(await asked.post(`${PATH}/stop-redrive`), [
    200,
    "The redrive is stopped: 2 items were added again, and the others are still given up.",
  ]);
  assertEquals((await asked.details("orders")).givenUp!.redrive, { ...state, running: false });
  assertEquals((await redrive({ search: "", rate: "unlimited" }))[1], "The redrive is done: 2 items were added again.");
  assertEquals((await asked.details("orders")).givenUp!.redrive, {
    ...{ redriven: 2, left: 0, running: false, rate: null },
  });
});

Deno.test("items are discarded, and a key that matches several is refused", async () => {
  using kept = new Kept(({ id }) => id.split("/")[0]!);
  const { asked } = kept;
  await kept.giveUp("a/1", "a/2", "b/1", "c!503", "d!503");
  const discard = (body: object) => asked.post(`${PATH}/discard`, body);
  assertEquals(await discard({ key: "b" }), [200, "1 given-up item is discarded."]);
  const several = "2 given-up items have this text. " +
    "Search for it to act on all of them, or use 'keyText' to tell them apart.";
  assertEquals(await discard({ key: "a" }), [422, `Nothing was done: ${several}`]);
  assertEquals(await discard({ error: "TerminalError: 503" }), [200, "2 given-up items are discarded."]);
  assertEquals(await discard({ search: "none" }), [200, "No given-up item matches: nothing was done."]);
  assertEquals([await discard({ search: "" }), await kept.keys()], [[200, "2 given-up items are discarded."], []]);
});

Deno.test("invalid requests about given-up items are refused", async () => {
  using kept = new Kept();
  await kept.giveUp("a");
  const messages: [body: object, message: string][] = [
    [{}, "Cannot redrive: the body must have 'key' or 'error' or 'search'"],
    [{ key: "a", search: "a" }, "Cannot redrive: the body has both 'key' and 'search'"],
    [{ key: "a", error: "a" }, "Cannot redrive: the body has both 'key' and 'error'"],
    [{ search: "", rate: 0 }, "Cannot redrive: 'rate' must be more than 0, or \"unlimited\", got 0"],
    [{ search: "", group: "a" }, 'Cannot redrive: the body has an unknown member "group"'],
  ];
  for (const [body, message] of messages) {
    assertEquals(await kept.asked.post(`${PATH}/redrive`, body), [422, message]);
  }
  assertEquals((await kept.asked.post(`${PATH}/discard`, { search: "", rate: 5 }))[0], 422);
  assertEquals([await kept.keys(), kept.acts], [["a"], []]);
  kept.queue.shutDown();
  const [status, message] = await kept.asked.post(`${PATH}/redrive`, { search: "" });
  assertEquals([status, message], [
    422,
    "Failed, or only partly done: Error: Cannot redrive items: the queue is shutting down, so it ignores added items",
  ]);
});

Deno.test("a list shows how many items were read and dropped, and acts also reach items that were not read", async () => {
  using kept = new Kept();
  await kept.giveUp(...Array.from({ length: 2100 }, (_, i) => `${i}!${i < 150 ? "old" : "new"}`));
  const { givenUp } = await kept.asked.details("orders");
  const { total, dropped, matching, checked, items, errors } = givenUp!;
  assertEquals([total, dropped, matching, checked, items.length], [2000, 100, 2000, 1000, 50]);
  assertEquals(errors.map(({ items }) => items), [1000]);
  assertEquals((await kept.asked.details("orders", "?search=new")).givenUp!.matching, null);
  assertEquals(await kept.asked.post(`${PATH}/discard`, { error: "TerminalError: old" }), [
    200,
    "50 given-up items are discarded.",
  ]);
});
