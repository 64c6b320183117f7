/**
 * What the engine on Redis promises beside what a queue in memory does: tokens, owners whose leases end, keys that are
 * handed out alone, and backlogs that are larger than what one call moves. At times that the test sets.
 */

import { assert, assertEquals } from "@std/assert";
import { createDelayingQueue } from "@workqueue/core";
import * as fc from "fast-check";
import process from "node:process";
import type { Finish } from "../../packages/redis/engine.ts";
import { HandClock } from "../helpers.ts";
import { Bench, engineTest, keysOf, LEASE } from "./bench.ts";
import { redisTest } from "./redis_tests.ts";
import { TimedServer } from "./timed_server.ts";

const given = process.env["WORKQUEUE_RUNS"];
const RUNS = Number(given ?? 400);

/** Lets the one owner who holds something lose it. Nobody holds it then. */
async function lose(bench: Bench): Promise<void> {
  await bench.pass(LEASE + 1);
  await bench.take("reaper");
  await bench.engine.release("reaper", []);
}

// ---- Tokens and time

engineTest("tokens grow, also when the server's clock goes back or stands still", async (bench) => {
  const tokens: bigint[] = [];
  for (const step of [0, 0, -3_600_000, 0, 1, -1, 7_200_000, 0]) {
    bench.jump(step);
    await bench.add("a", "b");
    const { taken } = await bench.take("o", 2);
    tokens.push(...taken.map(({ token }) => BigInt(token)));
    await bench.turn("o", taken.map(({ key, token }) => ({ key, token, kind: "done" })));
  }
  assertEquals(tokens.length, 16);
  for (const [i, token] of tokens.entries()) assert(i === 0 || token > tokens[i - 1]!);
});

engineTest("what is due is due by the server's clock, and adds keep their order when that goes back", async (bench) => {
  await bench.addAfter(1000, "later");
  await bench.add("first");
  bench.jump(-60_000);
  await bench.add("second");
  assertEquals(keysOf(await bench.take("o", 3)), ["first", "second"]);
  await bench.pass(60_999);
  assertEquals(keysOf(await bench.take("o", 3, 2)), []);
  await bench.pass(2);
  assertEquals(keysOf(await bench.take("o", 3, 2)), ["later"]);
});

engineTest("what is due at the same microsecond comes in the order of the adds, whatever the names", async (bench) => {
  // The time of the queue grows by one with each look and by one with each add.
  for (const [i, key] of ["d", "b", "c", "a"].entries()) await bench.addAfter(10 - i * 0.002, key);
  const { waitingEntries } = await bench.engine.contents(10);
  assertEquals(new Set(waitingEntries.map(({ dueIn }) => dueIn)).size, 4, "each has a time of its own");
  await bench.pass(11);
  assertEquals(keysOf(await bench.take("o", 4)), ["d", "b", "c", "a"]);
});

engineTest("a token that is over changes nothing, however the work is said to have ended", async (bench) => {
  const kinds = ["done", "succeeded", "requeueAfter", "retry", "handedBack", "givenUp"] as const;
  await bench.add("a");
  const { taken: [first] } = await bench.take("o");
  assert(await bench.finish("a", first!.token, "retry"));
  await bench.add("a");
  const { taken: [second] } = await bench.take("o");
  assert(Number(second!.token) > Number(first!.token));
  for (const kind of kinds) {
    assertEquals(await bench.finish("a", first!.token, kind), false);
    assertEquals(await bench.finish("b", second!.token, kind), false);
    assertEquals(await bench.engine.stats(), { ready: 0, waiting: 1, held: 1, failing: 1, givenUp: 0 });
  }
  assertEquals(await bench.finish("a", second!.token), true);
});

engineTest("an end that is told again is answered as the first time, unless the lease was lost", async (bench) => {
  await bench.add("a", "b");
  const { taken: [a, b] } = await bench.take("o", 2);
  assertEquals(await bench.finish("a", a!.token, "retry"), true);
  bench.isResent = true;
  assertEquals(await bench.finish("a", a!.token, "retry"), true);
  assertEquals(await bench.engine.numRequeues("a"), 1, "it is counted once");
  await lose(bench);
  assertEquals(await bench.finish("b", b!.token), false);
});

// ---- Leases

