/** In-memory queue and an engine, side by side, with the same clock and the same operations. */

import { assert, assertEquals } from "@std/assert";
import {
  createRateLimitingQueue,
  createRetryBudget,
  type DisciplineConfig,
  disciplines,
  type LimiterConfig,
  limiters,
  type QueueSnapshot,
  type RateLimitingQueue,
  type RetryBudgetOptions,
  type WorkLease,
} from "@workqueue/core";
import { totalsOf } from "@workqueue/core/metrics";
import type {
  DisciplinePlan,
  Engine,
  EngineLimiter,
  EngineSettings,
  EngineSnapshot,
  Entry,
  Finish,
  FinishAnswer,
} from "@workqueue/engine";
import { planDiscipline } from "../../packages/engine/discipline_plan.ts";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { inspectionOf } from "@workqueue/core/hooks";
import { sourceOf } from "../queue_helpers.ts";
import { HandClock } from "../helpers.ts";
import { countsOf } from "./counts.ts";
import { addRateLimited, asked, START } from "./engine_bench.ts";

/**
 * Unit of all delays and times, in milliseconds. In an engine, each read advances the queue's time by far less than
 * this.
 */
export const UNIT = 10;

/** Item whose version distinguishes it from others with the same key. */
interface Item {
  readonly key: string;
  readonly version: number;
}

/** Outcome of the work on an item. Durations are multiples of `UNIT`. */
export interface End {
  /** Index of the processing item, modulo the number of processing items. */
  readonly which: number;
  readonly kind: Finish["kind"];
  readonly delay: number;
  /** Priority of "requeueAfter" and "retry". */
  readonly priority?: number | undefined;
}

/** Operations. A key is an index into the keys of the options. */
export type Operation =
  | { readonly do: "add"; readonly keys: readonly number[]; readonly priority?: number | undefined }
  | {
    readonly do: "addAfter";
    readonly keys: readonly number[];
    readonly delay: number;
    readonly priority?: number | undefined;
  }
  | {
    readonly do: "addRateLimited";
    readonly key: number;
    readonly minDelay: number;
    readonly byHolder: boolean;
    readonly priority?: number | undefined;
  }
  | { readonly do: "cancel" | "cancelDelayed" | "promoteDelayed" | "forget"; readonly key: number }
  | { readonly do: "pauseGroup"; readonly key: number; readonly units: number }
  | { readonly do: "resumeGroup"; readonly key: number }
  | { readonly do: "turn"; readonly ends: readonly End[]; readonly wanted: number }
  | { readonly do: "endStale"; readonly which: number; readonly kind: Finish["kind"] }
  | { readonly do: "pass"; readonly units: number };

/** Allowed differences. Each occurrence is counted. */
export type NamedDifference =
  /**
   * In memory, a ready item and a delayed item with the same key may have two payloads. In an engine, a key has only
   * its most recently added payload.
   */
  | "one-payload"
  /**
   * In memory, when the holder of an item adds the item again, the holder's payload is used, even if a newer payload
   * was added meanwhile. In an engine, the holder sends no payload when it adds the item again.
   */
  | "holder-overwrites"
  /**
   * If a key's deadline is brought forward to the deadline of another key, the order of the two keys differs. In
   * memory, the key that was brought forward keeps its original place. In an engine, this key comes after the
   * other key.
   */
  | "brought-forward-to-a-tie";

/** Settings of an engine beside an in-memory queue. */
export interface TwinSettings extends Pick<EngineSettings, "replaces" | "folds" | "retriesFirst" | "hasItems"> {
  readonly limiter: EngineLimiter;
  readonly discipline: DisciplinePlan | undefined;
  readonly retryBudget: RetryBudgetOptions | undefined;
}

/** Function that opens an engine for a queue. `clock` returns the time of the store, in microseconds. */
export type OpenEngine = (name: string, clock: () => number, settings: TwinSettings) => Engine;

