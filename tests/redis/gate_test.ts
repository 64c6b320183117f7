/** Tests of the gates of shared throttles, without a server. The test answers the calls. */

import { assertEquals } from "@std/assert";
import { RedisConnectionError } from "@workqueue/redis";
import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "../../packages/redis/connection/connection.ts";
import { createGate, type Gate } from "../../packages/redis/gate.ts";
import { createThrottleScripts } from "../../packages/redis/scripts/throttle_script.ts";

interface Bench {
  readonly gate: Gate;
  /** Arguments of the calls so far. */
  readonly calls: (readonly (string | number)[])[];
  answer(reply: unknown): Promise<void>;
  fail(mayHaveRun: boolean): Promise<void>;
}

/** Opens a gate of a bucket with a rate of 1 and a burst of 5. */
function open(): Bench {
  const calls: Bench["calls"] = [];
  let settle: { resolve(reply: unknown): void; reject(error: unknown): void };
  const run: Connection["run"] = (_script, _key, args) => {
    calls.push(args);
    return new Promise((resolve, reject) => settle = { resolve, reject });
  };
  const gate = createGate({ kind: "tokens", prefix: "api", values: { rate: 1, burst: 5 }, countsCosts: true }, {
    connection: { run } as Connection,
    scripts: createThrottleScripts(),
    process: "me",
    leaseDuration: 30_000,
    onError() {},
    onChange() {},
  });
  return {
    gate,
    calls,
    async answer(reply) {
      settle.resolve(reply);
      await delay(0);
    },
    async fail(mayHaveRun) {
      settle.reject(new RedisConnectionError("gone", { mayHaveRun }));
      await delay(0);
    },
  };
}

/** Reply of the server: the number of granted tokens, and the time until the next one in milliseconds. */
const reply = (granted: number, waitMs: number) => [granted, waitMs * 1000];

Deno.test("gate: a bucket is asked again if the pool stopped waiting during a call", async () => {
  const { gate, calls, answer } = open();
  gate.want(1);
  await delay(0);
  assertEquals(calls.map((args) => args[4]), ["1"]);
  gate.want(0);
  await answer(reply(0, 60_000));
  assertEquals(calls.map((args) => args[4]), ["1", "0"], "the server learns that nobody waits");
  await answer(reply(0, 0));
  gate.want(1);
  await delay(0);
  assertEquals(calls.map((args) => args[4]), ["1", "0", "1"]);
  await answer(reply(1, 0));
  assertEquals(gate.stock, 1);
});

Deno.test("gate: tokens are charged until the server has answered, and given back at most once", async () => {
  for (const [mayHaveRun, back] of [[true, "0"], [false, "-1"]] as const) {
    const { gate, calls, answer, fail } = open();
    gate.end(true); // an attempt that did not begin
    await delay(0);
    await fail(mayHaveRun);
    gate.reconnected();
    assertEquals(calls.map((args) => args[3]), ["-1", back]);
    await answer(reply(0, 0));
    gate.charge(7);
    await delay(0);
    await fail(mayHaveRun);
    gate.reconnected();
    assertEquals(calls.slice(2).map((args) => args[3]), ["7", "7"]);
    await answer(reply(0, 0));
  }
});
