/** Tests of the gates of shared throttles. The test answers the calls. */

import { assertEquals } from "@std/assert";
import type { ThrottleStore, TokensReply, TokensRequest } from "@workqueue/engine";
import { setTimeout as delay } from "node:timers/promises";
import { createGate, type Gate } from "../../packages/engine/gate.ts";

interface Bench {
  readonly gate: Gate;
  /** Calls so far. */
  readonly calls: TokensRequest[];
  answer(reply: TokensReply): Promise<void>;
  fail(mayHaveRun: boolean): Promise<void>;
}

/** Opens a gate of a bucket with a rate of 1 and a burst of 5. */
function open(): Bench {
  const calls: TokensRequest[] = [];
  let settle: { resolve(reply: TokensReply): void; reject(error: unknown): void };
  const store = {
    tokens(_id: string, request: TokensRequest): Promise<TokensReply> {
      calls.push(request);
      return new Promise((resolve, reject) => settle = { resolve, reject });
    },
  };
  const gate = createGate({ kind: "tokens", id: "api", values: { rate: 1, burst: 5 }, countsCosts: true }, {
    store: store as ThrottleStore,
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
      settle.reject(Object.assign(new Error("gone"), { mayHaveRun }));
      await delay(0);
    },
  };
}

/** Reply: the number of granted tokens, and the time until the next one in milliseconds. */
const reply = (granted: number, waitMs: number): TokensReply => ({ granted, waitMs });

Deno.test("gate: a bucket is asked again if the pool stopped waiting during a call", async () => {
  const { gate, calls, answer } = open();
  gate.want(1);
  await delay(0);
  assertEquals(calls.map(({ wanted }) => wanted), [1]);
  gate.want(0);
  await answer(reply(0, 60_000));
  assertEquals(calls.map(({ wanted }) => wanted), [1, 0], "the server learns that nobody waits");
  await answer(reply(0, 0));
  gate.want(1);
  await delay(0);
  assertEquals(calls.map(({ wanted }) => wanted), [1, 0, 1]);
  await answer(reply(1, 0));
  assertEquals(gate.stock, 1);
});

Deno.test("gate: tokens are charged until the server has answered, and given back at most once", async () => {
  for (const [mayHaveRun, back] of [[true, 0], [false, -1]] as const) {
    const { gate, calls, answer, fail } = open();
    gate.end(true); // an attempt that did not begin
    await delay(0);
    await fail(mayHaveRun);
    gate.reconnected();
    assertEquals(calls.map(({ charged }) => charged), [-1, back]);
    await answer(reply(0, 0));
    gate.charge(7);
    await delay(0);
    await fail(mayHaveRun);
    gate.reconnected();
    assertEquals(calls.slice(2).map(({ charged }) => charged), [7, 7]);
    await answer(reply(0, 0));
  }
});
