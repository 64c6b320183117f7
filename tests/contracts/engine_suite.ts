/**
 * Tests of the guarantees that every engine gives, in addition to those of an in-memory queue. The tests cover tokens,
 * owners whose leases end, suspects, and backlogs too large for one call. Each test sets the clock.
 */

import { assert, assertEquals } from "@std/assert";
import { createDelayingQueue } from "@workqueue/core";
import type { Finish } from "@workqueue/engine";
import * as fc from "fast-check";
import process from "node:process";
import { HandClock } from "../helpers.ts";
import { countsOf } from "./counts.ts";
import { addRateLimited, type EngineBench, type EngineTest, keysOf, LEASE, START } from "./engine_bench.ts";

const given = process.env["WORKQUEUE_RUNS"];
const RUNS = Number(given ?? 400);

/** Makes the only owner with leases lose all of them, so that no owner has a lease. */
async function lose(bench: EngineBench): Promise<void> {
  await bench.pass(LEASE + 1);
  await bench.take("reaper");
  await bench.engine.release("reaper", []);
}

/** Simulates a new process that uses the queue for a quarter of a second. Returns the keys that the process takes. */
async function visit(bench: EngineBench, name: string): Promise<string[]> {
  const keys: string[] = [];
  for (let look = 0; look < 5 && keys.length === 0; look++) {
    if (look > 0) bench.jump(50);
    keys.push(...keysOf(await bench.take(name)));
  }
  await bench.engine.leave(`process of ${name}`, name);
  return keys;
}

/** Makes all ready keys stall this many times. Each time, another owner takes the keys and is lost. */
async function stall(bench: EngineBench, times: number): Promise<void> {
  for (let time = 1; time <= times; time++) {
    await bench.take(`gone ${time}`, 16);
    await bench.pass(LEASE + 1);
  }
}

const MANY = 450;