engineTest(
  "a lease ends when it is not renewed; then the key comes back to its place, and the late end is refused",
  async (bench) => {
    await bench.add("a", "b");
    const { taken: [a] } = await bench.take("gone");
    await bench.pass(LEASE - 1);
    assertEquals(await bench.engine.renew("gone"), true);
    await bench.pass(LEASE - 1);
    assertEquals(keysOf(await bench.take("o", 2)), ["b"]);
    await bench.pass(LEASE / 20 + 1); // as often it is looked for what is over
    await bench.add("c");
    await bench.engine.renew("o"); // as it does while it works
    assertEquals(await bench.engine.stats(), { ready: 1, waiting: 0, held: 2, failing: 0, givenUp: 0 });
    const { taken: [again] } = await bench.take("third");
    assertEquals([again!.key, again!.payload], ["a", undefined]);
    assertEquals(await bench.finish("a", a!.token), false);
    assertEquals(await bench.finish("a", again!.token), true);
    assertEquals(await bench.engine.renew("gone"), false);
    assertEquals((await bench.take("gone", 1, 1)).isLost, true, "who thinks to hold something learns that it is lost");
    assertEquals(keysOf(await bench.take("gone")), ["c"], "and goes on as one who holds nothing");
  },
);

engineTest("only a take ends leases, and none within a lease after the server was away", async (bench) => {
  await bench.add("a");
  await bench.take("gone");
  bench.jump(LEASE + 1);
  await bench.add("b");
  await bench.engine.stats();
  await bench.engine.release("o", []);
  await bench.turn("o", []);
  const { taken: [b] } = await bench.take("o");
  assertEquals(b!.key, "b");
  await bench.pass(LEASE / 2);
  assertEquals(keysOf(await bench.take("o", 1, 1)), []);
  assertEquals(await bench.engine.stats(), { ready: 0, waiting: 0, held: 2, failing: 0, givenUp: 0 });
  assertEquals(await bench.engine.renew("gone"), true, "nobody has ended it");
  await bench.finish("b", b!.token);
  await bench.pass(LEASE + 1);
  assertEquals(await bench.engine.stats(), { ready: 0, waiting: 0, held: 1, failing: 0, givenUp: 0 });
  assertEquals(keysOf(await bench.take("o")), ["a"]);
});

engineTest("what was added again meanwhile comes once, and is not lost with its holder", async (bench) => {
  await bench.add("a");
  await bench.take("gone");
  await bench.add("a", "b");
  await lose(bench);
  assertEquals(keysOf(await bench.take("o")), ["a"]);
  assertEquals((await bench.engine.stats()).held, 1);
});

engineTest("what an owner holds without knowing goes back to its place, which is no lapse", async (bench) => {
  await bench.add("a", "b", "c");
  const { taken: [a] } = await bench.take("o");
  await bench.take("o", 1, 1); // the reply is lost: b
  await bench.engine.release("o", [a!.token]);
  assertEquals((await bench.engine.stats()).held, 1);
  const { taken } = await bench.take("o", 5, 1);
  assertEquals(taken.map(({ key }) => key), ["b", "c"]);
  assertEquals(await bench.stored("HLEN", "marks"), 0);
  assertEquals(await bench.finish("a", a!.token), true);
});

engineTest("an owner who leaves gives back what it holds all the same, which is no lapse", async (bench) => {
  await bench.add("a", "b");
  const { taken: [a] } = await bench.take("o");
  await bench.engine.leave("process of o", "o");
  assertEquals(await bench.finish("a", a!.token), false);
  assertEquals(await bench.stored("ZSCORE", "owners", "o"), null);
  assertEquals(keysOf(await bench.take("other", 2)), ["a", "b"]);
  assertEquals(await bench.stored("HLEN", "marks"), 0);
});

// ---- Poison

