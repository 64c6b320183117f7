import type { CancelledFrom, RetryBudgetOptions } from "@workqueue/core";
import type {
  EngineLimiter,
  EngineRedrive,
  EngineSettings,
  EngineSnapshot,
  Entry,
  KeptKey,
  KeptPage,
  KeptSelection,
  PartitionedEngine,
  Partitions,
  QueueCounts,
  RankedEntry,
  Retention,
  StoredKey,
  StoredPage,
} from "@workqueue/engine";
import { RedisConnectionError } from "./connection/errors.ts";
import { byPartition } from "./division.ts";
import { MAX_CHECKED, type RedisEngine, withoutTime } from "./engine.ts";
import type { Partitioning } from "./partitioning.ts";
import { PRODUCT } from "./product.ts";

/**
 * Queue whose keys are divided among partitions on the server. A call about a key goes to the partition of the key, and
 * any other call goes to all partitions, whose replies are put together.
 */
export class PartitionedRedisEngine implements PartitionedEngine {
  readonly product = PRODUCT;
  readonly settings: EngineSettings;
  readonly partitions: Partitions;
  readonly #partitioning: Partitioning;
  readonly #engines: readonly RedisEngine[];
  readonly #first: RedisEngine;

  /** Combines the engines of all partitions into one engine. */
  constructor(settings: EngineSettings, partitioning: Partitioning, engines: readonly RedisEngine[]) {
    this.settings = settings;
    this.#partitioning = partitioning;
    this.#engines = engines;
    this.#first = engines[0]!;
    const bucket = `workqueue:{${settings.name}}:throttle`;
    this.partitions = { engines, bucket, indexOf: (key) => partitioning.indexOf(key) };
  }

  get address(): string {
    return this.#first.address;
  }

  get isConnected(): boolean {
    return this.#first.isConnected;
  }

  get limiter(): EngineLimiter {
    return this.#first.limiter;
  }

