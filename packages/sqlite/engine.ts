import type { CancelledFrom, RetryBudgetOptions } from "@workqueue/core";
import { matcherOf } from "@workqueue/core/internal/policy";
import type {
  DisciplinePlan,
  Engine,
  EngineLimiter,
  EngineRedrive,
  EngineSettings,
  EngineSnapshot,
  Entry,
  KeptKey,
  KeptPage,
  KeptSelection,
  ProcessListener,
  QueueCounts,
  RankedEntry,
  Renewal,
  Retention,
  RetryKind,
  StoredKey,
  StoredPage,
  TurnReply,
  TurnRequest,
  WaitsReply,
  WaitsRequest,
} from "@workqueue/engine";
import type { Batch } from "./database/batch.ts";
import type { Database } from "./database/database.ts";
import { SqliteConnectionError } from "./database/errors.ts";
import type { Durability } from "./database/file_connection.ts";
import { PRODUCT } from "./product.ts";
import { addedAgainOf, addEntries, type AddSettings, keepPayload } from "./store/adds.ts";
import { addAfter, come, makeDueReady } from "./store/arrivals.ts";
import { cancel, cancelledKeysOf, renewalAddress } from "./store/cancels.ts";
import { restoreGivenUp, restoreKeys, storedKeys } from "./store/copies.ts";
import { countKeys } from "./store/counts.ts";
import { putBack } from "./store/hand_backs.ts";
import type { GivenUpRow } from "./store/given_up_keys.ts";
import { endDelay, FIRST, isGone } from "./store/item.ts";
import { hear } from "./store/leases.ts";
import { OF_OWNER } from "./store/owners.ts";
import type { Queue } from "./store/queue.ts";
import { queueIn } from "./store/queue_in.ts";
import { beginRedrive, continueRedrive, redriveProgress, stopRedrive } from "./store/redrive.ts";
import { setBudget } from "./store/retry_budget.ts";
import { takeSnapshot } from "./store/snapshot.ts";
import { FAR, toMicroseconds } from "./store/time.ts";
import { turn } from "./store/turn.ts";

/** Settings of a queue, with its first limiter. */
export interface SqliteEngineSettings extends EngineSettings {
  readonly limiter: EngineLimiter;
  /** Whether an add must be on the disk before its promise resolves. */
  readonly durability: Durability;
  /** Time for which a call waits until it can write, in milliseconds. */
  readonly callTimeout: number;
  /** Discipline to put in force. By default, the discipline in the file stays in force. */
  readonly discipline?: DisciplinePlan | undefined;
  /** Limits on given-up keys to put in force. By default, the limits in the file stay in force. */
  readonly retention?: Retention | undefined;
  /** Retry budget to put in force. By default, the budget in the file stays in force. */
  readonly retryBudget?: RetryBudgetOptions | undefined;
  /** Returns the time in microseconds since 1970. */
  readonly clock: () => number;
}

/** Maximum number of entries that one call adds. */
const MAX_ENTRIES = 200;
/** Maximum number of given-up keys that a list checks. */
const MAX_CHECKED = 10_000;

/** Calls from one queue to its file. Doesn't handle leases or timers. */
export class SqliteEngine implements Engine {
  readonly product = PRODUCT;
  readonly isConnected = true;
  readonly settings: EngineSettings;
  limiter: EngineLimiter;
  measuresTimes = false;
  readonly #database: Database;
  readonly #clock: () => number;
  readonly #durability: Durability;
  readonly #callTimeout: number;
  readonly #rules: AddSettings;
  /** Kind of the retries of this process. */
  readonly #retry: RetryKind;
  readonly #discipline: DisciplinePlan | undefined;
  /** Limits on given-up keys, and retry budget, to put in force with the next call. */
  #retention: Retention | undefined;
  #budget: RetryBudgetOptions | undefined;
  /** Limits and retry budget that this process was given last. Others may have put other ones in force since. */
  readonly #given: { retention: Retention | undefined; budget: RetryBudgetOptions | undefined };
  /** Whether the discipline was put in force. */
  #isSetUp = false;

  constructor(database: Database, settings: SqliteEngineSettings) {
    this.#database = database;
    this.settings = settings;
    this.limiter = settings.limiter;
    this.#clock = settings.clock;
    this.#durability = settings.durability;
    this.#callTimeout = settings.callTimeout;
    this.#discipline = settings.discipline;
    this.#retention = settings.retention;
    this.#budget = settings.retryBudget;
    this.#given = { retention: settings.retention, budget: settings.retryBudget };
    this.#rules = { replaces: settings.replaces, folds: settings.folds, hasItems: settings.hasItems };
    this.#retry = settings.retriesFirst ? FIRST : 1;
  }

  get address(): string {
    return this.#database.path;
  }