engineTest("what has lapsed is handed out to who holds nothing, and nothing beside it", async (bench) => {
  await bench.add("poison", "a", "b", "c");
  assertEquals(keysOf(await bench.take("gone", 2)), ["poison", "a"]);
  await bench.add("d");
  const busy = await bench.take("busy");
  assertEquals(keysOf(busy), ["b"]);
  await bench.pass(LEASE + 1);
  await bench.engine.renew("busy");
  const duty = await bench.take("busy", 5, 1);
  assertEquals([keysOf(duty), duty.isAlone], [[], true], "the next is a suspect, and this owner holds something");
  const alone = await bench.take("idle", 5);
  assertEquals([keysOf(alone).length, alone.isAlone], [1, true]);
  assert(["poison", "a"].includes(keysOf(alone)[0]!));
  const second = await bench.take("idle too", 5);
  assertEquals(new Set([...keysOf(alone), ...keysOf(second)]), new Set(["poison", "a"]));
  assertEquals(keysOf(await bench.take("busy", 5, 1)), ["c", "d"], "the others come then");
});

engineTest("any end of the work but an early return clears a key of its lapses", async (bench) => {
  for (const kind of ["done", "succeeded", "retry", "requeueAfter", "givenUp"] as const) {
    await bench.add("a");
    await bench.take("gone");
    await lose(bench);
    assertEquals(await bench.stored("HGET", "marks", "a"), "1");
    const { taken: [a] } = await bench.take("o");
    assertEquals(await bench.finish("a", a!.token, kind), true);
    assertEquals(await bench.stored("HGET", "marks", "a"), kind === "givenUp" ? "x0" : null);
    await bench.engine.cancelAfter("a");
  }
});

engineTest("work that was not begun clears nothing", async (bench) => {
  await bench.add("a");
  await bench.take("gone");
  await lose(bench);
  const { taken: [a] } = await bench.take("o");
  await bench.add("b");
  assertEquals(await bench.finish("a", a!.token, "handedBack"), true);
  const { taken: [b], isAlone } = await bench.take("o");
  assertEquals([b!.key, isAlone], ["b", false], "it is behind what came before");
  await bench.finish("b", b!.token);
  assertEquals((await bench.take("o")).isAlone, true, "it is a suspect still");
});

engineTest("what was added again is not given up with its holder", async (bench) => {
  await bench.add("a");
  await bench.take("gone");
  await bench.add("a");
  await bench.pass(LEASE + 1);
  const reply = await bench.take("o");
  assertEquals([keysOf(reply), reply.lapsed, reply.isAlone], [["a"], [], true]);
}, { maxLapses: 1 });

engineTest("a key is given up after so many lapses, and its neighbours are not; an add revives it", async (bench) => {
  await bench.add("poison", "neighbour");
  await bench.engine.addRateLimited({ key: "poison", payload: "" }, true, "", 0);
  await bench.engine.cancelAfter("poison");
  const first = await bench.take("owner 0", 2);
  assertEquals(keysOf(first), ["poison", "neighbour"]);
  const lapsed: string[] = [];
  for (let lapse = 1; lapse <= 4; lapse++) {
    await bench.pass(LEASE + 1);
    // One owner after the other is killed by it; the neighbour is worked on to its end.
    for (let turn = 0; turn < 3; turn++) {
      const owner = `owner ${lapse}-${turn}`;
      const reply = await bench.take(owner, 5);
      lapsed.push(...reply.lapsed);
      const [taken] = reply.taken;
      if (taken?.key === "neighbour") assertEquals(await bench.finish(taken.key, taken.token), true);
    }
  }
  assertEquals(lapsed, ["poison"]);
  assertEquals(await bench.engine.stats(), { ready: 0, waiting: 0, held: 0, failing: 0, givenUp: 1 });
  assertEquals(
    JSON.parse(await bench.stored("HGET", "reasons", "poison") as string)[0],
    "Each of its holders was lost: 3",
  );
  await bench.addAfter(1000, "poison");
  assertEquals((await bench.engine.stats()).givenUp, 1, "until it is due");
  await bench.pass(1001);
  assertEquals((await bench.engine.stats()).givenUp, 0);
  const again = await bench.take("o", 5);
  assertEquals([keysOf(again), again.isAlone], [["poison"], true], "it is a suspect still");
  assertEquals(await bench.stored("EXISTS", "reasons"), 0);
}, { maxLapses: 3 });

