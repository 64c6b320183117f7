/** Random runs in which owners use an engine while the store's clock jumps. */

import { assert, assertEquals } from "@std/assert";
import { type Finish, type Renewal, type TakenKey, type TurnReply, WAIT_FOR } from "@workqueue/engine";
import * as fc from "fast-check";
import { type EngineBench, LEASE } from "./engine_bench.ts";

const OWNERS = ["one", "two", "three"];
/** Owners that want to be told of adds of their keys, so that they can abort attempts. */
const ARE_TOLD: readonly string[] = ["one", "two"];
/** Process that waits for keys. */
const WAITER = "waiter";
const KEYS = ["a", "b", "c", "d", "e", "f"];
const owner = fc.constantFrom(...OWNERS);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("add"), key: fc.constantFrom(...KEYS) }) },
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
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait"), key: fc.constantFrom(...KEYS) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel"), key: fc.constantFrom(...KEYS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("finishOld"), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("renew"), owner }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("abort"), owner: fc.constantFrom(...ARE_TOLD) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("loseReply"), owner, isNoticed: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pass"), ms: fc.integer({ min: 1, max: LEASE }) }) },
  { weight: 4, arbitrary: fc.constant({ do: "pass", ms: LEASE + 1 }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("jump"), ms: fc.integer({ min: -2 * LEASE, max: 2 * LEASE }) }) },
) as fc.Arbitrary<Step>;
type Step =
  | { do: "add"; key: string }
  | { do: "addAfter"; key: string; ms: number }
  | { do: "cancel"; key: string }
  | { do: "take"; owner: string; wanted: number }
  | { do: "renew" | "abort"; owner: string }
  | { do: "wait"; key: string }
  | { do: "loseReply"; owner: string; isNoticed: boolean }
  | { do: "finish"; which: number; kind: Finish["kind"] }
  | { do: "finishOld"; which: number }
  | { do: "pass" | "jump"; ms: number };

interface Hold {
  readonly owner: string;
  readonly key: string;
  readonly token: string;
  /** Number of adds, of any key, before this lease was handed out. */
  readonly adds: number;
  isOver: boolean;
  /** Whether the key was cancelled after this hand-out. */
  isCancelled?: boolean;
  /** Whether the key was added after this hand-out, and not cancelled since. */
  isAddedAgain?: boolean;
  /** Whether the lease's owner was notified of the loss. The lease remains valid until the engine takes it away. */
  isLost?: boolean;
}

/** Several owners that use the engine at random, with the invariants that must always hold. */
class Owners {
  /** All leases ever handed out. */
  readonly holds: Hold[] = [];
  /** End of each owner's lease, in the store's time. */
  readonly #ends = new Map<string, number>();
  /** Keys that must still be handed out, each with the sequence number of its latest add. */
  readonly #owed = new Map<string, number>();
  #adds = 0;
  /** Waits whose outcome has not come, by their numbers. */
  readonly #waits = new Map<number, { readonly key: string; readonly adds: number }>();
  /** Whether waits may have been forgotten, because they were not kept for long. */
  #isLate = false;
  /** Keys that were cancelled and not added since. */
  readonly #cancelled = new Set<string>();
  /** Number of failures of each key, if it is not 0. */
  readonly #failures = new Map<string, number>();
  /** Largest number of adds before a hand-out of each key that was done. */
  readonly #done = new Map<string, number>();
  /** Upper bound for the queue's time, in microseconds. The queue's time never goes back. */
  #now = 0;
  givenUp = 0;

  constructor(readonly bench: EngineBench) {}

