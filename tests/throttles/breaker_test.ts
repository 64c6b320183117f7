/** The circuit breaker. */

import { assert, assertEquals } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import { createBreakerThrottle } from "@workqueue/core/throttles";
import { HandClock } from "../helpers.ts";
import { attempt, begin, limitOf, result } from "./helpers.ts";

function stateOf(throttle: ReturnType<typeof createBreakerThrottle>): string {
  return throttle.snapshot!().state;
}

Deno.test("breaker: it opens when enough attempts ended in the window and the failure ratio is reached", () => {
  const clock = new HandClock();
  const throttle = createBreakerThrottle({ failureRatio: 0.5, window: "10s", minAttempts: 20, openFor: "5s", clock });
  attempt(throttle, "failed", 19);
  assertEquals(stateOf(throttle), "closed");
  clock.time += 10_000; // the window has passed
  attempt(throttle, "failed", 9);
  attempt(throttle, "succeeded", 10);
  assertEquals(stateOf(throttle), "closed");
  attempt(throttle, "overloaded");
  assertEquals(stateOf(throttle), "open for 5 s: 10 of 20 attempts failed");
  assertEquals([throttle.acquire(), limitOf(throttle)], [5000, 0]);
  clock.time += 2000;
  assertEquals([throttle.acquire(), stateOf(throttle)], [3000, "open for 3 s: 10 of 20 attempts failed"]);
});

Deno.test("breaker: after its open time it lets probes through, and closes when all have succeeded", () => {
  const clock = new HandClock();
  const throttle = createBreakerThrottle({ minAttempts: 1, openFor: 1000, probes: 3, clock });
  attempt(throttle, "failed");
  clock.time += 1000;
  const probes = [begin(throttle), begin(throttle), begin(throttle)];
  assertEquals([throttle.acquire(), stateOf(throttle)], [Infinity, "probing: 1 of 1 attempts failed"]);
  probes[0]!.end(result("succeeded"));
  assertEquals(throttle.acquire(), Infinity, "one that has succeeded is not tried again");
  probes[1]!.end(result("unused"));
  const again = begin(throttle);
  probes[2]!.end(result("succeeded"));
  assertEquals(stateOf(throttle).startsWith("probing"), true);
  let changes = 0;
  throttle.onChange!(() => changes++);
  again.end(result("succeeded"));
  assertEquals([stateOf(throttle), changes], ["closed", 1]);
});

Deno.test("breaker: a probe that fails opens it again for the whole time", () => {
  const clock = new HandClock();
  const throttle = createBreakerThrottle({ minAttempts: 1, openFor: 1000, probes: 2, clock });
  attempt(throttle, "failed");
  for (let i = 0; i < 3; i++) {
    clock.time += 1000;
    const [one, other] = [begin(throttle), begin(throttle)];
    one.end(result("failed"));
    other.end(result("succeeded")); // began before it opened again
    assertEquals(throttle.acquire(), 1000);
  }
});

Deno.test("breaker: results of attempts that began before it opened are ignored", () => {
  const clock = new HandClock();
  const throttle = createBreakerThrottle({ minAttempts: 2, openFor: 1000, clock });
  const old = Array.from({ length: 10 }, () => begin(throttle));
  for (const permit of old.slice(0, 2)) permit.end(result("failed"));
  clock.time += 1000;
  const probe = begin(throttle);
  for (const permit of old.slice(2, 6)) permit.end(result("failed"));
  assertEquals(stateOf(throttle).startsWith("probing"), true);
  probe.end(result("succeeded"));
  for (const permit of old.slice(6)) permit.end(result("failed"));
  assertEquals([stateOf(throttle), throttle.snapshot!().inUse], ["closed", 0]);
});

Deno.test("breaker: with rampUp, the limit grows evenly to its earlier value", () => {
  const clock = new HandClock();
  const throttle = createBreakerThrottle({ minAttempts: 11, openFor: 1000, rampUp: 10_000, clock });
  const running = Array.from({ length: 11 }, () => begin(throttle));
  for (const permit of running) permit.end(result("failed"));
  clock.time += 1000;
  attempt(throttle, "succeeded");
  assertEquals([limitOf(throttle), stateOf(throttle)], [1, "closed, and ramping up for 10 s"]);
  const atOnce: number[] = [];
  const held: ReturnType<typeof begin>[] = [];
  for (let i = 0; i <= 10; i++) {
    for (;;) {
      const permit = throttle.acquire();
      if (typeof permit === "number") {
        assert(permit > 0 && permit <= 1000, String(permit));
        break;
      }
      held.push(permit);
      if (held.length > 20) break;
    }
    atOnce.push(held.length);
    clock.time += 1000;
  }
  assertEquals(atOnce, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 21]);
});

Deno.test("breaker: without rampUp, it has no limit after it closed", () => {
  const clock = new HandClock();
  const throttle = createBreakerThrottle({ minAttempts: 1, openFor: 1000, clock });
  attempt(throttle, "failed");
  clock.time += 1000;
  attempt(throttle, "succeeded");
  for (let i = 0; i < 100; i++) begin(throttle);
  assertEquals(limitOf(throttle), Infinity);
});

Deno.test("breaker: with fewer probes after a reload, it closes if enough have succeeded", () => {
  const clock = new HandClock();
  const config = (probes: number) => ({ type: "breaker", minAttempts: 1, openFor: "1s", probes });
  const loaded = loadConfig({ throttles: { api: config(3) }, queues: {} }, { clock });
  const throttle = loaded.throttle("api");
  attempt(throttle, "failed");
  clock.time += 1000;
  attempt(throttle, "succeeded", 2);
  loaded.reload({ throttles: { api: config(2) }, queues: {} });
  assertEquals(stateOf(throttle), "closed");
});