engineTest("what a handler gave up is kept with the reason and payload, unless it comes anyway", async (bench) => {
  await bench.add("a", "b", "c");
  const { taken } = await bench.take("o", 3);
  await bench.add("b");
  await bench.addAfter(1000, "c");
  const ends = taken.map(({ key, token }) => ({ key, token, kind: "givenUp" as const, reason: `why ${key}` }));
  assertEquals((await bench.turn("o", ends)).answers, [true, true, true]);
  assertEquals(await bench.engine.stats(), { ready: 1, waiting: 1, held: 0, failing: 0, givenUp: 1 });
  assertEquals(await bench.stored("HGETALL", "reasons"), ["a", JSON.stringify(["why a", "of a"])]);
  assertEquals(await bench.stored("HEXISTS", "items", "a"), 0);
  await bench.add("a");
  const [again] = (await bench.take("o", 2)).taken.slice(1);
  assertEquals([again!.key, again!.payload], ["a", "of a"]);
  assertEquals((await bench.engine.stats()).givenUp, 0);
}, { hasItems: true });

// ---- Backlogs

const MANY = 450;

engineTest("counts and lists have all that is due, though a call moves only a part of it", async (bench) => {
  const count = 2 * MANY;
  const keys = Array.from({ length: count }, (_, i) => `${i * 7919 % count}`);
  for (const [i, key] of keys.entries()) await bench.addAfter(1000 + i, key);
  await bench.addAfter(60_000, "later");
  await bench.pass(30_000);
  assertEquals(await bench.engine.cancelAfter(keys.at(-1)!), false, "what is due does not wait");
  const stats = await bench.engine.stats();
  assertEquals([stats.ready, stats.waiting], [count, 1]);
  const { ready, waiting, readyEntries, waitingEntries } = await bench.engine.contents(1000);
  assertEquals([ready, waiting, waitingEntries.length], [count, 1, 1]);
  assertEquals(readyEntries.map(({ key }) => key), keys);
});

engineTest("what is held and due, and not moved yet, comes when it is done, behind what is due", async (bench) => {
  await bench.add("held");
  const { taken: [held] } = await bench.take("o");
  for (let i = 0; i < MANY; i++) await bench.addAfter(1000 + i, `${i}`);
  await bench.addAfter(2000, "held");
  await bench.addAfter(2001, "last");
  await bench.pass(30_000);
  assertEquals(await bench.finish("held", held!.token, "done"), true);
  await bench.engine.stats();
  await bench.engine.stats();
  assertEquals(keysOf(await bench.take("o", MANY + 2)).slice(-2), ["last", "held"]);
});

engineTest("nothing overtakes what is due and not moved yet, also where all that was moved is held", async (bench) => {
  const keys = Array.from({ length: MANY }, (_, i) => `${i}`);
  await bench.add(...keys);
  await bench.take("o", MANY);
  for (const [i, key] of keys.entries()) await bench.addAfter(1000 + i, key);
  await bench.addAfter(2000, "due");
  await bench.pass(LEASE - 1000);
  await bench.add("new");
  const early = await bench.take("other", 1);
  assertEquals([keysOf(early), early.pause], [[], 0]);
  assertEquals(keysOf(await bench.take("other", 2)), ["due", "new"]);
});

for (const whileWaiting of ["keep", "replace"] as const) {
  const settings = { replaces: whileWaiting === "replace" };
  engineTest(`while more is due than a call moves, all comes as in memory: ${whileWaiting}`, async (bench) => {
    const clock = new HandClock();
    const memory = createDelayingQueue<string>({ clock, maxWait: 1e9, whileWaiting });
    const both = async (delay: number, ...keys: string[]) => {
      for (const key of keys) memory.addAfter(key, delay);
      await bench.addAfter(delay, ...keys);
    };
    const pass = async (ms: number) => {
      const end = clock.time + ms;
      while (clock.fireNext(end));
      clock.time = end;
      await bench.pass(ms);
    };
    const bothTake = async (wanted: number) => {
      const leases = Array.from({ length: wanted }, () => memory.tryGet()).filter((lease) => lease !== undefined);
      const { taken } = await bench.take("o", wanted);
      assertEquals(taken.map(({ key }) => key), leases.map(({ item }) => item));
      return async () => {
        for (const lease of leases) lease[Symbol.dispose]();
        await bench.turn("o", taken.map(({ key, token }) => ({ key, token, kind: "done" })));
      };
    };
    await both(0, "held and due");
    const end = await bothTake(1);
    for (let i = 0; i < MANY; i++) await both(1000 + i, `${i * 7919 % MANY}`);
    await both(2000, "held and due");
    await both(60_000, "twice");
    await pass(30_000);
    for (let i = 0; i < 12; i++) {
      await both(0, `new ${12 - i}`, `${i * 40}`, "twice"); // something new, something due, something that waits
      await both(20_000, `${(MANY - 1 - i) * 7919 % MANY}`, `new ${12 - i}`); // something due, something ready
      if (i === 2) await end();
      await (await bothTake(40))();
    }
    await pass(60_000);
    await (await bothTake(100))();
    assertEquals([memory.length, memory.waiting], [0, 0]);
    assertEquals(await bench.engine.stats(), { ready: 0, waiting: 0, held: 0, failing: 0, givenUp: 0 });
  }, settings);
}

