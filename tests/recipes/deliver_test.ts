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

Deno.test("a delivery that the receiver refuses is given up at the first attempt", async () => {
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
