import type { CancelledFrom, RetryBudgetOptions } from "@workqueue/core";
import { withCode } from "@workqueue/core/internal";
import {
  type DisciplinePlan,
  type Engine,
  type EngineLimiter,
  type EngineRedrive,
  type EngineSettings,
  type EngineSnapshot,
  type Entry,
  type Finish,
  type KeptKey,
  type KeptPage,
  type KeptSelection,
  planBucket,
  type ProcessListener,
  type QueueCounts,
  type RankedEntry,
  type Renewal,
  type Retention,
  type StoredKey,
  type StoredPage,
  type TurnReply,
  type TurnRequest,
  type Wait,
  type WaitsReply,
  type WaitsRequest,
} from "@workqueue/engine";
import type { Connection, Retry } from "./connection/connection.ts";
import { RedisConnectionError } from "./connection/errors.ts";
import type { Partitioning } from "./partitioning.ts";
import { PRODUCT } from "./product.ts";
import { NOT_DEFINED } from "./scripts/define.ts";
import { GONE, RENEW } from "./scripts/constants.ts";
import { type ArgumentsOf, type ReplyOf, type RowOf, SCRIPTS, type Scripts } from "./scripts/script.ts";

/** Settings of a queue, with its first limiter. */
export interface RedisEngineSettings extends EngineSettings {
  readonly limiter: EngineLimiter;
  /** Discipline to put in force. By default, the discipline that the server has stays in force. */
  readonly discipline?: DisciplinePlan | undefined;
  /** Limits on given-up keys to put in force. By default, the limits that the server has stay in force. */
  readonly retention?: Retention | undefined;
  /** Retry budget to put in force. By default, the budget that the server has stays in force. */
  readonly retryBudget?: RetryBudgetOptions | undefined;
  /**
   * Milliseconds without calls after which an empty queue is forgotten. By default, the time that the server has stays
   * in force.
   */
  readonly expireAfter?: number | undefined;
  /** Division of the queue, if the engine is for one of its partitions. */
  readonly partitioning?: Partitioning | undefined;
}

/** Page of given-up keys, with the time when each was given up, as microseconds in text form. */
export interface TimedPage extends KeptPage {
  readonly entries: readonly (KeptKey & { readonly at: string })[];
}

/** Entries that one call adds. */
interface Adds {
  readonly delay: number;
  readonly entries: Entry[];
  readonly done: Promise<unknown>;
  /** Settles `done` with the result of the call. */
  send(call: Promise<unknown>): void;
}

/** Maximum number of keys that one call adds. The server does nothing else during a call. */
const MAX_ENTRIES = 200;
/** Maximum number of keys that one call selects. */
const MAX_SELECTED = 1000;
/** Maximum number of given-up keys that a list checks, in several calls. */
export const MAX_CHECKED = 10_000;

/**
 * Calls from one queue to the server. Encodes script arguments and decodes replies. Doesn't handle leases or timers.
 */
export class RedisEngine implements Engine {
  readonly product = PRODUCT;
  readonly settings: EngineSettings;
  limiter: EngineLimiter;
  measuresTimes = false;
  readonly #connection: Connection;
  readonly #scripts: Scripts;
  readonly #key: string;
  readonly #partitioning: Partitioning | undefined;
  readonly #discipline: DisciplinePlan | undefined;
  #retention: Retention | undefined;
  #retryBudget: RetryBudgetOptions | undefined;
  readonly #expireAfter: number | undefined;
  /** Whether the definition was sent. */
  #isDefined = false;
  /** Running call that puts the definition in force again, after the server has lost the queue. */
  #restoring: Promise<void> | undefined = undefined;
  /** Time since which the queue is on the server; empty if it is not known. */
  #born = "";
  /** Time of the latest reply, and the milliseconds without calls after which the server forgets an empty queue. */
  #repliedAt = 0;
  #forgottenAfter = Infinity;
  #report: ((problem: Error) => void) | undefined = undefined;
  /** Entries that the next call adds. */
  #adds: Adds | undefined = undefined;

