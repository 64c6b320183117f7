/** Tests of the scripts of shared throttles, on a real server, under a clock that the test sets. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import * as fc from "fast-check";
import { createThrottleScripts, THROTTLE_SCRIPTS } from "../../packages/redis/scripts/throttle_script.ts";
import { redisTest, type SharedServer, uniqueName } from "./redis_tests.ts";
import { START, TimedServer } from "./timed_server.ts";

const LEASE = 3000;
const RESERVED = LEASE / 3;

type Reply = ReturnType<typeof THROTTLE_SCRIPTS.permits.read>;

/** Throttle on a server, used by processes that the test controls. */
class Bench {
  readonly prefix = `workqueue:{throttle:${uniqueName("permits")}}`;
  time = START;
  limit = 2;
  readonly #server: TimedServer;
  readonly #calls = new Map<string, number>();

  constructor(server: TimedServer) {
    this.#server = server;
  }

  pass(ms: number): void {
    this.time += ms * 1000;
  }

  /** Tells how many permits a process uses and wants. `nth` is the number of the call, by default a new one. */
  async call(process: string, using: number, wanted: number, nth?: number): Promise<Reply> {
    const calls = (this.#calls.get(process) ?? 0) + 1;
    if (nth === undefined) this.#calls.set(process, calls);
    const args = { process, leaseMs: LEASE, limit: this.limit, nth: nth ?? calls, using, wanted, expireMs: undefined };
    return THROTTLE_SCRIPTS.permits.read(await this.#run("permits", THROTTLE_SCRIPTS.permits.write(args)));
  }

  async granted(process: string, using: number, wanted: number): Promise<number> {
    return (await this.call(process, using, wanted)).granted;
  }

  async tokens(rate: number, burst: number, charged: number, wanted: number, process = "a", isResent = false) {
    const args = THROTTLE_SCRIPTS.tokens.write({
      process,
      rate,
      burst,
      charged,
      wanted,
      longestMs: 5000,
      expireMs: undefined,
    });
    args.push(isResent ? "1" : "0");
    return THROTTLE_SCRIPTS.tokens.read(await this.#run("tokens", args));
  }

  async stored(command: string, name: string, ...rest: string[]): Promise<unknown> {
    return await this.#server.call(command, `${this.prefix}:${name}`, ...rest);
  }

  #run(name: keyof typeof scripts, args: string[]): Promise<unknown> {
    return this.#server.call("EVAL", scripts[name].text, "2", `${this.prefix}:state`, `${this.time}`, ...args);
  }
}

const scripts = createThrottleScripts("{ 0, tonumber(KEYS[2]) }");

function permitsTest(name: string, run: (bench: Bench, server: SharedServer) => Promise<void>): void {
  redisTest(`permits: ${name}`, async (shared) => {
    await using server = await TimedServer.connect(shared.url);
    await run(new Bench(server), shared);
  });
}

permitsTest("no more permits are granted than the limit, and none until enough came back", async (bench) => {
  assertEquals(await bench.granted("a", 0, 5), 2);
  assertEquals(await bench.granted("b", 0, 1), 0);
  bench.limit = 1;
  assertEquals(await bench.granted("a", 1, 1), 0);
  assertEquals(await bench.granted("a", 1, 1), 0);
  assertEquals(await bench.granted("a", 0, 1), 1);
  bench.limit = 4;
  assertEquals(await bench.granted("a", 1, 5), 3);
});

permitsTest("a repeated call gets the same reply, and an outdated call changes nothing", async (bench) => {
  assertEquals(await bench.granted("a", 0, 1), 1);
  assertEquals((await bench.call("a", 0, 1, 1)).granted, 1);
  assertEquals(await bench.stored("HGET", "state", "used"), "1");
  assertEquals(await bench.granted("a", 1, 1), 1);
  assertEquals((await bench.call("a", 0, 1, 1)).granted, 0);
  assertEquals(await bench.stored("HGET", "state", "used"), "2");
});

permitsTest("a lost process keeps its permits for a lease, and a process that calls keeps them", async (bench) => {
  assertEquals(await bench.granted("lost", 0, 1), 1);
  assertEquals(await bench.granted("lives", 0, 1), 1);
  for (let i = 0; i < 3; i++) {
    assertEquals(await bench.granted("waits", 0, 1), 0);
    bench.pass(LEASE / 3 - 1);
    await bench.call("lives", 1, 0);
  }
  const { granted, waitMs } = await bench.call("waits", 0, 1);
  assertEquals(granted, 0);
  bench.pass(waitMs! + 0.01);
  assertEquals(await bench.granted("waits", 0, 2), 1);
  assertEquals(await bench.granted("lost", 1, 0), 0, "it was stopped, and goes on with what it has");
  assertEquals(await bench.stored("HGET", "state", "used"), "3");
});

permitsTest("after a gap without calls, each process has one more lease, but only once", async (bench) => {
  await bench.call("a", 0, 2);
  bench.pass(10 * LEASE);
  assertEquals(await bench.granted("b", 0, 1), 0);
  bench.pass(LEASE - 1);
  assertEquals(await bench.granted("b", 0, 1), 0, "this call ended another gap");
  bench.pass(2);
  assertEquals(await bench.granted("b", 0, 1), 1);
});

permitsTest("the clock of the server may go back", async (bench) => {
  await bench.call("a", 0, 2);
  bench.pass(-3_600_000);
  await bench.call("b", 0, 1);
  for (let i = 0; i < 4; i++) {
    bench.pass(LEASE / 3);
    await bench.call("b", 0, 1);
  }
  assertEquals(await bench.stored("HGET", "permits", "a"), null);
});

permitsTest("the process that asks first is served first, one permit at a time", async (bench, { url }) => {
  await using listeners = await listen(url, bench, "a", "b", "c");
  await bench.call("a", 0, 2);
  await bench.call("b", 0, 2);
  bench.pass(1);
  await bench.call("c", 0, 2);
  bench.pass(1);
  assertEquals(await bench.granted("a", 1, 5), 0, "the permit is reserved for b");
  assertEquals(await listeners.messages(1), ["b"]);
  assertEquals(await bench.granted("c", 0, 2), 0);
  assertEquals(await bench.granted("b", 0, 2), 1);
  assertEquals(await bench.granted("a", 0, 1), 0, "the permit is reserved for c");
  assertEquals(await bench.granted("a", 0, 1), 0);
  assertEquals(await bench.granted("c", 0, 2), 1);
  assertEquals(await listeners.messages(2), ["b", "c"]);
  assertEquals(await bench.granted("c", 0, 0), 0);
  assertEquals(await bench.granted("a", 0, 1), 1, "a is first, then b, then c");
  assertEquals(await listeners.messages(3), ["b", "c", "a"]);
});

permitsTest(
  "a reservation ends if the process doesn't call, and at once if the process has left",
  async (bench, { url }) => {
    await using _listeners = await listen(url, bench, "stopped");
    await bench.call("a", 0, 2);
    await bench.call("gone", 0, 1);
    await bench.call("stopped", 0, 1);
    bench.pass(1);
    assertEquals(await bench.granted("a", 1, 0), 0);
    const { granted, waitMs } = await bench.call("b", 0, 1);
    assertEquals([granted, Math.round(waitMs!)], [0, RESERVED]);
    bench.pass(RESERVED);
    assertEquals(await bench.granted("b", 0, 1), 1);
  },
);

permitsTest(
  "a process that needs no more permits leaves the line, and the next one is called",
  async (bench, { url }) => {
    await using listeners = await listen(url, bench, "b", "c");
    await bench.call("a", 0, 2);
    await bench.call("b", 0, 1);
    await bench.call("c", 0, 1);
    await bench.call("a", 1, 0);
    assertEquals(await listeners.messages(1), ["b"]);
    await bench.call("b", 0, 0);
    assertEquals(await listeners.messages(2), ["b", "c"]);
    assertEquals(await bench.granted("c", 0, 1), 1);
    for (const process of ["a", "c"]) await bench.call(process, 0, 0);
    assertEquals(await bench.stored("EXISTS", "permits"), 0);
    for (const name of ["leases", "line", "called"]) assertEquals(await bench.stored("EXISTS", name), 0, name);
  },
);

permitsTest("another version of the stored data is refused", async (bench) => {
  await bench.stored("HSET", "state", "format", "9");
  await assertRejects(() => bench.call("a", 0, 1), Error, "WQFORMAT Cannot use throttle");
  await assertRejects(() => bench.tokens(1, 1, 0, 1), Error, "WQFORMAT Cannot use throttle");
});

permitsTest("tokens are taken, charged and given back", async (bench) => {
  assertEquals(await bench.tokens(1, 5, 0, 3), { granted: 3, waitMs: undefined });
  assertEquals(await bench.tokens(1, 5, -1, 0), { granted: 0, waitMs: undefined });
  const { granted, waitMs } = await bench.tokens(1, 5, 10, 1); // 3 - 10 tokens
  assertEquals([granted, Math.round(waitMs!)], [0, 8000]);
  bench.pass(8001);
  assertEquals((await bench.tokens(1, 5, 0, 1)).granted, 1);
});

permitsTest("a repeated call gives tokens back only once, and takes tokens once more", async (bench) => {
  await bench.tokens(0, 5, 3, 0);
  await bench.tokens(0, 5, -1, 0);
  await bench.tokens(0, 5, -1, 0, "a", true);
  assertEquals((await bench.tokens(0, 5, 0, 9)).granted, 3);
  await bench.tokens(0, 5, 1, 0, "a", true);
  assertEquals(String(await bench.stored("HGET", "buckets", "tokens")).split(" ")[0], "-1");
});

permitsTest("the process that waits for a token first gets one first, even if others ask earlier", async (bench) => {
  const ask = (process: string, wanted = 5) => bench.tokens(1, 2, 0, wanted, process);
  const wait = async (process: string) => Math.round((await ask(process)).waitMs!);
  const granted = async (process: string, wanted?: number) => (await ask(process, wanted)).granted;
  assertEquals(await granted("a"), 2);
  assertEquals([await wait("b"), await wait("c")], [2000, 3000]);
  bench.pass(1100);
  assertEquals(await granted("c"), 0, "the token is that of a");
  assertEquals(await granted("b"), 0);
  assertEquals(await granted("a"), 1);
  assertEquals(await wait("a"), 2900, "now behind b and c");
  bench.pass(920);
  assertEquals([await granted("a"), await granted("c"), await granted("b")], [0, 0, 1]);
  assertEquals(await granted("b", 0), 0);
  assertEquals(await wait("a"), 1980, "b has left the line");
  bench.pass(1000);
  assertEquals([await granted("a"), await granted("c")], [0, 1]);
  assertEquals([await granted("c", 0), await granted("a", 0)], [0, 0]);
  for (const name of ["takers", "turns"]) assertEquals(await bench.stored("EXISTS", name), 0, name);
});

permitsTest("a process that doesn't call for its token in time loses its place", async (bench) => {
  await bench.tokens(1, 1, 1, 0);
  await bench.tokens(1, 1, 0, 1, "lost");
  assertEquals(Math.round((await bench.tokens(1, 1, 0, 1, "b")).waitMs!), 2000);
  bench.pass(1240);
  assertEquals((await bench.tokens(1, 1, 0, 1, "b")).granted, 0);
  bench.pass(20);
  assertEquals((await bench.tokens(1, 1, 0, 1, "b")).granted, 1);
  await bench.tokens(0, 1, 0, 1, "lost"); // no token will come
  bench.pass(5240);
  assertEquals(await bench.stored("ZCARD", "takers"), 1);
  bench.pass(20);
  await bench.tokens(0, 1, 0, 0);
  assertEquals(await bench.stored("ZCARD", "takers"), 0);
});

/** Operation of a process: it takes and ends attempts, or is lost. */
type Step = { process: number; wanted: number; ends: number; ms: number; isLost: boolean; isRepeated: boolean };

permitsTest("random processes never exceed the limit, and permits of lost processes come back", async (_, { url }) => {
  await using server = await TimedServer.connect(url);
  const step: fc.Arbitrary<Step> = fc.record({
    process: fc.nat(3),
    wanted: fc.nat(3),
    ends: fc.nat(3),
    ms: fc.nat(LEASE / 4),
    isLost: fc.nat(9).map((n) => n === 0),
    isRepeated: fc.nat(5).map((n) => n === 0),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), async (steps, limit) => {
      const bench = new Bench(server);
      bench.limit = limit;
      const using = [0, 0, 0, 0];
      const wants = [0, 0, 0, 0];
      const names = ["p0", "p1", "p2", "p3"];
      const heard = [0, 0, 0, 0].map(() => bench.time);
      let lost = 0;
      const call = async (i: number) => {
        const reply = await bench.call(names[i]!, using[i]!, wants[i]!);
        heard[i] = bench.time;
        return reply;
      };
      for (const { process: i, wanted, ends, ms, isLost, isRepeated } of steps) {
        bench.pass(ms);
        // All living processes renew in time.
        for (const j of using.keys()) {
          if (bench.time - heard[j]! > LEASE * 1000 / 3) using[j]! += (await call(j)).granted;
        }
        if (isLost) {
          names[i] = `p${i}.${++lost}`; // a new process takes its place; the permits of the lost come back in time
          using[i] = wants[i] = 0;
          continue;
        }
        using[i] = Math.max(using[i]! - ends, 0);
        wants[i] = wanted;
        const { granted } = await call(i);
        if (isRepeated) {
          const again = await bench.call(names[i]!, using[i]!, wants[i]!, Number(await nthOf(bench, names[i]!)));
          if (using[i]! + wants[i]! > 0) assertEquals(again.granted, granted);
        }
        using[i]! += granted;
        const sum = using.reduce((a, b) => a + b);
        assert(sum <= limit, `${using} of ${limit}`);
      }
      // In the end, nothing has leaked.
      for (const i of using.keys()) {
        using[i] = wants[i] = 0;
        await call(i);
      }
      for (let i = 0; i < 7; i++) {
        bench.pass(LEASE / 3);
        await bench.call("last", 0, 1);
        await bench.call("last", 0, 0);
      }
      assertEquals((await bench.call("last", 0, 9)).granted, limit);
    }),
    { numRuns: 150, seed: 3 },
  );
});

async function nthOf(bench: Bench, process: string): Promise<string> {
  return String(await bench.stored("HGET", "permits", process) ?? "0 0").split(" ")[1]!;
}

/** Subscribes as processes do. `messages` returns the processes that got messages, in order, once there are enough. */
async function listen(url: string, bench: Bench, ...processes: string[]) {
  const { createClient } = await import("@redis/client");
  const client = createClient({ url });
  await client.connect();
  const got: string[] = [];
  for (const process of processes) {
    await client.subscribe(`${bench.prefix}:turn:${process}`, () => void got.push(process));
  }
  return {
    async messages(count: number): Promise<string[]> {
      while (got.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
      return got;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