export interface TwinsOptions {
  readonly name: string;
  readonly limiter: LimiterConfig;
  readonly addWhileDelayed: "keep" | "replace" | "fold";
  /** Whether items are objects with a key. Otherwise, the items are keys. */
  readonly hasItems: boolean;
  readonly keys: readonly string[];
  readonly discipline?: DisciplineConfig | undefined;
  readonly retryBudget?: RetryBudgetOptions | undefined;
  readonly retriesFirst?: boolean | undefined;
}

interface Processing {
  readonly lease: WorkLease<Item | string>;
  readonly key: string;
  readonly token: string;
  /** Whether the key was cancelled during this hand-out. */
  isCancelled?: boolean;
}

export class Twins {
  readonly differences = new Map<NamedDifference, number>();
  readonly #options: TwinsOptions;
  readonly #clock = new HandClock();
  readonly #memory: RateLimitingQueue<Item | string>;
  readonly #engine: Engine;
  readonly #processing: Processing[] = [];
  /** Tokens that are no longer valid. */
  readonly #stale: { readonly key: string; readonly token: string }[] = [];
  /** Newest added version of each key in the queue. */
  readonly #newest = new Map<string, number>();
  /** Keys that a holder has added again with an older version. */
  readonly #overwritten = new Set<string>();
  readonly #givenUp = new Set<string>();
  /** Deadlines of the delayed items at the last comparison, in memory. */
  #lastDues: ReadonlyMap<string, number> = new Map();
  /** Last error of each failing key. */
  readonly #errors = new Map<string, string>();
  #versions = 0;
  #pauses = 0;
  #lastToken = 0;
  #compared = 0;
  /** Upper bound for how far the queue's time in an engine is ahead, in microseconds. */
  #ahead = 0;