  constructor(connection: Connection, scripts: Scripts, settings: RedisEngineSettings) {
    this.#connection = connection;
    this.#scripts = scripts;
    this.settings = settings;
    this.limiter = settings.limiter;
    this.#discipline = settings.discipline;
    this.#retention = settings.retention;
    this.#retryBudget = settings.retryBudget;
    this.#expireAfter = settings.expireAfter;
    this.#partitioning = settings.partitioning;
    this.#key = `workqueue:{${settings.name}}:meta`;
  }

  get address(): string {
    return `${this.#connection.address}/${this.#connection.database}`;
  }

  get isConnected(): boolean {
    return this.#connection.isUp;
  }

  /**
   * Adds entries after a delay in milliseconds. Entries added in one turn of the event loop are sent in one call,
   * unless their delays differ or another call is made in between.
   */
  add(entries: readonly Entry[], delay = 0): Promise<void> {
    return inParts(entries, (some) => {
      const hasRoom = this.#adds?.delay === delay && this.#adds.entries.length + some.length <= MAX_ENTRIES;
      const adds = hasRoom ? this.#adds! : this.#gather(delay);
      adds.entries.push(...some);
      return adds.done;
    });
  }

  async addEach(entries: readonly RankedEntry[]): Promise<number> {
    const { replaces, folds, hasItems } = this.settings;
    let added = 0;
    await inParts(entries, async (some) => {
      const rows = some.map(({ delay, trace, ...entry }) => ({ ...entry, trace, delayMs: delay }));
      const hasTraces = rows.some(({ trace }) => trace !== undefined);
      added += await this.#run(hasTraces ? "addTraced" : "addEach", { replaces, folds, hasItems }, rows);
    });
    return added;
  }

  addRateLimited(
    entry: Entry,
    isNewest: boolean,
    given: string,
    minDelay: number,
    priority = 0,
  ): Promise<number | undefined> {
    const { replaces, folds, retriesFirst = false, hasItems } = this.settings;
    const { key, trace } = entry;
    const payload = hasItems ? entry.payload : undefined;
    const { rules } = this.limiter;
    const how = { isNewest, replaces, folds, retriesFirst, rules, given, minDelayMs: minDelay, priority, trace };
    return this.#run("addRateLimited", { key, payload, ...how });
  }

  cancelDelayed(key: string): Promise<boolean> {
    return this.#run("cancelDelayed", { key });
  }

  cancel(key: string, reason: string): Promise<CancelledFrom | undefined> {
    return this.#run("cancel", { key, reason });
  }

  addAndWait({ key, payload, priority, trace }: RankedEntry, process: string, id: number): Promise<void> {
    const { replaces, folds, hasItems } = this.settings;
    const stored = hasItems ? payload : undefined;
    return this.#run("addAndWait", { key, payload: stored, replaces, folds, priority, trace, process, id });
  }

