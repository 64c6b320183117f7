/** Tests of the gates of shared throttles. The test answers the calls. */

import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import type { PermitsRequest, ThrottleStore, TokensReply, TokensRequest } from "@workqueue/engine";
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
    onExpired() {},
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
    gate.charge(-7);
    await delay(0);
    await fail(mayHaveRun);
    gate.reconnected();
    assertEquals(calls.slice(4).map(({ charged }) => charged), [-7, 7 * back || 0]);
    await answer(reply(0, 0));
  }
});

Deno.test("gate: permits that are not renewed expire one lease after the latest call that succeeded was sent", async () => {
  using time = new FakeTime();
  const { now } = performance;
  performance.now = () => Date.now();
  try {
    let isCutOff = false;
    let expired = 0;
    const begin = Date.now();
    const passTo = async (end: number) => {
      while (Date.now() - begin < end) await time.tickAsync(Math.min(end - (Date.now() - begin), 10));
    };
    const requests: [at: number, using: number][] = [];
    const store = {
      permits(_id: string, { using, wanted }: PermitsRequest) {
        requests.push([Date.now() - begin, using]);
        if (isCutOff) return Promise.reject(new Error("cut off"));
        return new Promise((resolve) => setTimeout(() => resolve({ granted: wanted, left: 0, waitMs: undefined }), 50));
      },
      listen: () => Promise.resolve(() => {}),
      onReconnect: () => () => {},
    };
    const gate = createGate({ kind: "permits", id: "api", values: { limit: 2 } }, {
      store: store as unknown as ThrottleStore,
      process: "me",
      leaseDuration: 3000,
      onError() {},
      onChange() {},
      onExpired: () => void expired++,
    });
    gate.want(2);
    await passTo(100);
    assertEquals([gate.stock, gate.hasStock()], [2, true]);
    gate.take();
    await passTo(3100);
    const [latest] = requests.findLast(([, using]) => using === 2)!;
    assertEquals(expired, 0, "it is renewed");
    isCutOff = true;
    await passTo(latest + 3000 - 1);
    assertEquals([expired, gate.hasStock()], [0, true]);
    await passTo(latest + 3000);
    assertEquals([expired, gate.hasStock(), gate.stock], [1, false, 0], "no attempt begins with a permit of the past");
    isCutOff = false;
    gate.reconnected();
    await passTo(latest + 5000);
    assertEquals(expired, 1, "the attempt that runs counts again, and is told once");
    gate.end(false);
    const closed = gate.close();
    await passTo(latest + 5100);
    await closed;
  } finally {
    performance.now = now;
  }
});