  /** `open` opens the engine. */
  constructor(open: OpenEngine, options: TwinsOptions) {
    const { name, limiter, addWhileDelayed, hasItems, discipline, retryBudget, retriesFirst } = options;
    const description = limiters.describe(limiter);
    this.#options = options;
    this.#memory = createRateLimitingQueue(limiters.build(limiter, { clock: this.#clock }), {
      clock: this.#clock,
      maxSleep: 1e9,
      addWhileDelayed,
      retriesFirst,
      retryBudget: retryBudget && createRetryBudget(retryBudget),
      ...hasItems && { keyOf },
      ...discipline && { discipline: disciplines.build<Item | string>(discipline, { clock: this.#clock }) },
    });
    this.#engine = open(name, () => START + this.#clock.time * 1000 + (this.#ahead += 4), {
      replaces: addWhileDelayed !== "keep",
      folds: addWhileDelayed === "fold",
      retriesFirst,
      hasItems,
      limiter: planLimiter("test", description),
      discipline: discipline && planDiscipline("test", disciplines.describe(discipline)),
      retryBudget,
    });
  }

  async do(operation: Operation): Promise<void> {
    const before = this.#lastDues;
    const made = this.#make(operation);
    this.#ahead += 10;
    await made;
    await this.#settleTies(before);
    const { discipline, retryBudget } = this.#options;
    // In an engine, no two keys become ready at the same time.
    if (discipline && retryBudget) await this.#pass(UNIT);
    await this.#compare();
  }

  async #make(operation: Operation): Promise<void> {
    const [memory, engine] = [this.#memory, this.#engine];
    switch (operation.do) {
      case "add":
      case "addAfter": {
        const delay = operation.do === "add" ? 0 : operation.delay * UNIT;
        const { priority } = operation;
        const items = operation.keys.map((key) => this.#item(this.#key(key)));
        for (const item of items) {
          if (operation.do === "add") memory.add(item, { priority });
          else memory.addAfter(item, delay, { priority });
        }
        if (priority === undefined) return await engine.add(items.map(entryOf), delay);
        await engine.addEach(items.map((item) => ({ ...entryOf(item), delay, priority })));
        return;
      }
      case "addRateLimited": {
        const minDelay = this.#retryDelay(operation.minDelay);
        const key = this.#key(operation.key);
        const { priority } = operation;
        const lease = operation.byHolder ? this.#processing.find((each) => each.key === key)?.lease : undefined;
        const item = lease?.item ?? this.#item(key);
        if (lease !== undefined) this.#addByHolder(lease.item);
        memory.addRateLimited(item, { minDelay, priority });
        return await addRateLimited(engine, entryOf(item), { isNewest: lease === undefined, minDelay, priority });
      }
      case "cancel": {
        const key = this.#key(operation.key);
        const state = memory.cancel(this.#unversioned(key));
        const processing = this.#processing.find((each) => each.key === key);
        assertEquals(state === "running", processing !== undefined);
        if (processing !== undefined) processing.isCancelled = true;
        return assertEquals(await engine.cancel(key, ""), state, "the state of what is cancelled");
      }
      case "cancelDelayed": {
        const key = this.#key(operation.key);
        return assertEquals(await engine.cancelDelayed(key), memory.cancelDelayed(this.#unversioned(key)));
      }
      case "promoteDelayed": {
        const key = this.#key(operation.key);
        const { delayedItems } = memory.snapshot({ limit: 100 });
        const priority = delayedItems.find(({ item }) => keyOf(item) === key)?.priority;
        const isDelayed = memory.cancelDelayed(this.#unversioned(key));
        if (isDelayed) {
          memory.add(this.#options.hasItems ? { key, version: this.#newest.get(key)! } : key, { priority });
        }
        return assertEquals(await engine.promoteDelayed(key), isDelayed);
      }
      case "forget": {
        const key = this.#key(operation.key);
        memory.forget(this.#unversioned(key));
        return await engine.forget(key);
      }
      case "pauseGroup": {
        const group = this.#key(operation.key).split("/")[0]!;
        // Ends at a time when nothing is due and no other pause ends.
        const duration = operation.units * UNIT + 2 + this.#pauses++ % 13 * 0.45;
        memory.pauseGroup(group, duration);
        return assertEquals(await engine.pauseGroup(group, duration), true);
      }
      case "resumeGroup": {
        const group = this.#key(operation.key).split("/")[0]!;
        memory.resumeGroup(group);
        return assertEquals(await engine.resumeGroup(group), true);
      }
      case "turn": {
        await this.#turn(operation.ends, operation.wanted);
        // No two groups use their rate at one time: in an engine, one of them would be a few microseconds later.
        const { discipline } = this.#options;
        const hasRate = discipline?.type === "fair" && "ratePerGroup" in discipline;
        return hasRate ? this.#pass(UNIT) : undefined;
      }
      case "endStale": {
        const stale = pick(this.#stale, operation.which);
        if (stale === undefined) return;
        const { answers } = await this.#ask([asked(engine, { ...stale, kind: operation.kind, delay: UNIT })], 0);
        assertEquals(answers, [false], "a token that is over counts no more");
        return;
      }
      case "pass":
        return this.#pass(operation.units * UNIT);
    }
  }

  async #pass(ms: number): Promise<void> {
    const end = this.#clock.time + ms;
    const hasBudget = this.#options.retryBudget !== undefined;
    for (;;) {
      const change = this.#nextChange();
      if (this.#clock.fireNext(Math.min(change, end))) {
        if (hasBudget) await this.#engine.counts(); // a retry becomes ready when somebody looks
        continue;
      }
      if (change > end) break;
      this.#clock.time = change;
      assert(this.#memory.length >= 0); // looks at the discipline
    }
    this.#clock.time = end;
  }

  async #turn(ends: readonly End[], wanted: number): Promise<void> {
    const finishes: Finish[] = [];
    const expected: FinishAnswer[] = [];
    const { discipline, retryBudget } = this.#options;
    const each = discipline && retryBudget ? ends.slice(0, 1) : ends;
    for (const { which, kind: wished, delay: units, priority } of each) {
      // In an engine, an item that is handed back keeps its place in the order of a discipline.
      const kind = wished === "handedBack" && this.#options.discipline !== undefined ? "done" : wished;
      const processing = pick(this.#processing, which);
      if (processing === undefined) continue;
      this.#processing.splice(this.#processing.indexOf(processing), 1);
      this.#stale.push(processing);
      const isRetry = kind === "retry" || kind === "failed";
      const delay = isRetry ? this.#retryDelay(units) : Math.max(units, 0) * UNIT;
      const reason = isRetry ? `error ${processing.token}` : "";
      const { key, token, lease, isCancelled = false } = processing;
      const rank = kind === "requeueAfter" || kind === "retry" ? priority : undefined;
      const finish: Finish = { key, token, kind, delay, reason, priority: rank };
      finishes.push(asked(this.#engine, finish, this.#memory.numRequeues(lease.item)));
      expected.push(isCancelled ? "cancelled" : true);
      if (isCancelled) {
        this.#memory.forget(lease.item);
        lease[Symbol.dispose]();
        continue;
      }
      if (isRetry) this.#errors.set(processing.key, reason);
      this.#endInMemory(processing, kind, delay, rank ?? lease.priority);
    }
    const leases = Array.from({ length: wanted }, () => this.#memory.tryGet()).filter((lease) => lease !== undefined);
    const failures = leases.map(({ item }) => this.#memory.numRequeues(item));
    const { answers, taken, pauseMs, isLost, isAlone, givenUp } = await this.#ask(finishes, wanted);
    assertEquals([isLost, isAlone, givenUp], [false, false, []]);
    assertEquals(answers, expected, "what is processing counts");
    assertEquals(taken.map(({ key }) => key), leases.map(({ item }) => keyOf(item)), "what is handed out");
    assertEquals(taken.map((each) => each.failures), failures, "failures of what is handed out");
    assertEquals(taken.map(({ priority = 0 }) => priority), leases.map(({ priority }) => priority), "priorities");
    for (const [i, { key, token, payload }] of taken.entries()) {
      assert(Number(token) > this.#lastToken, "tokens grow");
      this.#lastToken = Number(token);
      this.#processing.push({ lease: leases[i] as WorkLease<Item | string>, key, token });
      this.#comparePayload(key, payload, leases[i]!.item);
    }
    if (taken.length < wanted && this.#options.discipline === undefined) this.#comparePause(pauseMs);
  }

  #endInMemory({ lease, key }: Processing, kind: Finish["kind"], delay: number, priority: number): void {
    const { item } = lease;
    const memory = this.#memory;
    if (kind === "requeueAfter" || kind === "retry" || kind === "failed" || kind === "handedBack") {
      this.#addByHolder(item);
    }
    if (kind === "succeeded" || kind === "requeueAfter" || kind === "givenUp") memory.forget(item);
    if (kind === "requeueAfter") memory.addAfter(item, delay, { priority });
    if (kind === "retry") memory.addRateLimited(item, { minDelay: delay, priority });
    if (kind === "failed" || kind === "handedBack") {
      const attempt = { lease, key, number: 1 };
      const ending = kind === "failed" ? { kind, error: "down", minDelay: delay } as const : { kind } as const;
      sourceOf(memory).finish(attempt, ending, (error) => {
        throw error;
      });
    }
    if (kind === "givenUp" && !lease.addedAgain() && !this.#dues().has(key)) this.#givenUp.add(key);
    lease[Symbol.dispose]();
  }

  #ask(finishes: Finish[], wanted: number) {
    const known = this.#processing.length;
    const common = { process: "process", owner: "owner", throttle: undefined };
    return this.#engine.turn({ ...common, known, wanted, finishes });
  }

  #comparePayload(key: string, payload: string | undefined, item: Item | string): void {
    if (typeof item === "string") return assertEquals(payload, undefined);
    assertEquals(payload, JSON.stringify({ key, version: this.#newest.get(key) }), "the newest of any add");
    if (item.version === this.#newest.get(key)) return;
    const isOverwritten = this.#overwritten.has(key);
    assert(isOverwritten || this.#options.addWhileDelayed === "keep", "in memory there is but one payload as well");
    this.#differ(isOverwritten ? "holder-overwrites" : "one-payload");
  }

  #addByHolder(item: Item | string): void {
    if (typeof item !== "string" && item.version < this.#newest.get(item.key)!) this.#overwritten.add(item.key);
  }

  #comparePause(pause: number | undefined): void {
    const first = Math.min(...this.#dues().values(), this.#opensAt());
    if (first === Infinity) assertEquals(pause, undefined, "nothing will come");
    else this.#close(pause!, first - this.#clock.time, "the time until something comes");
  }

  async #compare(): Promise<void> {
    const { keys } = this.#options;
    const key = keys[this.#compared++ % keys.length]!; // each comparison checks another key, in turn
    const [snapshot, counts, requeues] = await Promise.all([
      this.#engine.snapshot(100),
      countsOf(this.#engine),
      this.#engine.numRequeues(key),
    ]);
    const memory = this.#memory.snapshot({ limit: 100 });
    const dues = this.#lastDues = this.#duesIn(memory);
    assertEquals(
      snapshot.readyItems.map(({ key, priority = 0 }) => [key, priority]),
      memory.readyItems.map(({ item, priority }) => [keyOf(item), priority]),
      "ready",
    );
    this.#compareDelayed(snapshot, memory);
    assertEquals(
      Object.fromEntries(snapshot.processingItems.map(({ key, addedAgain, priority = 0 }) => [
        key,
        [addedAgain, priority],
      ])),
      Object.fromEntries(memory.processingItems.map(({ item, addedAgain, priority }) => [
        keyOf(item),
        [addedAgain, priority],
      ])),
      "processing, and added again",
    );
    const expected = keys.map((key) => this.#memory.numRequeues(this.#unversioned(key)));
    assertEquals(requeues, expected[keys.indexOf(key)], "numRequeues");
    const { readyItems, delayedItems, processingItems } = snapshot;
    const all = [...readyItems, ...delayedItems, ...processingItems];
    for (const key of keys) if (this.#isReadyOrProcessing(key) || dues.has(key)) this.#givenUp.delete(key);
    assertEquals(counts, {
      ready: memory.ready,
      blocked: memory.blocked,
      delayed: memory.delayed,
      processing: memory.processing,
      failing: expected.filter((count) => count > 0).length,
      givenUp: this.#givenUp.size,
    }, "counts");
    const { ready, blocked, delayed, processing, failing, givenUp } = snapshot;
    assertEquals({ ready, blocked, delayed, processing, failing, givenUp }, counts, "counts of the snapshot");
    this.#compareFailing(snapshot, expected, dues);
    if (!this.#options.hasItems) return;
    for (const key of this.#newest.keys()) {
      if (this.#isReadyOrProcessing(key) || dues.has(key)) continue;
      this.#newest.delete(key);
      this.#overwritten.delete(key);
    }
    for (const { key, payload } of all) {
      assertEquals(payload, JSON.stringify({ key, version: this.#newest.get(key) }), "payload in the list");
    }
  }

  #compareFailing(snapshot: EngineSnapshot, expected: number[], dues: ReadonlyMap<string, number>): void {
    const { failingItems, totals, delayedItems } = snapshot;
    assertEquals(totals.handedOut, totalsOf(this.#memory).handedOut, "handed out");
    const failing = this.#options.keys.flatMap((key, i) => {
      const attempts = expected[i]!;
      if (attempts === 0) this.#errors.delete(key);
      if (attempts === 0 || !(this.#isReadyOrProcessing(key) || dues.has(key))) return [];
      const payload = this.#options.hasItems ? JSON.stringify({ key, version: this.#newest.get(key) }) : undefined;
      return [{ key, payload, attempts, error: this.#errors.get(key) ?? "" }];
    });
    failing.sort((a, b) => b.attempts - a.attempts || (a.key < b.key ? -1 : 1));
    assertEquals(failingItems.map(({ dueInMs: _, ...rest }) => rest), failing, "what fails");
    const dueInMs = new Map(delayedItems.map((entry) => [entry.key, entry.dueInMs]));
    for (const { key, dueInMs: due } of failingItems) {
      this.#close(due ?? 0, dueInMs.get(key) ?? 0, "when it is retried");
    }
  }

  #compareDelayed(snapshot: EngineSnapshot, { delayedItems }: QueueSnapshot<Item | string>): void {
    const dueInMs = new Map(snapshot.delayedItems.map((entry) => [entry.key, entry.dueInMs]));
    assertEquals([...dueInMs.keys()].toSorted(), delayedItems.map(({ item }) => keyOf(item)).toSorted(), "delayed");
    for (const each of delayedItems) this.#close(dueInMs.get(keyOf(each.item))!, each.dueInMs, "when it is due");
  }

  #close(received: number, expected: number, what: string): void {
    assert(Math.abs(received - expected) <= this.#ahead / 1000, `${what}: ${received} and in memory ${expected}`);
  }

  /** Cancels, on both sides, each delayed key whose deadline was brought forward to the deadline of another key. */
  async #settleTies(before: ReadonlyMap<string, number>): Promise<void> {
    const dues = this.#dues();
    for (const [key, due] of dues) {
      const isTie = [...dues].some(([other, otherDue]) => other !== key && Math.abs(otherDue - due) < UNIT / 1000);
      if (!isTie || !(due < (before.get(key) ?? 0))) continue;
      this.#differ("brought-forward-to-a-tie");
      assertEquals([this.#memory.cancelDelayed(this.#unversioned(key)), await this.#engine.cancelDelayed(key)], [
        true,
        true,
      ]);
      dues.delete(key);
    }
  }

  /** Returns the deadlines of the delayed items in the in-memory queue. */
  #dues(): Map<string, number> {
    return this.#duesIn(this.#memory.snapshot({ limit: 100 }));
  }

  #duesIn({ delayedItems }: QueueSnapshot<Item | string>): Map<string, number> {
    return new Map(delayedItems.map(({ item, dueInMs }) => [keyOf(item), this.#clock.time + dueInMs]));
  }

  /** Reports whether a key is ready, blocked or processing in the in-memory queue. */
  #isReadyOrProcessing(key: string): boolean {
    return inspectionOf(this.#memory)!.stateOf(this.#unversioned(key)) !== undefined;
  }

  /**
   * Returns the next time at which blocked items of the in-memory queue become ready. The in-memory queue itself looks
   * at this time only if nothing is ready, and in an engine, each script unblocks items as of their times.
   */
  #nextChange(): number {
    const order = inspectionOf(this.#memory)!.groups as { readonly nextChangeAt?: number } | undefined;
    return order?.nextChangeAt ?? Infinity;
  }

  /** Returns the shortest delay of a retry. With a retry budget, a retry is never due together with another key. */
  #retryDelay(units: number): number {
    if (units <= 0) return 0;
    return units * UNIT + (this.#options.retryBudget === undefined ? 0 : UNIT / 2);
  }

  /** Returns the time from which a blocked retry can become ready. */
  #opensAt(): number {
    const gate = inspectionOf(this.#memory)!.blockedRetries;
    return gate?.opensAt ?? Infinity;
  }

  #key(index: number): string {
    return this.#options.keys[index]!;
  }

  #item(key: string): Item | string {
    if (!this.#options.hasItems) return key;
    const version = ++this.#versions;
    this.#newest.set(key, version);
    return { key, version };
  }

  #unversioned(key: string): Item | string {
    return this.#options.hasItems ? { key, version: 0 } : key;
  }

  #differ(name: NamedDifference): void {
    this.differences.set(name, (this.differences.get(name) ?? 0) + 1);
  }
}

function keyOf(item: Item | string): string {
  return typeof item === "string" ? item : item.key;
}

function entryOf(item: Item | string): Entry {
  return { key: keyOf(item), payload: typeof item === "string" ? "" : JSON.stringify(item) };
}

function pick<T>(all: readonly T[], which: number): T | undefined {
  return all[which % all.length];
}