  set limiter(limiter: EngineLimiter) {
    for (const engine of this.#engines) engine.limiter = limiter;
  }

  get measuresTimes(): boolean {
    return this.#first.measuresTimes;
  }

  set measuresTimes(measures: boolean) {
    for (const engine of this.#engines) engine.measuresTimes = measures;
  }

  async add(entries: readonly Entry[], delay?: number): Promise<void> {
    await this.#partitioning.open();
    await this.#inParts(entries, (engine, some) => engine.add(some, delay));
  }

  async addEach(entries: readonly RankedEntry[]): Promise<number> {
    await this.#partitioning.open();
    return sumOf(await this.#inParts(entries, (engine, some) => engine.addEach(some)), (added) => added);
  }

  async addRateLimited(
    entry: Entry,
    isNewest: boolean,
    given: string,
    minDelay: number,
    priority?: number,
  ): Promise<number | undefined> {
    const engine = await this.engineOf(entry.key);
    return await engine.addRateLimited(entry, isNewest, given, minDelay, priority);
  }

  async cancelDelayed(key: string): Promise<boolean> {
    return await (await this.engineOf(key)).cancelDelayed(key);
  }

  async cancel(key: string, reason: string): Promise<CancelledFrom | undefined> {
    return await (await this.engineOf(key)).cancel(key, reason);
  }

  async promoteDelayed(key: string): Promise<boolean> {
    return await (await this.engineOf(key)).promoteDelayed(key);
  }

  async forget(key: string): Promise<void> {
    await (await this.engineOf(key)).forget(key);
  }

  async numRequeues(key: string): Promise<number> {
    return await (await this.engineOf(key)).numRequeues(key);
  }

  async pause(): Promise<number> {
    const number = await this.#first.pause();
    await this.#all((engine) => engine.pauseAs(number));
    return number;
  }

  async resume(pause?: number): Promise<void> {
    const last = await this.#first.tryResume(pause);
    if (last !== undefined) await this.#all((engine) => engine.resumeAs(last));
  }

  groupOf(key: string): string | undefined {
    return this.#first.groupOf(key);
  }

  async pauseUntil(duration: number): Promise<void> {
    await this.#all((engine) => engine.pauseUntil(duration));
  }

  async pauseGroup(group: string, duration: number): Promise<boolean> {
    return await (await this.#engineOfGroup(group)).pauseGroup(group, duration);
  }

  async resumeGroup(group: string): Promise<boolean> {
    return await (await this.#engineOfGroup(group)).resumeGroup(group);
  }

  async keepGivenUp(retention: Retention): Promise<void> {
    const part = partOfRetention(retention, this.#engines.length);
    await this.#all((engine) => engine.keepGivenUp(part));
  }

  async limitRetries(budget: RetryBudgetOptions): Promise<void> {
    const part = partOfBudget(budget, this.#engines.length);
    await this.#all((engine) => engine.limitRetries(part));
  }

  /**
   * Lists given-up keys, newest first. A cursor is the time when the next key was given up, and the partition of the
   * key. Of keys with the same time, those in the partition with the lower number come first.
   */
  async givenUp(
    { search, limit, cursor }: { search: string; limit: number; cursor: string | undefined },
  ): Promise<KeptPage> {
    const start = cursor === undefined ? undefined : placeAt(cursor);
    const most = Math.ceil(MAX_CHECKED / this.#engines.length);
    const pages = await this.#all(async (engine, partition) => {
      const from = start && start.at - (partition < start.partition ? 1 : 0);
      const page = await engine.listGivenUp({ search, limit, cursor: from?.toString() }, most);
      const places = page.entries.map(({ at }) => ({ at: Number(at), partition }));
      const rest = page.cursor === undefined ? undefined : { ...placeAt(page.cursor), partition };
      return { ...page, places, rest };
    });
    const found = pages.flatMap(({ entries, places }) => entries.map((entry, i) => ({ entry, place: places[i]! })));
    found.sort((one, other) => compare(one.place, other.place));
    // From here on, a partition may have keys that were not listed.
    const [rest] = pages.flatMap(({ rest }) => rest ?? []).sort(compare);
    const listed = found.filter(({ place }) => rest === undefined || compare(place, rest) < 0).slice(0, limit);
    const next = found[listed.length]?.place ?? rest;
    return {
      entries: listed.map(({ entry }) => withoutTime(entry)),
      cursor: next && `${next.at}-${next.partition}`,
      total: sumOf(pages, ({ total }) => total),
      dropped: sumOf(pages, ({ dropped }) => dropped),
    };
  }

  async discard(selection: KeptSelection): Promise<number> {
    const discarded = await this.#select(selection, (engine, some) => engine.discard(some));
    return sumOf(discarded, (count) => count);
  }

  /**
   * Begins a redrive in each partition, so that no partition shows the progress of an earlier one. Those that may have
   * selected keys share the rate.
   */
  async redrive({ search, keys }: KeptSelection, rate: number | undefined): Promise<EngineRedrive | undefined> {
    if ((await this.redriveProgress())?.running === true) return undefined;
    const parts = keys && byPartition(keys, (key) => this.#partitioning.indexOf(key));
    const share = rate && rate / Math.max(parts?.size ?? this.#engines.length, 1);
    const begun: RedisEngine[] = [];
    const started = await this.#all(async (engine, index) => {
      const progress = await engine.redrive({ search, keys: parts && (parts.get(index) ?? []) }, share);
      if (progress !== undefined) begun.push(engine);
      return progress;
    });
    if (started.includes(undefined)) { // another process has begun one in the meantime, which goes on
      await together(begun.map((engine) => engine.stopRedrive()));
      return undefined;
    }
    return progressOf(started);
  }

  async redriveProgress(): Promise<EngineRedrive | undefined> {
    return progressOf(await this.#all((engine) => engine.redriveProgress()));
  }

  async stopRedrive(): Promise<EngineRedrive | undefined> {
    return progressOf(await this.#all((engine) => engine.stopRedrive()));
  }

  async counts(): Promise<QueueCounts> {
    return countsOf(await this.#all((engine) => engine.counts()));
  }

  /** Lists the keys of one partition after the other. The cursor begins with the number of the partition. */
  async stored(withProcessing: boolean, cursor = "0"): Promise<StoredPage> {
    await this.#partitioning.open();
    const [index, within] = cursor.split(/,(.*)/s) as [string, string?];
    const partition = Number(index);
    const page = await this.#engines[partition]!.stored(withProcessing, within);
    if (page.cursor !== undefined) return { ...page, cursor: `${partition},${page.cursor}` };
    return { ...page, cursor: partition + 1 < this.#engines.length ? `${partition + 1}` : undefined };
  }

  async restore(keys: readonly StoredKey[]): Promise<void> {
    await this.#partitioning.open();
    await this.#inParts(keys, (engine, some) => engine.restore(some));
  }

  async restoreGivenUp(keys: readonly KeptKey[]): Promise<void> {
    await this.#partitioning.open();
    await this.#inParts(keys, (engine, some) => engine.restoreGivenUp(some));
  }

  async snapshot(limit: number): Promise<EngineSnapshot> {
    const all = await this.#all((engine) => engine.snapshot(limit));
    const [first] = all as [EngineSnapshot];
    const cut = <E>(entries: E[]) => entries.slice(0, limit);
    return {
      ...countsOf(all),
      paused: all.some(({ paused }) => paused),
      totals: {
        ...addUp(all.map(({ totals: { givenUpFor: _, ...totals } }) => totals)),
        givenUpFor: addUp(all.map(({ totals }) => totals.givenUpFor)),
      },
      readyItems: cut(byTurns(all.map(({ readyItems }) => readyItems))),
      delayedItems: cut(
        all.flatMap(({ delayedItems }) => delayedItems).sort((one, other) => one.dueInMs - other.dueInMs),
      ),
      processingItems: cut(byTurns(all.map(({ processingItems }) => processingItems))),
      failingItems: cut(
        all.flatMap(({ failingItems }) => failingItems).sort((one, other) => other.attempts - one.attempts),
      ),
      ...first.blockedRetries !== undefined && {
        blockedRetries: sumOf(all, ({ blockedRetries = 0 }) => blockedRetries),
      },
      ...first.blockedGroups && { blockedGroups: cut(all.flatMap(({ blockedGroups = [] }) => blockedGroups)) },
    };
  }

  checkStore(report: (problem: Error) => void): void {
    for (const engine of this.#engines) engine.checkStore(report);
  }

  async close(): Promise<void> {
    if (this.isConnected && this.#partitioning.isOpen) await this.#forgetDivision().catch(() => {});
    await Promise.all(this.#engines.map((engine) => engine.close()));
  }

  /** Lets the division of the queue expire if all of its partitions are empty. */
  async #forgetDivision(): Promise<void> {
    const endings = await this.#all((engine) => engine.ending());
    const known = endings.filter((ending) => ending !== undefined);
    if (known.length === endings.length) await this.#partitioning.forgetIn(Math.max(...known));
  }

  async engineOf(key: string): Promise<RedisEngine> {
    await this.#partitioning.open();
    return this.#engines[this.#partitioning.indexOf(key)]!;
  }

  async #engineOfGroup(group: string): Promise<RedisEngine> {
    await this.#partitioning.open();
    return this.#engines[this.#partitioning.indexOfGroup(group)]!;
  }

  /** Makes a call to each partition. */
  #all<R>(call: (engine: RedisEngine, index: number) => Promise<R>): Promise<R[]> {
    return together(this.#engines.map(call));
  }

  /** Makes a call to each partition of the entries, with its entries. */
  #inParts<E extends { readonly key: string }, R>(
    entries: readonly E[],
    call: (engine: RedisEngine, some: E[]) => Promise<R>,
  ): Promise<R[]> {
    const parts = byPartition(entries, ({ key }) => this.#partitioning.indexOf(key));
    return together(Array.from(parts, ([i, some]) => call(this.#engines[i]!, some)));
  }

  /** Makes a call to each partition that may have keys of a selection. */
  async #select<R>(
    { search, keys }: KeptSelection,
    call: (engine: RedisEngine, selection: KeptSelection) => Promise<R>,
  ): Promise<R[]> {
    if (keys === undefined) return await this.#all((engine) => call(engine, { search, keys }));
    await this.#partitioning.open();
    const entries = keys.map((key) => ({ key }));
    return await this.#inParts(entries, (engine, some) => call(engine, { search, keys: some.map(({ key }) => key) }));
  }
}

/** Returns the limits on the given-up keys of one partition. */
export function partOfRetention({ max, maxAge }: Retention, partitions: number): Retention {
  return { max: Math.ceil(max / partitions), maxAge };
}

/** Returns the retry budget of one partition. */
export function partOfBudget({ ratio, minRate }: RetryBudgetOptions, partitions: number): RetryBudgetOptions {
  return { ratio, minRate: minRate / partitions };
}

/**
 * Waits for all parts of a call. If some parts failed and others may have taken effect, the whole call counts as one
 * that may have taken effect.
 *
 * @throws The error of the first call that failed.
 */
async function together<R>(calls: Promise<R>[]): Promise<R[]> {
  const results = await Promise.allSettled(calls);
  const failed = results.filter((result) => result.status === "rejected");
  if (failed.length === 0) return results.map((result) => (result as PromiseFulfilledResult<R>).value);
  const error = failed[0]!.reason;
  if (failed.length === calls.length || !(error instanceof RedisConnectionError) || error.mayHaveRun) throw error;
  throw new RedisConnectionError(`${error.message}. Other partitions of the queue answered`, {
    mayHaveRun: true,
    cause: error,
  });
}

/** Place in the list of the given-up keys of all partitions. */
interface Place {
  /** Time when the key was given up, in microseconds, on the clock of its partition. */
  readonly at: number;
  readonly partition: number;
}

function placeAt(cursor: string): Place {
  const [at, partition] = cursor.split("-").map(Number) as [number, number];
  return { at, partition };
}

function compare(one: Place, other: Place): number {
  return other.at - one.at || one.partition - other.partition;
}

function sumOf<E>(all: readonly E[], valueOf: (each: E) => number): number {
  return all.reduce((sum, each) => sum + valueOf(each), 0);
}

/** Adds up numbers by name. */
function addUp<N extends { readonly [name in keyof N]: number }>(all: readonly N[]): N {
  const names = Object.keys(all[0]!) as (keyof N)[];
  return Object.fromEntries(names.map((name) => [name, sumOf(all, (each) => each[name])])) as N;
}

function countsOf(all: readonly QueueCounts[]): QueueCounts {
  const sum = (name: keyof QueueCounts) => sumOf(all, (counts) => counts[name]);
  return {
    ready: sum("ready"),
    blocked: sum("blocked"),
    delayed: sum("delayed"),
    processing: sum("processing"),
    failing: sum("failing"),
    givenUp: sum("givenUp"),
    oldestReadyMs: Math.max(...all.map(({ oldestReadyMs }) => oldestReadyMs)),
  };
}

function progressOf(all: readonly (EngineRedrive | undefined)[]): EngineRedrive | undefined {
  const found = all.filter((progress) => progress !== undefined);
  if (found.length === 0) return undefined;
  const pauses = found.flatMap(({ pauseMs }) => pauseMs ?? []);
  return {
    redriven: sumOf(found, ({ redriven }) => redriven),
    left: sumOf(found, ({ left }) => left),
    running: found.some(({ running }) => running),
    pauseMs: pauses.length === 0 ? undefined : Math.min(...pauses),
  };
}

/** Merges lists: the first entries of all lists, then the second ones, and so on. */
function byTurns<E>(lists: readonly (readonly E[])[]): E[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}