// ---- Everything at once

const OWNERS = ["one", "two", "three"];
const KEYS = ["a", "b", "c", "d", "e", "f"];
const owner = fc.constantFrom(...OWNERS);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("add"), key: fc.constantFrom(...KEYS) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("addAfter"), key: fc.constantFrom(...KEYS), ms: fc.nat(20_000) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("take"), owner, wanted: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("finish"),
      which: fc.nat(9),
      kind: fc.constantFrom("succeeded", "succeeded", "done", "retry", "handedBack"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("finishOld"), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("renew"), owner }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("loseReply"), owner, isNoticed: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("pass"), ms: fc.integer({ min: 1, max: LEASE }) }) },
) as fc.Arbitrary<Step>;
type Step =
  | { do: "add"; key: string }
  | { do: "addAfter"; key: string; ms: number }
  | { do: "take"; owner: string; wanted: number }
  | { do: "renew"; owner: string }
  | { do: "loseReply"; owner: string; isNoticed: boolean }
  | { do: "finish"; which: number; kind: Finish["kind"] }
  | { do: "finishOld"; which: number }
  | { do: "pass"; ms: number };

interface Hold {
  readonly owner: string;
  readonly key: string;
  readonly token: string;
  /** How many adds there had been. */
  readonly adds: number;
  isOver: boolean;
  /** Whether its owner was told that it has lost all. It counts still until it is taken away. */
  isLost?: boolean;
}

/** Several owners who do what they like, and what has to hold whatever that is. */
class Owners {
  /** All that was ever handed out. */
  readonly holds: Hold[] = [];
  /** When the lease of each ends, in the server's time. */
  readonly #ends = new Map<string, number>();
  /** The keys that have to be handed out still, by the number of the last add. */
  readonly #owed = new Map<string, number>();
  #adds = 0;
  givenUp = 0;

  constructor(readonly bench: Bench) {}

  async do(step: Step): Promise<void> {
    const { bench } = this;
    bench.time += 100; // more than the time of the queue grows by in a call
    switch (step.do) {
      case "add":
      case "addAfter":
        this.#owed.set(step.key, ++this.#adds);
        return step.do === "add" ? await bench.add(step.key) : await bench.addAfter(step.ms, step.key);
      case "take":
        return await this.take(step.owner, step.wanted);
      case "finish": {
        const current = this.holds.filter(({ isOver }) => !isOver);
        return await this.finish(current[step.which % current.length], step.kind);
      }
      case "finishOld":
        return await this.finish(this.holds[step.which % this.holds.length], "succeeded");
      case "renew": {
        const isThere = await bench.engine.renew(step.owner);
        if (this.#isAlive(step.owner) && this.#heldBy(step.owner).length > 0) {
          assert(isThere, "a lease that is not over can be renewed");
        }
        if (isThere) this.#ends.set(step.owner, bench.time + LEASE * 1000);
        return;
      }
      case "loseReply": {
        const known = this.#heldBy(step.owner);
        const { isLost, taken, lapsed } = await bench.take(step.owner, 2, known.length);
        this.#giveUp(lapsed);
        if (isLost) return this.#forget(step.owner);
        if (taken.length > 0) this.#ends.set(step.owner, bench.time + LEASE * 1000);
        if (step.isNoticed) await bench.engine.release(step.owner, known.map(({ token }) => token));
        return;
      }
      case "pass":
        await bench.pass(step.ms);
    }
  }