  async add(entries: readonly Entry[], delay = 0): Promise<void> {
    await this.#add(entries.map((entry) => ({ ...entry, delay, priority: 0 })));
  }

  addEach(entries: readonly RankedEntry[]): Promise<number> {
    return this.#add(entries);
  }

  #add(entries: readonly RankedEntry[]): Promise<number> {
    return entries.length <= MAX_ENTRIES ? this.#addPart(entries) : this.#addInParts(entries);
  }

  #addPart(entries: readonly RankedEntry[]): Promise<number> {
    return this.#call(this.#durability, (queue) => addEntries(queue, entries, this.#rules), entries.length);
  }

  /** Adds entries in parts. The parts are in line at once, so that calls made later take effect later. */
  async #addInParts(entries: readonly RankedEntry[]): Promise<number> {
    const parts: (readonly RankedEntry[])[] = [];
    for (let from = 0; from < entries.length; from += MAX_ENTRIES) parts.push(entries.slice(from, from + MAX_ENTRIES));
    const results = await Promise.allSettled(parts.map((some) => this.#addPart(some)));
    const failed = results.find((result) => result.status === "rejected");
    if (failed === undefined) {
      return results.reduce((sum, result) => sum + (result as PromiseFulfilledResult<number>).value, 0);
    }
    const added = results.reduce((sum, { status }, i) => sum + (status === "fulfilled" ? parts[i]!.length : 0), 0);
    const error = failed.reason;
    if (added === 0 || !(error instanceof SqliteConnectionError)) throw error;
    const message = `${error.message} (${added} of ${entries.length} items were added)`;
    throw new SqliteConnectionError(message, { mayHaveRun: true, cause: error });
  }

  addRateLimited(
    entry: Entry,
    isNewest: boolean,
    given: string,
    minDelay: number,
    priority = 0,
  ): Promise<number | undefined> {
    return this.#call(this.#durability, (queue) => {
      makeDueReady(queue);
      const least = toMicroseconds(minDelay);
      const result = queue.failures.when(this.limiter.rules, entry.key, given, undefined, least);
      if ("failures" in result) return result.failures;
      const item = queue.tx.item(entry.key);
      if (isNewest || item.payload === null) keepPayload(queue, entry, this.#rules);
      if (priority !== 0) queue.tx.state.isRanked = true;
      queue.keptKeys.revive(item);
      addAfter(queue, item, Math.max(toMicroseconds(result.delay), least), this.#rules, priority, this.#retry);
      if (item.token !== null) queue.waits.keep(entry.key, item.token);
      queue.notify();
      return undefined;
    });
  }

  cancelDelayed(key: string): Promise<boolean> {
    return this.#call(this.#durability, (queue) => {
      makeDueReady(queue);
      const item = queue.tx.item(key);
      if (item.due === null || item.due <= queue.tx.now) return false;
      endDelay(item);
      if (isGone(item)) queue.waits.end(key, "cancelled");
      return true;
    });
  }

  addAndWait(entry: RankedEntry, process: string, id: number): Promise<void> {
    return this.#call(this.#durability, (queue) => {
      queue.waits.forgetOld();
      addEntries(queue, [entry], this.#rules);
      queue.waits.add(entry.key, process, id);
    });
  }

  waits(request: WaitsRequest): Promise<WaitsReply> {
    const keys = request.received.length + request.ended.length + request.kept.length;
    return this.#call("normal", (queue) => queue.waits.answer(request), keys);
  }

  cancel(key: string, reason: string): Promise<CancelledFrom | undefined> {
    return this.#call(this.#durability, (queue) => cancel(queue, key, reason));
  }

  promoteDelayed(key: string): Promise<boolean> {
    return this.#call(this.#durability, (queue) => {
      const item = queue.tx.item(key);
      if (item.due === null || item.due <= queue.tx.now) return false;
      const { due_priority } = item;
      endDelay(item);
      come(queue, item, queue.tx.tick(), due_priority);
      queue.notify();
      return true;
    });
  }

  forget(key: string): Promise<void> {
    return this.#call("normal", (queue) => {
      queue.failures.forget(key);
      queue.tx.item(key).is_folding = 0;
    });
  }

  numRequeues(key: string): Promise<number> {
    return this.#call("normal", (queue) => queue.failures.requeues(this.limiter.rules, key));
  }

  turn(request: TurnRequest): Promise<TurnReply> {
    const { leaseDuration, maxStalls, keepOutcomesFor } = this.settings;
    const settings = {
      ...this.#rules,
      lease: leaseDuration * 1000,
      maxStalls,
      retry: this.#retry,
      rules: this.limiter.rules,
      measuresTimes: this.measuresTimes,
      keepOutcomesFor: keepOutcomesFor && keepOutcomesFor * 1000,
    };
    const keys = request.finishes.length + request.wanted;
    return this.#call("normal", (queue) => turn(queue, request, settings), keys);
  }

  renew(owner: string, tellsAdds = false): Promise<Renewal | undefined> {
    const lease = this.settings.leaseDuration * 1000;
    return this.#call("normal", (queue) => {
      const { state, now } = queue.tx;
      hear(queue, lease);
      if (queue.owners.leaseOf(owner) !== "valid") return undefined;
      queue.owners.renew(owner, lease, tellsAdds);
      if (state.duty?.owner === owner) state.duty.ends = now + lease;
      return { cancelled: cancelledKeysOf(queue, owner), addedAgain: tellsAdds ? addedAgainOf(queue, owner) : [] };
    });
  }

  release(owner: string, known: readonly string[]): Promise<string[]> {
    return this.#call("normal", (queue) => {
      const tokens = new Set(known);
      for (const item of itemsOf(queue, owner)) {
        if (!tokens.delete(String(item.token))) putBack(queue, item);
      }
      queue.notify();
      return [...tokens];
    });
  }

  leave(process: string, owner: string): Promise<void> {
    return this.#call("normal", (queue) => {
      const { state } = queue.tx;
      if (queue.waking.end(process)) queue.waking.plan();
      if (state.duty?.owner === owner) delete state.duty;
      for (const item of itemsOf(queue, owner)) putBack(queue, item);
      queue.owners.forget(owner);
      queue.notify();
    });
  }

  pause(): Promise<number> {
    return this.#call("normal", ({ tx: { state } }) => {
      state.paused = true;
      return ++state.pauses;
    });
  }

  resume(pause?: number): Promise<void> {
    return this.#call("normal", ({ tx: { state }, waking }) => {
      if (pause !== undefined && pause !== state.pauses) return;
      if (state.paused === undefined && state.pausedUntil === undefined) return;
      delete state.paused;
      delete state.pausedUntil;
      while (waking.wake());
    });
  }

  pauseUntil(duration: number): Promise<void> {
    return this.#call("normal", ({ tx: { state, now }, waking }) => {
      state.pausedUntil = Math.max(state.pausedUntil ?? 0, Math.min(now + toMicroseconds(duration), FAR));
      waking.plan();
    });
  }

  groupOf(key: string): string | undefined {
    return this.#discipline?.groupOf?.(key);
  }

  pauseGroup(group: string, duration: number): Promise<boolean> {
    return this.#call("normal", (queue) => {
      makeDueReady(queue);
      if (queue.order.groupOf(group) === undefined) return false;
      queue.pauseGroup(group, toMicroseconds(duration));
      return true;
    });
  }

  resumeGroup(group: string): Promise<boolean> {
    return this.#call("normal", (queue) => {
      makeDueReady(queue);
      if (queue.order.groupOf(group) === undefined) return false;
      queue.resumeGroup(group);
      return true;
    });
  }

  async keepGivenUp(retention: Retention): Promise<void> {
    const { retention: before } = this.#given;
    if (retention.max === before?.max && retention.maxAge === before.maxAge) return;
    this.#given.retention = this.#retention = retention;
    await this.#call("normal", () => {});
  }

  async limitRetries(budget: RetryBudgetOptions): Promise<void> {
    const { budget: before } = this.#given;
    if (budget.ratio === before?.ratio && budget.minRate === before.minRate) return;
    this.#given.budget = this.#budget = budget;
    await this.#call("normal", () => {});
  }

  async givenUp(
    { search, limit, cursor }: { search: string; limit: number; cursor: string | undefined },
  ): Promise<KeptPage> {
    const entries: KeptKey[] = [];
    const isFound = matcherOf(search);
    let before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
    for (let checked = 0;;) {
      const page = await this.#read(({ keptKeys, tx }) => {
        while (keptKeys.dropOld());
        return { ...keptKeys.page(before), now: tx.now, total: tx.state.kept, dropped: tx.state.dropped };
      });
      const { total, dropped } = page;
      for (const row of page.rows) {
        if (entries.length === limit) return { entries, cursor: String(before), total, dropped };
        before = row.at;
        if (isFound(row)) entries.push(keptKeyOf(row, page.now));
      }
      checked += page.rows.length;
      if (!page.isMore) return { entries, cursor: undefined, total, dropped };
      if (checked >= MAX_CHECKED) return { entries, cursor: String(before), total, dropped };
    }
  }

  async discard({ search, keys }: KeptSelection): Promise<number> {
    const isFound = matcherOf(search);
    if (keys !== undefined) {
      return await this.#call("normal", ({ keptKeys }) => {
        const rows = [...new Set(keys)].flatMap((key) => keptKeys.find(key) ?? []);
        const found = rows.filter(isFound);
        keptKeys.discard(found);
        return found.length;
      });
    }
    let [discarded, before] = [0, Number.MAX_SAFE_INTEGER];
    await this.#call("normal", ({ keptKeys }) => {
      while (keptKeys.dropOld());
    });
    for (;;) {
      const { count, last, isMore } = await this.#call("normal", ({ keptKeys }) => {
        const { rows, isMore } = keptKeys.page(before);
        const found = rows.filter(isFound);
        keptKeys.discard(found);
        return { count: found.length, last: rows.at(-1)?.at ?? 0, isMore };
      });
      discarded += count;
      before = last;
      if (!isMore) return discarded;
    }
  }

  redrive(selection: KeptSelection, rate: number | undefined): Promise<EngineRedrive | undefined> {
    return this.#call(this.#durability, (queue) => {
      makeDueReady(queue);
      while (queue.keptKeys.dropOld());
      return beginRedrive(queue, selection, rate);
    });
  }

  redriveProgress(): Promise<EngineRedrive | undefined> {
    return this.#call("normal", (queue) => {
      makeDueReady(queue);
      continueRedrive(queue);
      queue.notify();
      return redriveProgress(queue);
    });
  }

  stopRedrive(): Promise<EngineRedrive | undefined> {
    return this.#call("normal", stopRedrive);
  }

  stored(withProcessing: boolean, cursor?: string): Promise<StoredPage> {
    return this.#read((queue) => storedKeys(queue, withProcessing, cursor));
  }

  async restore(keys: readonly StoredKey[]): Promise<void> {
    for (let from = 0; from < keys.length; from += MAX_ENTRIES) {
      const some = keys.slice(from, from + MAX_ENTRIES);
      await this.#call(this.#durability, (queue) => restoreKeys(queue, some), some.length);
    }
  }

  async restoreGivenUp(keys: readonly KeptKey[]): Promise<void> {
    for (let from = 0; from < keys.length; from += MAX_ENTRIES) {
      const some = keys.slice(from, from + MAX_ENTRIES);
      await this.#call(this.#durability, (queue) => restoreGivenUp(queue, some), some.length);
    }
  }

  counts(): Promise<QueueCounts> {
    return this.#read((queue) => {
      makeDueReady(queue);
      return countKeys(queue);
    });
  }

  snapshot(limit: number): Promise<EngineSnapshot> {
    return this.#read((queue) => {
      makeDueReady(queue);
      return takeSnapshot(queue, limit, this.settings.hasItems);
    });
  }

  listen(process: string, { wake, renew }: ProcessListener): Promise<() => void> {
    const { messages } = this.#database;
    const stops = [messages.listen(process, wake), messages.listen(renewalAddress(process), renew)];
    return Promise.resolve(() => {
      for (const stop of stops) stop();
    });
  }

  onReconnect(): () => void {
    return () => {};
  }

  checkStore(): void {}

  async close(): Promise<void> {
    await this.#database.close();
  }

  async #call<R>(durability: Durability, run: (queue: Queue) => R, keys = 1): Promise<R> {
    const result = await this.#database.run(durability, this.#callTimeout, (batch) => this.#use(batch, run), keys);
    this.#isSetUp = true;
    this.#budget = this.#retention = undefined;
    return result;
  }

  /** Calls a function that reads the queue. Settings that it puts in force may not be written. */
  #read<R>(run: (queue: Queue) => R): Promise<R> {
    return this.#database.read(this.#callTimeout, (batch) => this.#use(batch, run));
  }

  #use<R>(batch: Batch, run: (queue: Queue) => R): R {
    const queue = queueIn(batch, this.settings.name, this.#clock);
    this.#setUp(queue);
    const result = run(queue);
    queue.endCall();
    return result;
  }

  /** Puts the settings in force that this process has not put in force yet. */
  #setUp(queue: Queue): void {
    const { state } = queue.tx;
    if (this.#budget !== undefined) state.budget = setBudget(this.#budget, state.budget);
    if (this.#retention !== undefined) {
      const { max, maxAge } = this.#retention;
      state.retention = { max, ...maxAge !== undefined && { maxAge: toMicroseconds(maxAge) } };
      while (queue.keptKeys.dropOld());
    }
    if (this.#discipline !== undefined && !this.#isSetUp) queue.setDiscipline(this.#discipline);
  }
}

function itemsOf({ tx }: Queue, owner: string) {
  return tx.items(OF_OWNER, tx.queue, owner);
}

function keptKeyOf(row: GivenUpRow, now: number): KeptKey {
  return {
    key: row.key,
    payload: row.payload ?? undefined,
    error: row.error,
    attempts: row.attempts,
    reason: row.reason,
    group: row.grp ?? undefined,
    firstFailedAgoMs: (now - row.first_failed) / 1000,
    givenUpAgoMs: (now - row.at) / 1000,
  };
}