  async do(step: Step): Promise<void> {
    const { bench } = this;
    this.#pass(0.1); // the queue's time grows by less than this during a call
    bench.jump(0.1);
    switch (step.do) {
      case "add":
      case "addAfter":
        this.#added(step.key, step.do === "add" || step.ms === 0);
        return step.do === "add" ? await bench.add(step.key) : await bench.addAfter(step.ms, step.key);
      case "wait": {
        this.#added(step.key, true);
        const id = this.#adds;
        this.#waits.set(id, { key: step.key, adds: id });
        return await bench.engine.addAndWait({ key: step.key, payload: "", delay: 0, priority: 0 }, WAITER, id);
      }
      case "cancel": {
        const state = await bench.engine.cancel(step.key, "enough");
        this.#owed.delete(step.key);
        this.#cancelled.add(step.key);
        if (state !== undefined) this.#failures.delete(step.key);
        if (state !== "running") return;
        const hold = this.holds.findLast(({ key }) => key === step.key);
        if (hold === undefined) return;
        hold.isCancelled = true;
        hold.isAddedAgain = false;
        return;
      }
      case "take":
        return await this.take(step.owner, step.wanted);
      case "finish": {
        const current = this.holds.filter(({ isOver }) => !isOver);
        return await this.finish(current[step.which % current.length], step.kind);
      }
      case "finishOld":
        return await this.finish(this.holds[step.which % this.holds.length], "succeeded");
      case "abort": {
        const { addedAgain = [] } = await this.#renew(step.owner) ?? {};
        const known = this.#heldBy(step.owner).filter(({ token }) => addedAgain.includes(token));
        for (const hold of known) await this.finish(hold, "handedBack");
        return;
      }
      case "renew":
        return void await this.#renew(step.owner);
      case "loseReply": {
        const known = this.#heldBy(step.owner);
        const { isLost, taken, givenUp } = await this.#ask(step.owner, 2, known.length);
        this.#giveUp(givenUp.map(({ key }) => key));
        if (isLost) return this.#forget(step.owner);
        for (const each of taken) this.#check(each);
        if (taken.length > 0) this.#ends.set(step.owner, this.#now + LEASE * 1000);
        if (step.isNoticed) await bench.engine.release(step.owner, known.map(({ token }) => token));
        return;
      }
      case "pass":
        await this.#look();
        this.#pass(step.ms);
        return await bench.pass(step.ms);
      case "jump": // the clock jumps back or ahead, or nobody renews for a while
        await this.#look();
        this.#isLate ||= step.ms >= WAIT_FOR - 1000;
        this.#pass(Math.max(step.ms, 0));
        bench.jump(step.ms);
    }
  }

