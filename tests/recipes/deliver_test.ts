import { createExponentialLimiter, createFairDiscipline, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { deliver, type Delivery, keyOf } from "../../examples/webhooks/deliver.ts";

Deno.test("a delivery is not retried before Retry-After has passed", async () => {
  using time = new FakeTime();
  const answers = [new Response(null, { status: 429, headers: { "retry-after": "60" } }), new Response(null)];
  const sent: number[] = [];
  const limiter = createExponentialLimiter({ baseDelay: "1s", maxDelay: "1h" });
  const queue = createRateLimitingQueue<Delivery>(limiter, {
    keyOf,
    discipline: createFairDiscipline({ separator: "/", maxPerGroup: 10 }),
  });
  runWorkers(queue, (delivery, context) =>
    deliver(delivery, context, () => {
      sent.push(Date.now());
      return Promise.resolve(answers.shift()!);
    }), { onError() {} });

  queue.add({ tenant: "acme", id: "1", url: "https://acme.example/hook", body: {} });
  await time.tickAsync(59_999);
  assertEquals(sent.length, 1);
  await time.tickAsync(1);
  assertEquals(sent.length, 2);
  await queue.shutDownWithDrain();
});

Deno.test("a tenant that answers 429 is paused as a whole, with one delivery as a probe, and none is given up", async () => {
  using time = new FakeTime(0);
  const sent: string[] = [];
  const givenUp: unknown[] = [];
  const queue = createRateLimitingQueue<Delivery>(createExponentialLimiter({ baseDelay: "1s", maxDelay: "1h" }), {
    keyOf,
    discipline: createFairDiscipline({ separator: "/" }),
  });
  const send = (url: RequestInfo | URL) => {
    sent.push(`${time.now / 1000} ${new URL(url as string).host}`);
    const isBusy = time.now < 90_000 && `${url}`.includes("busy");
    return Promise.resolve(new Response(null, isBusy ? { status: 429, headers: { "retry-after": "60" } } : {}));
  };
  runWorkers(queue, (delivery, context) => deliver(delivery, context, send), {
    concurrency: 2,
    maxRetries: 0,
    onGiveUp: (_error, { id }) => givenUp.push(id),
  });
  for (let id = 1; id <= 4; id++) {
    queue.add({ tenant: "busy", id: `${id}`, url: "https://busy.example/", body: {} });
    queue.add({ tenant: "acme", id: `${id}`, url: "https://acme.example/", body: {} });
  }
  await time.tickAsync(59_999);
  assertEquals(sent.toSorted(), [...Array(4).fill("0 acme.example"), "0 busy.example"]);
  await time.tickAsync(1);
  assertEquals(sent.slice(5), ["60 busy.example"]);
  await time.tickAsync(60_000);
  await queue.shutDownWithDrain();
  assertEquals(sent.slice(6), Array(4).fill("120 busy.example"));
  assertEquals(givenUp, []);
});

Deno.test("a delivery that the receiver rejects is given up at the first attempt", async () => {
  const queue = createRateLimitingQueue<Delivery>(createExponentialLimiter({ baseDelay: "1s", maxDelay: "1h" }), {
    keyOf,
  });
  const givenUp: unknown[] = [];
  const refuse = () => Promise.resolve(new Response(null, { status: 410 }));
  runWorkers(queue, (delivery, context) => deliver(delivery, context, refuse), {
    onError() {},
    onGiveUp: (_error, { id }, attempts, reason) => givenUp.push([id, attempts, reason]),
  });
  queue.add({ tenant: "acme", id: "1", url: "https://acme.example/hook", body: {} });
  await queue.shutDownWithDrain();
  assertEquals(givenUp, [["1", 1, "terminal"]]);
});