  async take(owner: string, wanted: number): Promise<void> {
    const { bench } = this;
    const held = this.#heldBy(owner);
    const { taken, isLost, isAlone, lapsed } = await bench.take(owner, wanted, held.length);
    this.#giveUp(lapsed);
    if (isLost) {
      assert(!this.#isAlive(owner), "nothing is taken away before the lease is over");
      return this.#forget(owner);
    }
    assert(taken.length <= wanted);
    if (isAlone && taken.length > 0) assertEquals([taken.length, held.length], [1, 0], "a suspect is alone");
    for (const { key, token } of taken) {
      for (const other of this.holds) {
        assert(Number(token) > Number(other.token), "tokens grow");
        if (other.key !== key || (other.isOver && !other.isLost)) continue;
        assert(other.isLost || !this.#isAlive(other.owner), "no two owners hold a key whose leases are not over");
        other.isOver = true;
        other.isLost = false;
      }
      this.holds.push({ owner, key, token, adds: this.#adds, isOver: false });
    }
    if (taken.length > 0) this.#ends.set(owner, bench.time + LEASE * 1000);
  }

  async finish(hold: Hold | undefined, kind: Finish["kind"]): Promise<void> {
    if (hold === undefined) return;
    const isNewest = hold === this.holds.findLast(({ key }) => key === hold.key);
    const counts = await this.bench.finish(hold.key, hold.token, kind);
    if (hold.isOver && !hold.isLost) assertEquals(counts, false, "what is over does not count");
    else if (!hold.isLost && this.#isAlive(hold.owner)) assertEquals(counts, true, "what is held counts");
    hold.isOver = true;
    hold.isLost = false;
    if (!counts) return;
    assert(isNewest, "only the newest token of a key counts");
    const isFinal = kind === "succeeded" || kind === "done";
    if (isFinal && hold.adds >= (this.#owed.get(hold.key) ?? 0)) this.#owed.delete(hold.key);
  }

  /** Nobody comes back, and one who is left works on all there is. Nothing that was added is lost. */
  async end(): Promise<void> {
    let left = Infinity;
    for (let round = 0; round < 100 && left > 0; round++) {
      await this.bench.pass(LEASE + 1);
      await this.take("survivor", 5);
      for (const hold of this.#heldBy("survivor")) await this.finish(hold, "succeeded");
      const { ready, waiting, held } = await this.bench.engine.stats();
      left = ready + waiting + held;
    }
    assertEquals(left, 0, "all has ended");
    assertEquals([...this.#owed.keys()], [], "what was added was handed out, or given up");
    for (const name of ["marks", "holders", "waiting", "suspects"]) {
      if (name !== "marks" || this.givenUp === 0) assertEquals(await this.bench.stored("EXISTS", name), 0, name);
    }
  }

  #giveUp(keys: readonly string[]): void {
    this.givenUp += keys.length;
    for (const key of keys) this.#owed.delete(key);
  }

  #heldBy(owner: string): Hold[] {
    return this.holds.filter((hold) => hold.owner === owner && !hold.isOver);
  }

  #isAlive(owner: string): boolean {
    return (this.#ends.get(owner) ?? 0) > this.bench.time;
  }

  #forget(owner: string): void {
    for (const hold of this.#heldBy(owner)) hold.isOver = hold.isLost = true;
  }
}

redisTest(
  "engine: whatever owners do, no key has two of them, none is lost, and what is over does not count",
  async ({ url }) => {
    await using server = await TimedServer.connect(url);
    let [holds, givenUp] = [0, 0];
    const run = async (seed: number) => {
      const property = fc.asyncProperty(fc.array(step, { maxLength: 70, size: "max" }), async (steps) => {
        const bench = new Bench(server, { maxLapses: 2 });
        const owners = new Owners(bench);
        try {
          for (const each of steps) await owners.do(each);
          await owners.end();
        } finally {
          await server.clear(bench.name);
        }
        holds += owners.holds.length;
        givenUp += owners.givenUp;
      });
      await fc.assert(property, { numRuns: Math.ceil(RUNS / 4), ...given === undefined && { seed } });
    };
    await Promise.all([1, 2, 3, 4].map(run)); // together, as most of the time is waiting for the server
    assert(holds >= RUNS * 5 && givenUp >= RUNS / 20, `${holds} holds, ${givenUp} given up`);
  },
);