  waits({ process, received, ended, kept }: WaitsRequest): Promise<WaitsReply> {
    const rowsOf = (kind: "ended" | "kept", all: readonly Wait[]) =>
      all.map(({ key, id }) => ({ kind, key, id: `${id}` }));
    return this.#run("waits", { process }, [
      ...received.map((ids) => ({ kind: "received" as const, key: "", id: ids })),
      ...rowsOf("ended", ended),
      ...rowsOf("kept", kept),
    ]);
  }

  promoteDelayed(key: string): Promise<boolean> {
    return this.#run("promoteDelayed", { key });
  }

  forget(key: string): Promise<void> {
    return this.#run("forget", { key });
  }

  numRequeues(key: string): Promise<number> {
    return this.#run("numRequeues", { key, rules: this.limiter.rules });
  }

  pause(): Promise<number> {
    return this.#run("pause", { number: undefined });
  }

  /** Pauses a partition, as the first partition was paused. */
  async pauseAs(number: number): Promise<void> {
    await this.#run("pause", { number });
  }

  async resume(pause?: number): Promise<void> {
    await this.tryResume(pause);
  }

  /** Resumes the queue. Resolves to the number of the last pause, or to `undefined` if the queue was not resumed. */
  async tryResume(pause?: number): Promise<number | undefined> {
    const last = await this.#run("resume", { pause, ended: undefined });
    return last < 0 ? undefined : last;
  }

  /** Resumes a partition, as the first partition was resumed. */
  async resumeAs(ended: number): Promise<void> {
    await this.#run("resume", { pause: undefined, ended });
  }

  groupOf(key: string): string | undefined {
    return this.#discipline?.groupOf?.(key);
  }

  pauseGroup(group: string, duration: number): Promise<boolean> {
    return this.#run("pauseGroup", { group, durationMs: duration });
  }

  resumeGroup(group: string): Promise<boolean> {
    return this.#run("resumeGroup", { group });
  }

  pauseUntil(duration: number): Promise<void> {
    return this.#run("pauseUntil", { durationMs: duration });
  }

  turn(
    { process, owner, known, wanted, isBusyElsewhere = false, tellsAdds = false, throttle, finishes }: TurnRequest,
  ): Promise<TurnReply> {
    const { leaseDuration, replaces, folds, retriesFirst = false, hasItems, maxStalls, keepOutcomesFor } =
      this.settings;
    const [bucketId, rate, burst] = throttle === undefined ? [] : planBucket(throttle);
    const rules = finishes.find(({ rules }) => rules !== undefined)?.rules ?? this.limiter.rules;
    return this.#run("turn", {
      process,
      owner,
      leaseMs: leaseDuration,
      replaces,
      folds,
      retriesFirst,
      hasItems,
      maxStalls,
      known,
      wanted,
      isBusyElsewhere,
      bucketId,
      bucketRate: rate === undefined ? undefined : Number(rate),
      bucketBurst: burst === undefined ? undefined : Number(burst),
      rules,
      wantsTimes: this.measuresTimes,
      tellsAdds,
      keepOutcomesMs: keepOutcomesFor,
    }, finishes.map(rowOf));
  }

  async renew(owner: string, tellsAdds = false): Promise<Renewal | undefined> {
    const { isThere, ...news } = await this.#run("renew", { owner, leaseMs: this.settings.leaseDuration, tellsAdds });
    return isThere ? news : undefined;
  }

  /** Hands back keys in several calls. Keys that were handed out after the first of them are kept. */
  async release(owner: string, known: readonly string[]): Promise<string[]> {
    // No call of the owner was sent yet. A later release would hand back the items that the waiting calls take.
    if (this.#partitioning?.isOpen === false) return [];
    const seen = new Set<string>();
    const tokens = known.map((token) => ({ token }));
    let reply: Pick<ReplyOf<"release">, "cursor" | "final"> | undefined;
    do {
      const next = await this.#run("release", { owner, cursor: reply?.cursor ?? "0", final: reply?.final }, tokens);
      for (const token of next.seen) seen.add(token);
      reply = next;
    } while (reply.cursor !== "0");
    return known.filter((token) => !seen.has(token));
  }

  async leave(process: string, owner: string): Promise<void> {
    while (await this.#run("leave", { process, owner }));
  }

  async keepGivenUp(retention: Retention): Promise<void> {
    const before = this.#retention;
    if (retention.max === before?.max && retention.maxAge === before.maxAge) return;
    this.#retention = retention;
    if (!this.isConnected) this.#isDefined = false;
    else await this.#putInForce({ ...NOT_DEFINED, max: retention.max, maxAgeMs: retention.maxAge });
  }

  async limitRetries(budget: RetryBudgetOptions): Promise<void> {
    const before = this.#retryBudget;
    if (budget.ratio === before?.ratio && budget.minRate === before.minRate) return;
    this.#retryBudget = budget;
    if (!this.isConnected) this.#isDefined = false;
    else await this.#putInForce({ ...NOT_DEFINED, ...budget });
  }

  async givenUp(options: Parameters<Engine["givenUp"]>[0]): Promise<KeptPage> {
    const page = await this.listGivenUp(options, MAX_CHECKED);
    return { ...page, entries: page.entries.map(withoutTime) };
  }

  /** Lists given-up keys, newest first. After it has checked `most` keys, it checks no more than 1,000 others. */
  async listGivenUp(
    { search, limit, cursor }: Parameters<Engine["givenUp"]>[0],
    most: number,
  ): Promise<TimedPage> {
    await this.#dropOld();
    const entries: TimedPage["entries"][number][] = [];
    let checked = 0;
    for (;;) {
      const page = await this.#run("givenUp", { search, limit: limit - entries.length, cursor });
      entries.push(...page.entries);
      checked += page.checked;
      cursor = page.cursor;
      if (cursor === undefined || entries.length === limit || checked >= most) {
        return { entries, cursor, total: page.total, dropped: page.dropped.count };
      }
    }
  }

  async discard({ search, keys }: KeptSelection): Promise<number> {
    await this.#dropOld();
    let discarded = 0;
    for (const some of keys === undefined ? [] : partsOf(keys)) {
      discarded += await this.#run("discardKeys", { search }, some);
    }
    if (keys !== undefined) return discarded;
    let cursor: string | undefined;
    do {
      const page = await this.#run("discard", { search, cursor });
      discarded += page.discarded;
      cursor = page.cursor;
    } while (cursor !== undefined);
    return discarded;
  }

  async redrive({ search, keys }: KeptSelection, rate: number | undefined): Promise<EngineRedrive | undefined> {
    await this.#dropOld();
    const id = crypto.randomUUID();
    for (const some of partsOf(keys ?? [])) await this.#run("listForRedrive", { id }, some);
    const reply = await this.#run("redrive", { id, search, rate, isListed: keys !== undefined });
    return reply.isRefused ? undefined : progressIn(reply);
  }

  async redriveProgress(): Promise<EngineRedrive | undefined> {
    return progressIn(await this.#run("redriveProgress", {}));
  }

  async stopRedrive(): Promise<EngineRedrive | undefined> {
    return progressIn(await this.#run("stopRedrive", {}));
  }

  async stored(withProcessing: boolean, cursor = "0"): Promise<StoredPage> {
    const [stage, within] = cursor.split(/:(.*)/s) as [string, string?];
    const page = await this.#run("stored", { stage: Number(stage), cursor: within, withProcessing });
    const { nextStage, nextCursor } = page;
    const next = nextCursor === undefined ? `${nextStage}` : `${nextStage}:${nextCursor}`;
    return { entries: page.entries.map(storedKeyIn), cursor: nextStage === undefined ? undefined : next };
  }

  restore(keys: readonly StoredKey[]): Promise<void> {
    return inParts(keys, (some) => this.#run("restore", {}, some.map(rowOfStored)));
  }

  restoreGivenUp(keys: readonly KeptKey[]): Promise<void> {
    return inParts(keys, (some) => this.#run("restoreGivenUp", {}, some));
  }

  counts(): Promise<QueueCounts> {
    return this.#run("counts", {});
  }

  async snapshot(limit: number): Promise<EngineSnapshot> {
    const { totals, givenUpFor, blockedRetries, hasGroups, blockedGroups, ...rest } = await this.#run("snapshot", {
      limit,
      hasItems: this.settings.hasItems,
    });
    return {
      ...rest,
      totals: { ...totals, givenUpFor },
      ...blockedRetries !== undefined && { blockedRetries },
      ...hasGroups && { blockedGroups },
    };
  }

  listen(process: string, { wake, renew, resumed }: ProcessListener): Promise<() => void> {
    const channel = `workqueue:{${this.settings.name}}:wake:${process}`;
    const onMessage = (message: string) => message === RENEW ? renew() : wake(Number(message) / 1000);
    return this.#connection.subscribe(channel, onMessage, resumed);
  }

  onReconnect(callback: () => void): () => void {
    return this.#connection.onReconnect(this.#key, callback);
  }

  /** Resolves to the milliseconds until the server forgets the queue; `undefined` if the queue is not empty. */
  async ending(): Promise<number | undefined> {
    return await this.#run("isEnding", {}) ? this.#forgottenAfter : undefined;
  }

  /** Reports if the server may delete keys. A server that does not report its policy is not asked again. */
  checkStore(report: (problem: Error) => void): void {
    this.#report = report;
    this.#connection.once(async () => {
      const policy = await this.#run("evictionPolicy", {}).catch(() => undefined);
      if (policy !== undefined && policy !== "noeviction") report(evicts(this.#connection.address, policy));
    });
  }

  close(): Promise<void> {
    return this.#connection.release();
  }

  #gather(delay: number): Adds {
    this.#sendAdds();
    let send!: Adds["send"];
    const done = new Promise<unknown>((resolve) => send = resolve);
    const adds = this.#adds = { delay, entries: [], done, send };
    Promise.resolve().then(() => this.#adds === adds && this.#sendAdds());
    return adds;
  }

  #sendAdds(): void {
    if (this.#adds === undefined) return;
    const { delay, entries, send } = this.#adds;
    this.#adds = undefined;
    const { replaces, folds, hasItems } = this.settings;
    send(this.#run(hasItems ? "addItems" : "add", { delayMs: delay, replaces, folds }, entries));
  }

  /** Drops given-up keys that are too old. */
  async #dropOld(): Promise<void> {
    while (await this.#run("dropOld", {}));
  }

  /**
   * Puts the definition in force: before the first call, and when the server has lost the queue. Not after a reconnect,
   * because another process may have put another definition in force by then.
   */
  async #define(): Promise<void> {
    if (this.#partitioning?.isOpen === false) return; // the next call opens it
    this.#isDefined = true;
    const { max, maxAge } = this.#retention ?? {};
    const definition = {
      ...NOT_DEFINED,
      ...this.#retryBudget,
      plan: this.#discipline?.text,
      max,
      maxAgeMs: maxAge,
      expireMs: this.#expireAfter,
    };
    try {
      await this.#putInForce(definition, this.#discipline?.weights);
    } catch {
      this.#isDefined = false; // the next call tries again, and reports its own failure
    }
  }

  async #putInForce(definition: ArgumentsOf<"define">[0], weights: readonly RowOf<"define">[] = []): Promise<void> {
    const known = this.#born;
    const { born, expireAfterMs, isMore } = await this.#call("define", definition, weights);
    if (known !== "" && born !== known) this.#lose(known);
    this.#born = born;
    this.#forgottenAfter = expireAfterMs;
    if (isMore) await this.#dropOld();
  }

  #run<N extends keyof Scripts>(name: N, ...args: ArgumentsOf<N>): Promise<ReplyOf<N>> {
    this.#sendAdds(); // keeps calls in order
    const opening = this.#partitioning?.open();
    if (opening !== undefined) return opening.then(() => this.#run(name, ...args));
    if (!this.#isDefined) this.#define();
    return this.#call(name, ...args);
  }

  /** Makes a call. If the server has lost the queue, puts the definition in force and calls again. */
  async #call<N extends keyof Scripts>(name: N, ...args: ArgumentsOf<N>): Promise<ReplyOf<N>> {
    const { retry, write, read } = SCRIPTS[name] as unknown as AnyScript;
    const known = name === "define" ? "" : this.#born;
    const written = write(...args);
    written[0] = known;
    if (this.#partitioning !== undefined) written.unshift(this.#partitioning.text);
    try {
      const reply = await this.#connection.run(this.#scripts[name], this.#key, written, { retry });
      this.#repliedAt = performance.now();
      return read(reply) as ReplyOf<N>;
    } catch (error) {
      if (isOtherDivision(error)) this.#partitioning?.close(); // the next call reports what is wrong
      if (!isGone(error)) throw error;
    }
    this.#lose(known);
    await (this.#restoring ??= this.#restore().finally(() => this.#restoring = undefined));
    return await this.#call(name, ...args);
  }

  /** Called when the server has lost the queue that this process knew. */
  #lose(known: string): void {
    if (known === "" || known !== this.#born) return; // noticed before
    this.#born = "";
    const isReported = this.#partitioning?.isOpen === false; // by another partition
    this.#partitioning?.close();
    const isForgotten = performance.now() - this.#repliedAt >= this.#forgottenAfter;
    if (!isReported && !isForgotten) this.#report?.(lost(this.#connection.address, this.settings.name));
  }

  async #restore(): Promise<void> {
    await this.#partitioning?.open();
    await this.#define();
  }
}

/** Script without the types of its arguments and reply. */
interface AnyScript {
  readonly retry: Retry;
  write(...args: unknown[]): string[];
  read(sent: unknown): unknown;
}

function rowOf(
  { key, token, kind, delay = 0, given = "", why = "terminal", priority, attempts, maxRetries, ...rest }: Finish,
): RowOf<"turn"> {
  const { reason = rest.result ?? "" } = rest;
  const input = kind === "givenUp" ? why : given;
  return { key, token, kind, delayMs: delay, given: input, reason, priority, attempts, maxRetries };
}

function storedKeyIn(
  { failures: count, error, failingForMs, forgottenInMs, earlyForMs, ...key }: ReplyOf<"stored">["entries"][number],
): StoredKey {
  const failures = { count, error, sinceMs: failingForMs, forgottenInMs, earlyForMs };
  return { ...key, failures: count === 0 ? undefined : failures };
}

function rowOfStored({ failures, ...key }: StoredKey): RowOf<"restore"> {
  const { count = 0, error = "", sinceMs = 0, forgottenInMs, earlyForMs } = failures ?? {};
  return { ...key, failures: count, error, failingForMs: sinceMs, forgottenInMs, earlyForMs };
}

/**
 * Adds entries in parts, one after the other.
 *
 * @throws The error of the first part that failed. If earlier parts were added, the error says so.
 */
async function inParts<E>(entries: readonly E[], add: (some: readonly E[]) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < entries.length; from += MAX_ENTRIES) {
    try {
      await add(entries.slice(from, from + MAX_ENTRIES));
    } catch (error) {
      if (from === 0 || !(error instanceof RedisConnectionError)) throw error;
      const message = `${error.message} (${from} of ${entries.length} items were added before)`;
      throw new RedisConnectionError(message, { mayHaveRun: true, cause: error });
    }
  }
}

/** Divides keys into parts for several calls. */
function partsOf(keys: readonly string[]): { key: string }[][] {
  const count = Math.ceil(keys.length / MAX_SELECTED);
  return Array.from({ length: count }, (_, i) => {
    return keys.slice(i * MAX_SELECTED, (i + 1) * MAX_SELECTED).map((key) => ({ key }));
  });
}

/** Returns a given-up key without the time when it was given up. */
export function withoutTime({ at: _, ...key }: TimedPage["entries"][number]): KeptKey {
  return key;
}

/** Reports whether the server refused a call because the queue is divided in another way. */
export function isOtherDivision(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("WQPARTITIONS ");
}

/** Reports whether the server refused a call because it has lost the queue. Nothing was changed. */
function isGone(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith(GONE);
}

function lost(address: string, name: string): Error {
  return withCode(
    "WQ_DATA_LOST",
    new Error(
      `Redis at ${address} has lost the queue ${
        JSON.stringify(name)
      }, as after FLUSHALL or an eviction. Add its items ` +
        "again. The options of this process are in force again",
    ),
  );
}

function progressIn(reply: ReplyOf<"redriveProgress">): EngineRedrive | undefined {
  const { redriven, left, running, pauseMs } = reply;
  return redriven === undefined ? undefined : { redriven, left, running, pauseMs };
}

function evicts(address: string, policy: string): Error {
  return new Error(
    `The maxmemory-policy of Redis at ${address} is ${policy}. Set it to noeviction, so that no key is deleted when memory ` +
      "is full: CONFIG SET maxmemory-policy noeviction",
  );
}