  /** Adds a key. `isNow` is whether the add has no delay. */
  #added(key: string, isNow: boolean): void {
    this.#owed.set(key, ++this.#adds);
    this.#cancelled.delete(key);
    const hold = this.holds.findLast((hold) => hold.key === key);
    if (isNow && hold !== undefined) hold.isAddedAgain = true;
  }

  /** Renews the lease of an owner, and checks what the owner is told. */
  async #renew(owner: string): Promise<Renewal | undefined> {
    const news = await this.bench.engine.renew(owner, ARE_TOLD.includes(owner));
    const held = this.#heldBy(owner);
    if (news !== undefined && this.#isAlive(owner)) {
      const reasons = new Map(news.cancelled.map(({ token, reason }) => [token, reason]));
      const added = new Set(news.addedAgain);
      for (const { token, isCancelled, isAddedAgain = false } of held) {
        assertEquals(reasons.get(token), isCancelled ? "enough" : undefined, "the owner is told of the cancel");
        assertEquals(added.has(token), isAddedAgain && ARE_TOLD.includes(owner), "the owner is told of the add");
      }
    }
    if (this.#isAlive(owner) && held.length > 0) assert(news, "a lease that is not over can be renewed");
    if (news !== undefined) this.#ends.set(owner, this.#now + LEASE * 1000);
    return news;
  }

  #ask(owner: string, wanted: number, known: number): Promise<TurnReply> {
    return this.bench.take(owner, wanted, known, this.bench.engine, ARE_TOLD.includes(owner));
  }

  async take(owner: string, wanted: number): Promise<void> {
    const processing = this.#heldBy(owner);
    const { taken, isLost, isAlone, givenUp } = await this.#ask(owner, wanted, processing.length);
    this.#giveUp(givenUp.map(({ key }) => key));
    if (isLost) {
      assert(!this.#isAlive(owner), "nothing is taken away before the lease is over");
      return this.#forget(owner);
    }
    assert(taken.length <= wanted);
    if (isAlone && taken.length > 0) assertEquals([taken.length, processing.length], [1, 0], "a suspect is alone");
    for (const each of taken) {
      const { key, token } = each;
      this.#check(each);
      for (const other of this.holds) {
        assert(Number(token) > Number(other.token), "tokens grow");
        if (other.key !== key || (other.isOver && !other.isLost)) continue;
        assert(other.isLost || !this.#isAlive(other.owner), "no two owners hold a key whose leases are not over");
        other.isOver = true;
        other.isLost = false;
      }
      this.holds.push({ owner, key, token, adds: this.#adds, isOver: false });
    }
    if (taken.length > 0) this.#ends.set(owner, this.#now + LEASE * 1000);
  }

  /** Checks a key that was handed out. */
  #check({ key, failures }: TakenKey): void {
    assert(!this.#cancelled.has(key), "a cancelled key is handed out again only after an add");
    assertEquals(failures, this.#failures.get(key) ?? 0, "failures");
  }

  async finish(hold: Hold | undefined, kind: Finish["kind"]): Promise<void> {
    if (hold === undefined) return;
    const isNewest = hold === this.holds.findLast(({ key }) => key === hold.key);
    const counts = await this.bench.finish(hold.key, hold.token, kind);
    if (hold.isOver && !hold.isLost) assertEquals(counts, false, "what is over does not count");
    else if (!hold.isLost && this.#isAlive(hold.owner)) {
      assertEquals(counts, hold.isCancelled ? "cancelled" : true, "what is processing counts");
    }
    hold.isOver = true;
    hold.isLost = false;
    if (!counts) return;
    assert(isNewest, "only the newest token of a key counts");
    if (counts === true && kind === "retry") this.#failures.set(hold.key, (this.#failures.get(hold.key) ?? 0) + 1);
    if (counts === true && kind === "succeeded") this.#failures.delete(hold.key);
    const ends = counts === true && ["succeeded", "done", "requeueAfter"].includes(kind);
    if (ends) this.#done.set(hold.key, Math.max(hold.adds, this.#done.get(hold.key) ?? 0));
    await this.#look();
    if (ends) {
      const left = [...this.#waits.values()].filter(({ key, adds }) => key === hold.key && adds <= hold.adds);
      assertEquals(left, [], "a hand-out ends the waits before it");
    }
    const isFinal = counts === "cancelled" || kind === "succeeded" || kind === "done";
    if (isFinal && hold.adds >= (this.#owed.get(hold.key) ?? 0)) this.#owed.delete(hold.key);
  }

  /** Keeps the waits, and receives outcomes. */
  async #look(): Promise<void> {
    const kept = [...this.#waits].map(([id, { key }]) => ({ id, key }));
    if (kept.length === 0) return;
    let received: string[] = [];
    for (let isMore = true; isMore || received.length > 0;) {
      const reply = await this.bench.engine.waits({ process: WAITER, received, ended: [], kept });
      received = reply.outcomes.map(({ ids }) => ids);
      for (const { ids, outcome } of reply.outcomes) {
        for (const id of ids.split(",").map(Number)) this.#ended(id, outcome);
      }
      isMore = reply.isMore;
      if (!isMore) { for (const id of reply.lost) if (this.#isLate) this.#waits.delete(id); }
    }
  }

  #ended(id: number, outcome: string): void {
    const { key, adds } = this.#waits.get(id)!;
    this.#waits.delete(id);
    if (outcome === "done") assert((this.#done.get(key) ?? 0) >= adds, "only a later hand-out ends a wait");
    else assert(outcome.startsWith("givenUp ") || outcome === "cancelled enough", outcome);
  }

  /** Ends the run: one surviving owner processes all items. Checks that no added key is lost. */
  async end(): Promise<void> {
    let left = Infinity;
    for (let round = 0; round < 100 && left > 0; round++) {
      await this.#look();
      this.#pass(LEASE + 1);
      await this.bench.pass(LEASE + 1);
      await this.take("survivor", 5);
      for (const hold of this.#heldBy("survivor")) await this.finish(hold, "succeeded");
      const { ready, delayed, processing } = await this.bench.engine.counts();
      left = ready + delayed + processing;
    }
    assertEquals(left, 0, "all has ended");
    await this.#look();
    assertEquals([...this.#waits.keys()], [], "each wait has ended");
    assertEquals([...this.#owed.keys()], [], "what was added was handed out, or given up");
  }

  #giveUp(keys: readonly string[]): void {
    this.givenUp += keys.length;
    for (const key of keys) {
      this.#owed.delete(key);
      this.#failures.delete(key);
    }
  }

  #heldBy(owner: string): Hold[] {
    return this.holds.filter((hold) => hold.owner === owner && !hold.isOver);
  }

  #pass(ms: number): void {
    this.#now += ms * 1000;
  }

  #isAlive(owner: string): boolean {
    return (this.#ends.get(owner) ?? 0) > this.#now;
  }

  #forget(owner: string): void {
    for (const hold of this.#heldBy(owner)) hold.isOver = hold.isLost = true;
  }
}

/** Runs a test with a new queue. Checks afterwards that the store has nothing left of keys that were not given up. */
export type WithBench = (
  settings: { maxStalls: number },
  use: (bench: EngineBench) => Promise<{ givenUp: number }>,
) => Promise<void>;

/** Runs random owners. Checks that no key has two owners and that no key is lost. */
export async function checkOwners(withBench: WithBench, { runs, seed }: { runs: number; seed: number }): Promise<void> {
  let [holds, givenUp] = [0, 0];
  const run = async (seed: number) => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 70, size: "max" }), async (steps) => {
      await withBench({ maxStalls: 3 }, async (bench) => {
        const owners = new Owners(bench);
        for (const each of steps) await owners.do(each);
        await owners.end();
        holds += owners.holds.length;
        givenUp += owners.givenUp;
        return owners;
      });
    });
    await fc.assert(property, { numRuns: Math.ceil(runs / 4), seed });
  };
  const seeds = [1, 2, 3, 4].map((number) => 4 * seed + number);
  await Promise.all(seeds.map(run)); // in parallel, because a run mostly waits for the store
  assert(holds >= runs * 5 && givenUp >= runs / 20, `${holds} holds, ${givenUp} given up`);
}