/** Registers the tests of an engine. `engineTest` registers a test that has its own queue and clock. */
export function engineSuite(engineTest: EngineTest): void {
  // ---- Calls

  engineTest("items that are added together are in the state that an add of each leads to", async (bench) => {
    const giveUp = async (key: string) => {
      const [{ token } = { token: "" }] = (await bench.take("o")).taken;
      await bench.turn("o", [{ key, token, kind: "givenUp", reason: "bad", why: "terminal" }]);
    };
    await bench.add("gone");
    await giveUp("gone");
    await bench.add("held");
    const { taken: [{ token } = { token: "" }] } = await bench.take("o");
    await bench.add("ready");
    await bench.addAfter(10, "late");
    await bench.add("new", "held", "late", "ready", "new", "last"); // none of them was given up
    await bench.add("other", "gone", "end");
    const order = ["ready", "new", "late", "last", "other", "gone", "end"];
    const { taken } = await bench.take("o", 9, 1);
    assertEquals(taken.map(({ key, payload }) => [key, payload]), order.map((key) => [key, `of ${key}`]));
    await bench.turn("o", taken.map(({ key, token }) => ({ key, token, kind: "succeeded" })));
    assertEquals(keysOf(await bench.take("o", 9, 1)), [], "each of them only once");

    await bench.finish("held", token);
    assertEquals(keysOf(await bench.take("o", 9)), ["held"]);
    await bench.pass(11);
    assertEquals(keysOf(await bench.take("o", 9)), ["late"], "the add left the delay");
    assertEquals((await bench.engine.counts()).givenUp, 0);
  }, { hasItems: true });

  engineTest("the span of the newest add is handed out with a key, until the key has ended", async (bench) => {
    const { engine } = bench;
    const traceOf = (digit: number) => `00-${`${digit}`.repeat(32)}-${`${digit}`.repeat(16)}-01`;
    const [one, two, three, four] = [1, 2, 3, 4].map(traceOf);
    const entry = { payload: "", delay: 0, priority: 0 };
    await engine.addEach([{ ...entry, key: "a", trace: one }, { ...entry, key: "b", trace: two }]);
    await engine.addEach([{ ...entry, key: "c", trace: three, delay: 10 }, { ...entry, key: "d" }]);
    await engine.addEach([{ ...entry, key: "a", trace: two }]);
    await bench.add("b"); // the newest add has no span
    await addRateLimited(engine, { key: "e", payload: "", trace: four });
    bench.jump(1000);
    const taken = async () => (await bench.take("o", 5)).taken;
    const first = await taken();
    assertEquals(first.map(({ key, trace }) => [key, trace ?? undefined]), [
      ["a", two],
      ["b", undefined],
      ["d", undefined],
      ["c", three],
      ["e", four],
    ]);
    const token = (key: string) => first.find((each) => each.key === key)!.token;
    await engine.addEach([{ ...entry, key: "c", trace: one }]);
    await bench.finish("a", token("a"), "failed");
    await bench.finish("c", token("c"));
    await bench.finish("e", token("e"));
    bench.jump(1000);
    const second = await taken();
    assertEquals(second.map(({ key, trace }) => [key, trace]), [["c", one], ["a", two]]);
    for (const { key, token } of second) await bench.finish(key, token);
    await bench.add("e", "a");
    assertEquals((await taken()).map(({ trace }) => trace ?? undefined), [undefined, undefined]);
  });

  engineTest(
    "keys are handed out in the order of their adds, each once, with a payload if they have one",
    async (bench) => {
      await bench.add("b", "a");
      await bench.add("c", "b");
      const { taken, pauseMs, isLost, isAlone, givenUp } = await bench.take("o", 2);
      assertEquals(
        taken.map(({ key, failures, readyForMs, payload }) => [key, failures, readyForMs, payload]),
        [
          ["b", 0, undefined, undefined],
          ["a", 0, undefined, undefined],
        ],
      );
      assertEquals([pauseMs, isLost, isAlone, givenUp], [undefined, false, false, []]);
      const items = bench.open({ hasItems: true });
      await items.add([{ key: "d", payload: "1" }, { key: "d", payload: "2" }]);
      await addRateLimited(items, { key: "e", payload: "old" });
      await addRateLimited(items, { key: "e", payload: "older" }, { isNewest: false });
      await bench.pass(11);
      const rest = await bench.take("o", 3, 2, items);
      assertEquals(rest.taken.map(({ key, payload }) => [key, payload]), [["c", undefined], ["d", "2"], ["e", "old"]]);
    },
  );

  // ---- Cancelling

  const ends: Readonly<Record<string, (bench: EngineBench, tokens: Map<string, string>) => Promise<unknown>>> = {
    "its holder is lost": lose,
    "its holder leaves": (bench) => bench.engine.leave("process of o", "o"),
    "its holder never knew of it": (bench) => bench.engine.release("o", []),
    "it is handed back": async (bench, tokens) => {
      for (const [key, token] of tokens) assertEquals(await bench.finish(key, token, "handedBack"), "cancelled");
    },
    "it fails": async (bench, tokens) => {
      for (const [key, token] of tokens) assertEquals(await bench.finish(key, token, "failed"), "cancelled");
    },
    "it is given up": async (bench, tokens) => {
      for (const [key, token] of tokens) assertEquals(await bench.finish(key, token, "givenUp"), "cancelled");
    },
  };
  for (const [how, end] of Object.entries(ends)) {
    engineTest(`rule 22: a cancelled key comes back only if it was added afterwards, when ${how}`, async (bench) => {
      await bench.add("a", "b");
      const { taken } = await bench.take("o", 2);
      await bench.add("a", "b"); // forgotten by the cancel
      for (const { key } of taken) {
        assertEquals(await bench.engine.cancel(key, "first"), "running");
        assertEquals(await bench.engine.cancel(key, "second"), "running");
      }
      const { cancelled } = (await bench.engine.renew("o"))!;
      assertEquals(new Set(cancelled.map(({ token }) => token)), new Set(taken.map(({ token }) => token)));
      assertEquals(cancelled.map(({ reason }) => reason), ["first", "first"]);
      await bench.add("other", "b");
      await end(bench, new Map(taken.map(({ key, token }) => [key, token])));
      await bench.pass(60_000);
      assertEquals(keysOf(await bench.take("p", 5)), ["other", "b"]);
      assertEquals((await bench.engine.renew("p"))!.cancelled, [], "an earlier cancel is forgotten");
      assertEquals([await bench.stallsOf("a"), await bench.stallsOf("b")], [0, 0]);
      assertEquals((await bench.engine.counts()).givenUp, 0);
    });
  }

  engineTest("an add of several keys returns how many of them the queue did not know", async (bench) => {
    const { engine } = bench;
    const entry = (key: string, delay = 0) => ({ key, payload: "", delay, priority: 0 });
    assertEquals(await engine.addEach([entry("held"), entry("ready"), entry("held")]), 2);
    await bench.take("o");
    await engine.addEach([entry("delayed", 1000)]);
    await addRateLimited(engine, { key: "failed", payload: "" }, { minDelay: 5000 });
    const all = ["new", "held", "ready", "delayed", "failed", "new", "late"];
    assertEquals(await engine.addEach(all.map((key) => entry(key, key === "late" ? 10 : 0))), 2);
    assertEquals(await engine.addEach(all.map((key) => entry(key))), 0);
    const ordered = bench.order({ type: "fair", separator: "/", maxPerGroup: 1 });
    assertEquals(await ordered.addEach(["g/1", "g/2", "ready"].map((key) => entry(key))), 2);
    await bench.take("p", 9, 0, ordered);
    assertEquals(await ordered.addEach(["g/1", "g/2", "g/3"].map((key) => entry(key))), 1);
    const many = Array.from({ length: 450 }, (_, i) => entry(`many ${i}`));
    assertEquals(await engine.addEach(many), 450);
    assertEquals(await engine.addEach([...many, entry("last")]), 1);
  });

  engineTest("a reply contains how long each key was ready only on request", async (bench) => {
    await bench.add("a");
    bench.jump(500);
    bench.engine.measuresTimes = true;
    const { taken: [a] } = await bench.take("o");
    assert(Math.abs(a!.readyForMs! - 500) < 0.1, `${a!.readyForMs}`);
  });

  engineTest("failures are counted, delayed by the limiter and forgotten", async (bench) => {
    const { engine } = bench;
    assertEquals(await addRateLimited(engine, { key: "a", payload: "" }), undefined);
    assertEquals(await addRateLimited(engine, { key: "b", payload: "" }, { minDelay: 60_000 }), undefined);
    assertEquals([await engine.numRequeues("a"), await engine.numRequeues("c")], [1, 0]);
    await bench.pass(11);
    const { taken: [a] } = await bench.take("o", 2);
    assertEquals([a!.key, a!.failures], ["a", 1]);
    assertEquals(await bench.finish("a", a!.token, "failed"), true);
    assertEquals(await engine.numRequeues("a"), 2);
    const { delayedItems } = await engine.snapshot(10);
    assertEquals(delayedItems.map(({ key, dueInMs }) => [key, Math.round(dueInMs)]), [["a", 20], ["b", 59_989]]);
    await engine.forget("a");
    assertEquals(await engine.numRequeues("a"), 0);
    assertEquals((await engine.counts()).failing, 1);
  });

  engineTest("delays are canceled and ended, of delayed keys only", async (bench) => {
    const { engine } = bench;
    await bench.addAfter(1000, "a", "b");
    await bench.addAfter(500, "b");
    assertEquals([await engine.cancelDelayed("a"), await engine.cancelDelayed("a")], [true, false]);
    assertEquals([await engine.promoteDelayed("b"), await engine.promoteDelayed("b")], [true, false]);
    assertEquals(keysOf(await bench.take("o", 2)), ["b"]);
  });

  engineTest(
    "while the queue is paused, nothing is handed out, and ending an older pause has no effect",
    async (bench) => {
      const { engine } = bench;
      await bench.add("a");
      const first = await engine.pause();
      const second = await engine.pause();
      assert(second > first);
      await engine.resume(first);
      assertEquals([keysOf(await bench.take("o")), (await engine.snapshot(0)).paused], [[], true]);
      await engine.resume(second);
      assertEquals(keysOf(await bench.take("o")), ["a"]);
      await engine.pause();
      await engine.resume();
      assertEquals((await engine.snapshot(0)).paused, false);
    },
  );

  engineTest("each outcome has its effect", async (bench) => {
    const delays = {
      done: [],
      succeeded: [],
      handedBack: [0],
      requeueAfter: [700],
      retry: [20],
      failed: [500],
      givenUp: [],
    };
    for (const [kind, expected] of Object.entries(delays) as [Finish["kind"], number[]][]) {
      await addRateLimited(bench.engine, { key: kind, payload: "" });
      await bench.pass(11);
      const { taken: [taken] } = await bench.take("o");
      const delay = kind === "requeueAfter" ? 700 : kind === "failed" ? 500 : 0;
      const reason = kind === "givenUp"
        ? { reason: "no", why: "terminal" as const }
        : kind === "failed"
        ? { reason: "no" }
        : {};
      const { answers } = await bench.turn("o", [{ key: kind, token: taken!.token, kind, delay, ...reason }]);
      assertEquals(answers, [true], kind);
      const { delayedItems, ready, givenUp, failingItems } = await bench.engine.snapshot(10);
      const found = [...Array(ready).fill(0), ...delayedItems.map(({ dueInMs }) => Math.round(dueInMs))];
      assertEquals([found, givenUp], [expected, Number(kind === "givenUp")], kind);
      const failures = { done: 1, handedBack: 1, retry: 2, failed: 2 }[kind as string] ?? 0;
      assertEquals(await bench.engine.numRequeues(kind), failures, kind);
      if (kind === "failed") assertEquals(failingItems.map(({ key, error }) => [key, error]), [[kind, "no"]]);
      await bench.engine.promoteDelayed(kind);
      for (const { key, token } of (await bench.take("o", 9)).taken) await bench.finish(key, token);
      await bench.engine.forget(kind);
    }
    const { totals } = await bench.engine.snapshot(0);
    assertEquals([totals.failed, totals.givenUp, totals.givenUpFor.terminal, totals.givenUpFor.stalled], [2, 1, 1, 0]);
  });

  engineTest("keys that succeed in one call are finished as if each had a call of its own", async (bench) => {
    await addRateLimited(bench.engine, { key: "failed", payload: "" });
    await bench.pass(11);
    await bench.add("again", "plain", "other's");
    const { taken } = await bench.take("o", 3);
    const { taken: [others] } = await bench.take("p");
    await bench.add("again");
    const ends = taken.map(({ key, token }) => ({ key, token, kind: "succeeded" as const }));
    const wrong = { key: "plain", token: "1", kind: "succeeded" as const };
    const held = { key: others!.key, token: others!.token, kind: "succeeded" as const };
    const { answers } = await bench.turn("o", [wrong, ...ends, ...ends, held]);
    assertEquals(answers, [false, true, true, true, false, false, false, true]);
    const { ready, processing, failing, readyItems } = await bench.engine.snapshot(9);
    assertEquals([ready, processing, failing, readyItems.map(({ key }) => key)], [1, 0, 0, ["again"]]);
    assertEquals(await bench.engine.numRequeues("failed"), 0);
    await bench.pass(1);
    const { taken: rest } = await bench.take("p", 9);
    assertEquals(rest.map(({ key }) => key), ["again"]);
  });

  engineTest("a snapshot lists keys in each state", async (bench) => {
    await bench.add("a", "b", "c");
    const { taken } = await bench.take("o", 1);
    await bench.add("a");
    await bench.addAfter(1000, "d");
    const { readyItems, delayedItems, processingItems, failingItems, totals } = await bench.engine.snapshot(1);
    assertEquals(readyItems.map(({ key }) => key), ["b"]);
    assertEquals(delayedItems.map(({ key }) => key), ["d"]);
    assertEquals(processingItems.map(({ key, addedAgain }) => [key, addedAgain]), [[taken[0]!.key, true]]);
    assertEquals([failingItems, totals.handedOut], [[], 1]);
    const { readyItems: none } = await bench.engine.snapshot(0);
    assertEquals(none, []);
  });

  engineTest("a key takes a token of the bucket, and the reply says when the next one comes", async (bench) => {
    await bench.add("a", "b", "c");
    const take = async (wanted: number, rate: number) => {
      const common = { process: "p", owner: "o", known: 0, finishes: [] };
      return await bench.engine.turn({ ...common, wanted, throttle: { id: "throttle", rate, burst: 1 } });
    };
    const { taken, pauseMs } = await take(3, 1);
    assertEquals(taken.map(({ key }) => key), ["a"]);
    assert(pauseMs! > 990 && pauseMs! < 1001, `${pauseMs}`);
    await bench.pass(1001);
    assertEquals(keysOf(await take(3, 1)), ["b"]);
    assertEquals(keysOf(await take(3, Infinity)), ["c"]);
  });

  // ---- Tokens and time

  engineTest("tokens grow even if the server's clock goes back or stands still", async (bench) => {
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

  engineTest(
    "items are due by the server's clock, and adds keep their order when the clock goes back",
    async (bench) => {
      await bench.addAfter(1000, "later");
      await bench.add("first");
      bench.jump(-60_000);
      await bench.add("second");
      assertEquals(keysOf(await bench.take("o", 3)), ["first", "second"]);
      await bench.pass(999);
      assertEquals(keysOf(await bench.take("o", 3, 2)), []);
      await bench.pass(2);
      assertEquals(keysOf(await bench.take("o", 3, 2)), ["later"]);
    },
  );

  for (
    const [name, steps] of Object.entries({ back: [-3_600_000], "ahead, and back again": [3_600_000, -3_600_000] })
  ) {
    engineTest(
      `after the server's clock was set ${name}, delays, tokens and leases continue at its pace`,
      async (bench) => {
        const takeByTokens = async (owner: string) => {
          const throttle = { id: "images", rate: 1, burst: 1 };
          const request = { process: `process of ${owner}`, owner, known: 0, wanted: 9, finishes: [] };
          return await bench.engine.turn({ ...request, throttle });
        };
        await bench.add("a", "b", "c");
        assertEquals(keysOf(await takeByTokens("gone")), ["a"]);
        for (const step of steps) {
          bench.jump(step);
          await bench.engine.counts();
        }
        assertEquals((await takeByTokens("o")).taken.length, steps.length - 1, "an hour ahead has brought a token");
        await bench.addAfter(2000, "later");
        await bench.pass(1001);
        assertEquals((await takeByTokens("o")).taken.length, 1);
        assertEquals((await bench.engine.counts()).delayed, 1);
        await bench.pass(1001);
        assertEquals((await bench.engine.counts()).delayed, 0);
        await bench.pass(2 * LEASE);
        await takeByTokens("o");
        assertEquals(await bench.engine.renew("gone"), undefined, "the lease of a lost holder has ended");
      },
    );
  }

  engineTest("an outdated token changes nothing, whatever the outcome", async (bench) => {
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
      assertEquals(await countsOf(bench.engine), {
        ready: 0,
        blocked: 0,
        delayed: 1,
        processing: 1,
        failing: 1,
        givenUp: 0,
      });
    }
    assertEquals(await bench.finish("a", second!.token), true);
  });

  // ---- Leases

  engineTest(
    "a lease that is not renewed ends; then the key returns to its place, and the late outcome is refused",
    async (bench) => {
      await bench.add("a", "b");
      const { taken: [a] } = await bench.take("gone");
      await bench.pass(LEASE - 1);
      assert(await bench.engine.renew("gone"));
      await bench.pass(LEASE - 1);
      assertEquals(keysOf(await bench.take("o", 2)), ["b"]);
      await bench.pass(LEASE / 20 + 1); // interval between the queue's checks for expired leases
      await bench.add("c");
      await bench.engine.renew("o"); // "o" renews its lease because it is processing items
      assertEquals(await countsOf(bench.engine), {
        ready: 1,
        blocked: 0,
        delayed: 0,
        processing: 2,
        failing: 0,
        givenUp: 0,
      });
      const { taken: [again] } = await bench.take("third");
      assertEquals([again!.key, again!.payload], ["a", undefined]);
      assertEquals(await bench.finish("a", a!.token), false);
      assertEquals(await bench.finish("a", again!.token), true);
      assertEquals(await bench.engine.renew("gone"), undefined);
      assertEquals((await bench.take("gone", 1, 1)).isLost, true, "who seems to have a lease learns that it is lost");
      assertEquals(keysOf(await bench.take("gone")), ["c"], "and goes on as one without leases");
    },
  );

  engineTest("only a take ends leases, and not within a lease duration after the server was away", async (bench) => {
    await bench.add("a");
    await bench.take("gone");
    bench.jump(LEASE + 1);
    await bench.add("b");
    await bench.engine.counts();
    await bench.engine.release("o", []);
    await bench.turn("o", []);
    const { taken: [b] } = await bench.take("o");
    assertEquals(b!.key, "b");
    await bench.pass(LEASE / 2);
    assertEquals(keysOf(await bench.take("o", 1, 1)), []);
    assertEquals(await countsOf(bench.engine), {
      ready: 0,
      blocked: 0,
      delayed: 0,
      processing: 2,
      failing: 0,
      givenUp: 0,
    });
    assert(await bench.engine.renew("gone"), "nobody has ended it");
    await bench.finish("b", b!.token);
    await bench.pass(LEASE + 1);
    assertEquals(await countsOf(bench.engine), {
      ready: 0,
      blocked: 0,
      delayed: 0,
      processing: 1,
      failing: 0,
      givenUp: 0,
    });
    assertEquals(keysOf(await bench.take("o")), ["a"]);
  });

  for (const [every, count] of [[1000, 3], [3300, 2]] as const) {
    engineTest(
      `a lost holder's key comes back if another process calls every ${every} ms: at call ${count} at the latest`,
      async (bench) => {
        await bench.add("a");
        await bench.take("gone");
        const found: string[][] = [];
        for (let number = 1; number <= count; number++) {
          bench.time = START + number * every * 1000;
          found.push(await visit(bench, `visitor ${number}`));
        }
        assertEquals([found[0], found.at(-1)], [[], ["a"]]);
      },
      { leaseDuration: 1000 },
    );
  }

  engineTest(
    "a lost holder's key comes back when its lease ends, or a lease duration after the first gap since then",
    async (bench) => {
      const upTo = (max: number, count: number) =>
        fc.array(fc.integer({ min: 60, max }), { minLength: count, maxLength: 20 });
      const deltas = fc.oneof(upTo(2000, 1), upTo(600, 8), upTo(500, 20)); // many, some or no gaps between calls
      let [run, back, graces] = [0, 0, 0];
      const property = fc.asyncProperty(deltas, async (deltas) => {
        const key = `key ${run++}`;
        await bench.add(key);
        assertEquals(keysOf(await bench.take(`gone ${run}`)), [key]);
        let [time, end, hasGap] = [0, 1000, false];
        for (const delta of [...deltas, 1001, 1001]) {
          bench.jump(delta);
          time += delta;
          if (delta > 500 && !hasGap) [end, hasGap] = [Math.max(end, time + 1000), true];
          const { taken } = await bench.take("visitor");
          if (time !== end) assertEquals(taken.map(({ key }) => key), time >= end ? [key] : [], `after ${time} ms`);
          if (taken.length === 0) continue;
          await bench.turn("visitor", [{ ...taken[0]!, kind: "done" }]);
          back++;
          graces += Number(hasGap);
          return;
        }
      });
      await fc.assert(property, { numRuns: RUNS, endOnFailure: true, ...given === undefined && { seed: 1 } });
      assert(back === run && graces > RUNS / 4 && graces < RUNS, `${back} of ${run} came back, ${graces} after a gap`);
    },
    { leaseDuration: 1000 },
  );

  engineTest("after an hour without the server, 500 owners that come back lose nothing", async (bench) => {
    const owners = Array.from({ length: 500 }, (_, i) => `owner ${i}`);
    await bench.add(...owners.map((owner) => `key of ${owner}`));
    const processing = new Map<string, Finish>();
    for (const owner of owners) {
      const { taken: [taken] } = await bench.take(owner);
      processing.set(owner, { key: taken!.key, token: taken!.token, kind: "done" });
    }
    bench.jump(3_600_000);
    await bench.take("first");
    for (const [i, owner] of owners.entries()) {
      assert(await bench.engine.renew(owner));
      bench.jump(LEASE / 600);
      if (i % 50 === 0) assertEquals(keysOf(await bench.take("first")), []);
    }
    for (const [owner, finish] of processing) assertEquals((await bench.turn(owner, [finish])).answers, [true]);
  });

  engineTest("a key that was added again meanwhile comes once, and is not lost with its holder", async (bench) => {
    await bench.add("a");
    await bench.take("gone");
    await bench.add("a", "b");
    await lose(bench);
    assertEquals(keysOf(await bench.take("o")), ["a"]);
    assertEquals((await bench.engine.counts()).processing, 1);
  });

  engineTest(
    "keys that an owner holds without knowing it go back to their places, which is not a stall",
    async (bench) => {
      await bench.add("a", "b", "c");
      const { taken: [a] } = await bench.take("o");
      await bench.take("o", 1, 1); // the reply that hands out "b" is lost
      assertEquals(await bench.engine.release("o", [a!.token, "7"]), ["7"], "a token that the owner does not have");
      assertEquals((await bench.engine.counts()).processing, 1);
      const { taken } = await bench.take("o", 5, 1);
      assertEquals(taken.map(({ key }) => key), ["b", "c"]);
      assertEquals([await bench.stallsOf("b"), await bench.stallsOf("c")], [0, 0]);
      assertEquals(await bench.finish("a", a!.token), true);
    },
  );

  engineTest("an owner that leaves gives back the keys that it still holds, which is not a stall", async (bench) => {
    await bench.add("a", "b");
    const { taken: [a] } = await bench.take("o");
    await bench.engine.leave("process of o", "o");
    assertEquals(await bench.finish("a", a!.token), false);
    assertEquals(await bench.engine.renew("o"), undefined);
    assertEquals(keysOf(await bench.take("other", 2)), ["a", "b"]);
    assertEquals([await bench.stallsOf("a"), await bench.stallsOf("b")], [0, 0]);
  });

  // ---- Poison

  engineTest(
    "keys that stalled once come back to their places, and each owner gets only a few of them, beside other keys",
    async (bench) => {
      const lost = ["a", "b", "c", "d"];
      await bench.add(...lost, "e", "f");
      await bench.take("gone", lost.length);
      await bench.pass(LEASE + 1);
      const one = await bench.take("one", 16);
      assertEquals([one.isAlone, keysOf(one).length], [false, 4]);
      assertEquals(keysOf(one).slice(2), ["e", "f"], "two of 16 may have stalled");
      assertEquals((await bench.engine.counts()).ready, 2, "the other two are ready");
      await bench.add("g", "h");
      const two = await bench.take("two", 2);
      assertEquals(
        [two.isAlone, keysOf(two).length, keysOf(two)[1]],
        [false, 2, "g"],
        "one of a small pool may have stalled",
      );
      assertEquals(new Set([...keysOf(one).slice(0, 2), keysOf(two)[0]!]).size, 3);
      assertEquals(keysOf(await bench.take("two", 2, 2)), ["h"], "which is all that it may have");
      const [first] = two.taken;
      assertEquals(keysOf(await bench.turn("two", [{ ...first!, kind: "done" }], 2, 2)).length, 1, "until it is done");
      assertEquals((await bench.engine.counts()).ready, 0);
    },
  );

  engineTest(
    "keys that stalled twice are tried alone by one owner, one after the other, and others continue",
    async (bench) => {
      await bench.add("poison", "a");
      await stall(bench, 2);
      const first = await bench.take("one", 5);
      assertEquals([keysOf(first).length, first.isAlone], [1, true]);
      await bench.add("c", "d", "e");
      const other = await bench.take("two", 2);
      assertEquals([keysOf(other), other.isAlone], [["c", "d"], false], "the others have full concurrency");
      for (let time = 0; time < 3; time++) {
        await bench.pass(LEASE / 2);
        for (const owner of ["one", "two"]) await bench.engine.renew(owner);
      }
      const third = await bench.take("three", 2);
      assertEquals([keysOf(third), third.isAlone], [["e"], false], "for as long as that owner is heard of");
      const second = await bench.turn("one", [{ ...first.taken[0]!, kind: "done" }], 5);
      assertEquals([keysOf(second).length, second.isAlone], [1, true], "one after the other");
      await bench.engine.leave("process of one", "one");
      assertEquals((await bench.take("four", 5)).isAlone, true, "another owner has the duty when this one has left");
    },
  );

  engineTest(
    "an owner that must try a suspect takes nothing else, and takes the suspect once its other keys are finished",
    async (bench) => {
      await bench.add("poison", "neighbour");
      await stall(bench, 1);
      await bench.take("gone again", 16);
      await bench.add("work");
      const { taken: [work] } = await bench.take("busy");
      assertEquals(work!.key, "work");
      for (let time = 0; time < 3; time++) {
        await bench.pass(LEASE / 2);
        await bench.engine.renew("busy");
      }
      await bench.add("more");
      const duty = await bench.take("busy", 5, 1);
      assertEquals([keysOf(duty), duty.isAlone], [[], true]);
      const idle = await bench.take("idle", 5);
      assertEquals([keysOf(idle).length, idle.isAlone], [1, true], "an owner that holds nothing takes the duty over");
      const { taken: [more] } = await bench.take("busy", 5, 1);
      assertEquals(more!.key, "more", "and the other one goes on");
      await bench.engine.leave("process of idle", "idle");
      const again = await bench.take("busy", 5, 2);
      assertEquals([keysOf(again), again.isAlone], [[], true]);
      const still = await bench.turn("busy", [{ ...work!, kind: "done" }], 5);
      assertEquals([keysOf(still), still.isAlone], [[], true], "until it holds nothing");
      const suspect = await bench.turn("busy", [{ ...more!, kind: "done" }], 5);
      assertEquals([keysOf(suspect).length, suspect.isAlone], [1, true]);
    },
  );

  engineTest("an owner that takes other keys leaves suspects to others", async (bench) => {
    const passBeside = async () => {
      for (let time = 0; time < 3; time++) {
        await bench.pass(LEASE / 2);
        await bench.engine.renew("one");
      }
    };
    await bench.add("a");
    await stall(bench, 2);
    const { taken: [a], isAlone } = await bench.take("one");
    assertEquals([a!.key, isAlone], ["a", true]);
    await bench.finish("a", a!.token);
    await bench.add("work");
    assertEquals(keysOf(await bench.take("one")), ["work"]);
    await bench.add("b");
    for (const owner of ["gone", "gone again"]) {
      assertEquals(keysOf(await bench.take(owner)), ["b"]);
      await passBeside();
    }
    const reply = await bench.take("two");
    assertEquals([keysOf(reply), reply.isAlone], [["b"], true]);
  });

  for (const maxStalls of [1, 3, 5]) {
    engineTest(
      `of 3 processes with 50 items each, a poison item kills ${Math.max(maxStalls, 3)} at most`,
      async (bench) => {
        for (const [count, place] of [0, 49, 75, 149].entries()) {
          const poison = `poison ${place}`;
          await bench.add(...Array.from({ length: 150 }, (_, i) => i === place ? poison : `item ${place}-${i}`));
          const owners = [0, 1, 2].map((number) => ({
            name: `${place}-${number}`,
            processing: [] as Finish[],
            isAlone: false,
          }));
          let [deaths, triedAlone, givenUp, idle] = [0, 0, [] as string[], 0];
          for (let round = 0; round < 60 && idle < 3; round++) {
            idle = 0;
            for (const owner of owners) {
              const finishes = owner.processing.splice(0);
              const reply = await bench.turn(owner.name, finishes, 50);
              givenUp.push(...reply.givenUp.map(({ key }) => key));
              owner.processing = reply.taken.map(({ key, token }) => ({ key, token, kind: "succeeded" }));
              idle += Number(owner.processing.length === 0);
              if (owner.processing.some(({ key }) => key === poison)) {
                deaths++;
                Object.assign(owner, { name: `${owner.name}+`, processing: [] }); // the next process takes over
              } else if (reply.isAlone) triedAlone += owner.processing.length;
            }
            await bench.pass(LEASE / 2);
            for (const { name } of owners) await bench.engine.renew(name);
            if ((await bench.engine.counts()).processing > 0) idle = 0;
          }
          assertEquals([givenUp, deaths], [[poison], Math.max(maxStalls, 3)]);
          assert(triedAlone <= 7, `${triedAlone} innocent items were tried alone`);
          assertEquals(await countsOf(bench.engine), {
            ready: 0,
            blocked: 0,
            delayed: 0,
            processing: 0,
            failing: 0,
            givenUp: count + 1,
          });
        }
      },
      { maxStalls },
    );
  }

  engineTest("an attempt that did not begin doesn't reset the stalls of a key", async (bench) => {
    await bench.add("a");
    await bench.take("gone");
    await lose(bench);
    const { taken: [a] } = await bench.take("o");
    await bench.add("b");
    assertEquals(await bench.finish("a", a!.token, "handedBack"), true);
    const { taken: [b], isAlone } = await bench.take("o");
    assertEquals([b!.key, isAlone], ["b", false], "it is behind what came before");
    await bench.finish("b", b!.token);
    assertEquals(keysOf(await bench.take("o")), ["a"]);
    assertEquals(await bench.stallsOf("a"), 1, "it is one that stalled still");
  });

  for (const how of ["is due", "is cancelled", "has its delay cancelled"]) {
    engineTest(`a key that is delayed is not given up with its holder, and then ${how}`, async (bench) => {
      await bench.add("a");
      await stall(bench, 2);
      assertEquals(keysOf(await bench.take("gone")), ["a"]);
      await bench.addAfter(10 * LEASE, "a");
      await bench.pass(LEASE + 1);
      const { taken, givenUp } = await bench.take("o");
      assertEquals([taken, givenUp], [[], []]);
      const counts = { ready: 0, blocked: 0, delayed: 1, processing: 0, failing: 0, givenUp: 0 };
      assertEquals(await countsOf(bench.engine), counts);
      if (how === "is cancelled") assertEquals(await bench.engine.cancel("a", ""), "delayed");
      else if (how === "has its delay cancelled") assertEquals(await bench.engine.cancelDelayed("a"), true);
      if (how === "is due") await bench.pass(9 * LEASE);
      else await bench.add("a");
      const reply = await bench.take("o");
      assertEquals([keysOf(reply), reply.isAlone], [["a"], how === "is due"]);
    }, { maxStalls: 1 });
  }

  engineTest("a key that was added again is not given up with its holder", async (bench) => {
    await bench.add("a");
    await stall(bench, 2);
    assertEquals(keysOf(await bench.take("gone")), ["a"]);
    await bench.add("a");
    await bench.pass(LEASE + 1);
    const reply = await bench.take("o");
    assertEquals([keysOf(reply), reply.givenUp, reply.isAlone], [["a"], [], true]);
  }, { maxStalls: 1 });

  engineTest(
    "a key is given up after the maximum number of stalls, but not its neighbors; an add revives it",
    async (bench) => {
      await bench.add("poison", "neighbour");
      await addRateLimited(bench.engine, { key: "poison", payload: "" });
      await bench.engine.cancelDelayed("poison");
      const first = await bench.take("owner 0", 2);
      assertEquals(keysOf(first), ["poison", "neighbour"]);
      const givenUp: unknown[] = [];
      for (let stalls = 1; stalls <= 4; stalls++) {
        await bench.pass(LEASE + 1);
        // Every owner that takes the poison item is lost, while the neighboring item is finished by its owner.
        for (let turn = 0; turn < 3; turn++) {
          const owner = `owner ${stalls}-${turn}`;
          const reply = await bench.take(owner, 5);
          givenUp.push(...reply.givenUp);
          const [taken] = reply.taken;
          if (taken?.key === "neighbour") assertEquals(await bench.finish(taken.key, taken.token), true);
        }
      }
      assertEquals(givenUp, [{ key: "poison", payload: "", attempts: 4 }], "one that failed, three that were lost");
      assertEquals(await countsOf(bench.engine), {
        ready: 0,
        blocked: 0,
        delayed: 0,
        processing: 0,
        failing: 0,
        givenUp: 1,
      });
      await bench.addAfter(1000, "poison");
      assertEquals((await bench.engine.counts()).givenUp, 0);
      await bench.pass(1001);
      const again = await bench.take("o", 5);
      assertEquals([keysOf(again), again.isAlone], [["poison"], true], "it is a suspect still");
    },
    { maxStalls: 3 },
  );

  engineTest(
    "a key that a handler gave up is kept with the reason and payload, unless it was added again",
    async (bench) => {
      await bench.add("a", "b", "c");
      const { taken } = await bench.take("o", 3);
      await bench.add("b");
      await bench.addAfter(1000, "c");
      const ends = taken.map(({ key, token }) => ({
        key,
        token,
        kind: "givenUp" as const,
        reason: `no ${key}`,
        why: "terminal" as const,
      }));
      assertEquals((await bench.turn("o", ends)).answers, [true, true, true]);
      assertEquals(await countsOf(bench.engine), {
        ready: 1,
        blocked: 0,
        delayed: 1,
        processing: 0,
        failing: 0,
        givenUp: 1,
      });
      await bench.add("a");
      const [again] = (await bench.take("o", 2)).taken.slice(1);
      assertEquals([again!.key, again!.payload], ["a", "of a"]);
      assertEquals((await bench.engine.counts()).givenUp, 0);
    },
    { hasItems: true },
  );

  // ---- Backlogs

  engineTest("counts and lists include all due keys, though a call moves only some of them", async (bench) => {
    const count = 2 * MANY;
    const keys = Array.from({ length: count }, (_, i) => `${i * 7919 % count}`);
    for (const [i, key] of keys.entries()) await bench.addAfter(1000 + i, key);
    await bench.addAfter(60_000, "later");
    await bench.pass(30_000);
    assertEquals(await bench.engine.cancelDelayed(keys.at(-1)!), false, "what is due is not delayed");
    const counts = await bench.engine.counts();
    assertEquals([counts.ready, counts.delayed], [count, 1]);
    const { ready, delayed, readyItems, delayedItems } = await bench.engine.snapshot(1000);
    assertEquals([ready, delayed, delayedItems.length], [count, 1, 1]);
    assertEquals(readyItems.map(({ key }) => key), keys);
  });

  engineTest(
    "a key that is processing, due and not moved yet comes when it is done, after the other due keys",
    async (bench) => {
      await bench.add("processing");
      const { taken: [processing] } = await bench.take("o");
      for (let i = 0; i < MANY; i++) await bench.addAfter(1000 + i, `${i}`);
      await bench.addAfter(2000, "processing");
      await bench.addAfter(2001, "last");
      await bench.pass(30_000);
      assertEquals(await bench.finish("processing", processing!.token, "done"), true);
      await bench.engine.counts();
      await bench.engine.counts();
      assertEquals(keysOf(await bench.take("o", MANY + 2)).slice(-2), ["last", "processing"]);
    },
  );

  engineTest(
    "nothing overtakes due keys that are not moved yet, even if all moved keys are processing",
    async (bench) => {
      const keys = Array.from({ length: MANY }, (_, i) => `${i}`);
      await bench.add(...keys);
      await bench.take("o", MANY);
      for (const [i, key] of keys.entries()) await bench.addAfter(1000 + i, key);
      await bench.addAfter(2000, "due");
      await bench.pass(LEASE - 1000);
      await bench.add("new");
      const early = await bench.take("other", 1);
      assertEquals([keysOf(early), early.pauseMs], [[], 0]);
      assertEquals(keysOf(await bench.take("other", 2)), ["due", "new"]);
    },
  );

  for (const addWhileDelayed of ["keep", "replace", "fold"] as const) {
    const settings = { replaces: addWhileDelayed !== "keep", folds: addWhileDelayed === "fold" };
    engineTest(
      `while more keys are due than a call moves, the order is the same as in memory: ${addWhileDelayed}`,
      async (bench) => {
        const clock = new HandClock();
        const memory = createDelayingQueue<string>({ clock, maxSleep: 1e9, addWhileDelayed });
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
        await both(0, "processing and due");
        const end = await bothTake(1);
        for (let i = 0; i < MANY; i++) await both(1000 + i, `${i * 7919 % MANY}`);
        await both(2000, "processing and due");
        await both(60_000, "twice");
        await pass(30_000);
        for (let i = 0; i < 12; i++) {
          await both(0, `new ${12 - i}`, `${i * 40}`, "twice"); // a new key, a due key and a delayed key
          await both(20_000, `${(MANY - 1 - i) * 7919 % MANY}`, `new ${12 - i}`); // a due key and a ready key
          if (i === 2) await end();
          await (await bothTake(40))();
        }
        await pass(60_000);
        await (await bothTake(100))();
        assertEquals([memory.length, memory.delayed], [0, 0]);
        assertEquals(await countsOf(bench.engine), {
          ready: 0,
          blocked: 0,
          delayed: 0,
          processing: 0,
          failing: 0,
          givenUp: 0,
        });
      },
      settings,
    );
  }
}
