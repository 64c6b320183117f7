import { systemClock, type WorkQueueConfig } from "@workqueue/core";
import { isTokenBucket } from "@workqueue/core/hooks";
import { formatDuration } from "@workqueue/core/internal";
import { type RecordedTimes, recordTimes } from "@workqueue/core/metrics";
import type { Bucket, QueueDetails, QueueRow } from "../api.ts";
import type { DashboardQueue } from "../contract.ts";
import { DOCS } from "../docs_address.ts";
import { Alarms } from "./alarms.ts";
import { COUNTED_OVER, SLOPE_OVER } from "./alert_limits.ts";
import type { BlockedGroups } from "./blocked_groups.ts";
import { groupsOf, hotGroup } from "./groups.ts";
import { History, type Sample, sampleOf, type Trend } from "./history.ts";
import { LatencyWindow } from "./latency.ts";
import { GivenUpItems, keeperOf } from "./given_up.ts";
import { type Limits, limitsOf, showBucket, showFarBucket } from "./limiters.ts";
import { Failures, type KnownFailure } from "./failures.ts";
import { Searches } from "./searches.ts";
import { inSlices, type Steps } from "./slices.ts";
import { Pauses, pausingOf } from "./pauses.ts";
import { containing, matcherOf, type Selection } from "./selection.ts";
import { type DelayedLook, type Look, type LookFailing, MAX_LISTED, Source } from "./source.ts";
import { type SteeredThrottle, Throttles } from "./throttles.ts";
import { waitFor } from "./timer.ts";
import { errorText, isWhole, keyTexts, thrownText } from "./texts.ts";
import { SteadyVerdict } from "./steady_verdict.ts";
import { alertsOf, judge, type Judgement, type Situation } from "./verdict.ts";

/** Number of items to read for a row of the list of queues. The number is large enough to find groups. */
export const ROW_LIMIT = 200;
/** Length of the recent period, in milliseconds. The period contains one or two samples. */
const RECENT = 5000;
/** Maximum age of a look that is considered fresh, in milliseconds. Slightly less than the interval between pushes. */
const FRESH_FOR = 950;
/** Longest wait for the data of a sample, in milliseconds. Less than the interval between samples. */
const SAMPLE_PATIENCE = 4000;
/** Time without an answer after which an engine is considered unreachable, in milliseconds. */
const SILENT_AFTER = 3000;

/**
 * Result of a look at the queue, and the sample created from this result. `limit` is the maximum length of the look's
 * lists.
 */
interface Seen {
  readonly look: Look;
  readonly sample: Sample;
  readonly limit: number;
}

/** Delayed items that were selected. */
export interface Selected {
  readonly items: readonly DelayedLook[];
  /** Number of selected items whose last attempt failed. */
  readonly failing: number;
  /** Number of delayed items that were checked. */
  readonly lookedAt: number;
  /** Number of delayed items that were not checked. */
  readonly more: number;
}

/** Queue on the dashboard, with its samples, its latest look, and the data derived from them. */
export class WatchedQueue implements Disposable {
  readonly name: string;
  readonly source: Source;
  readonly pool: DashboardQueue<unknown>["pool"];
  /** Pauses of the queue, or a sentence that explains why it can't be paused. */
  readonly pauses: Pauses | string;
  /** Given-up items; `undefined` if the queue keeps none. */
  readonly givenUp: GivenUpItems | undefined;
  readonly textOf: (item: unknown) => string;
  /** Whether the text of an item is the item itself. */
  readonly #hasTexts: boolean;
  readonly #onTakeBack: DashboardQueue<unknown>["onTakeBack"];
  readonly #config: WorkQueueConfig | undefined;
  readonly #throttles: Throttles;
  /** Name of the queue in the config. */
  readonly #configName: string;
  readonly #history = new History();
  readonly #alarms = new Alarms();
  readonly #verdict = new SteadyVerdict();
  readonly #latency = new LatencyWindow(systemClock.now());
  /** Recording of times in the queue; `undefined` if the queue doesn't support it. */
  readonly #times: RecordedTimes | undefined;
  readonly #searches: Searches;
  #limits: Limits | undefined | "unread" = "unread";
  #seen: Seen | undefined;
  #looking: { readonly promise: Promise<void>; readonly limit: number; readonly since: number } | undefined;
  #failure: { readonly text: string; readonly since: number } | undefined;
  /**
   * Time of the last look that did not find the queue idle. A queue is idle if items are ready but no item is handed
   * out.
   */
  #idleSince = 0;

  constructor(
    name: string,
    shown: DashboardQueue<unknown>,
    config?: WorkQueueConfig,
    throttles: Throttles = new Throttles(config, () => [this]),
  ) {
    const { queue, pool, keyText, onTakeBack } = shown;
    this.name = name;
    this.pool = pool;
    this.#times = recordTimes(queue, this.#latency);
    this.textOf = keyTexts((item) => this.source.keyOf(item), keyText as never);
    const failures = new Failures(this.textOf);
    this.source = new Source(queue, pool, failures, this.#times);
    const pausing = pausingOf(shown);
    const keeper = keeperOf(queue);
    this.givenUp = keeper && new GivenUpItems(keeper, this.textOf, this.source.engine !== "memory");
    this.pauses = typeof pausing === "string" ? pausing : new Pauses(pausing);
    this.#hasTexts = this.source.hasTexts && keyText === undefined;
    this.#searches = new Searches({
      delayed: () => this.source.delayedItems(),
      failing: () => failures.all(),
      textOf: this.textOf,
      matcher: (search) => this.#matcher({ search }),
    });
    this.#onTakeBack = onTakeBack;
    this.#config = config;
    this.#throttles = throttles;
    this.#configName = config?.queueNames.includes(this.source.queueName) ? this.source.queueName : name;
  }

  /** Ends the recording of times in the queue, and of failures in the pool. */
  [Symbol.dispose](): void {
    this.#times?.[Symbol.dispose]();
    this.source[Symbol.dispose]();
  }

  /** Groups of the queue; `undefined` if it is known to have none. */
  get groups(): BlockedGroups | undefined {
    return this.#seen?.look.hasGroups === false ? undefined : this.source.groups;
  }

  /** Takes back a delayed item and calls `onTakeBack`. Returns `false` if the item was no longer delayed. */
  async takeBack({ item }: DelayedLook): Promise<boolean> {
    const isTaken = await this.source.takeBack(item);
    if (isTaken) this.#onTakeBack?.(item);
    return isTaken;
  }

  /** Cancels an item and calls `onTakeBack`. Returns the state in which the item was; `undefined` if it was in none. */
  async cancel(item: unknown): Promise<string | undefined> {
    const from = await this.source.cancel!(item);
    if (from !== undefined) this.#onTakeBack?.(item);
    return from;
  }

  /** Discards the limits. Called after a change to the config, because the limits are then outdated. */
  forgetConfig(): void {
    this.#limits = "unread";
  }

  /** Marks the latest look as outdated and discards the search results. Called after a change to the queue. */
  forgetLook(): void {
    this.#seen = this.#seen && { ...this.#seen, limit: -1 };
    this.#searches.forget();
    this.groups?.forget();
  }

  /**
   * Ensures that the latest look is fresh and that its lists were read with a limit of at least `limit` items. A call
   * made during a look waits for this look and, if possible, uses its result. Never rejects.
   */
  async refresh(limit: number): Promise<void> {
    const now = systemClock.now();
    if (this.#seen !== undefined && this.#seen.limit >= limit && now - this.#seen.sample.at < FRESH_FOR) return;
    if (this.#looking !== undefined) {
      await this.#looking.promise;
      if (this.#seen === undefined || this.#seen.limit >= limit || this.#looking !== undefined) return;
    }
    const since = systemClock.now();
    const looking = { promise: this.#look(limit, since), limit, since };
    this.#looking = looking;
    await looking.promise;
    if (this.#looking === looking) this.#looking = undefined;
  }

  /** Adds a sample of the current state. If the engine doesn't answer, adds a sample without numbers. */
  async sample(limit: number): Promise<void> {
    const now = systemClock.now();
    await waitFor(this.refresh(limit), SAMPLE_PATIENCE);
    const { sample } = this.#seen ?? {};
    this.#latency.advance(now);
    const isFresh = sample !== undefined && now - sample.at < FRESH_FOR;
    this.#history.add(isFresh ? sample : sampleOf(now, undefined));
    if (!isFresh) return;
    const situation = this.#situation(this.#seen!);
    this.#alarms.record(alertsOf(situation), sample.at);
    this.#verdict.next(judge(situation), sample.at); // also while no page is open, so that its verdict is not old later
  }

  async #look(limit: number, since: number): Promise<void> {
    try {
      const look = await this.source.look(limit);
      const sample = sampleOf(systemClock.now(), look);
      if (!look.paused && typeof this.pauses !== "string") this.pauses.sawRunning(since);
      const before = this.#seen;
      const isIdle = before !== undefined && before.look.ready > 0 && look.ready > 0 && !look.paused &&
        !look.workers?.paused &&
        look.totals.handedOut === before.look.totals.handedOut && !((this.throttle?.resumesInMs ?? 0) > 0) &&
        this.#throttles.stateOf(this)?.limit !== 0;
      if (!isIdle) this.#idleSince = sample.at;
      this.#seen = { look, sample, limit };
      this.#failure = undefined;
    } catch (error) {
      this.#failure = { text: thrownText(error), since: this.#failure?.since ?? since };
    }
  }

  get #latestLimits(): Limits | undefined {
    if (this.#limits === "unread") this.#limits = limitsOf(this.#config, this.#configName);
    return this.#limits;
  }

  /** Throttle of the pool, or the throttle in the config if there is no pool. */
  get throttleSource(): unknown {
    return this.pool === undefined ? this.#configThrottle : this.pool.throttle;
  }

  /** Throttle of the queue, as far as it can be changed. */
  get steeredThrottle(): SteeredThrottle {
    return this.#throttles.steered(this.throttleSource, this.source.engine);
  }

  get #configThrottle(): unknown {
    const config = this.#config;
    return config?.queueNames.includes(this.#configName) ? config.workers(this.#configName).throttle : undefined;
  }

  get throttle(): Bucket | null {
    const { bucket } = this.steeredThrottle;
    if (bucket !== undefined) return showBucket(bucket);
    const throttle = this.throttleSource;
    return this.source.engine !== "memory" && isTokenBucket(throttle) ? showFarBucket(throttle) : null;
  }

  get #pauseEndsInMs(): number | null {
    return typeof this.pauses === "string" ? null : this.pauses.endsInMs;
  }

  row(): QueueRow {
    const { look, sample = sampleOf(systemClock.now(), undefined) }: Partial<Seen> = this.#seen ?? {};
    const { ready = 0, blocked = 0, delayed = 0, processing = 0, failing, workers }: Partial<Look> = look ?? {};
    return {
      name: this.name,
      engine: this.source.engine,
      ...shown(this.#away() ?? this.#judged()),
      counts: { ready, blocked, delayed, processing, failing: failing ?? null },
      rates: this.#history.rates(sample),
      oldestReadyMs: whole(look?.oldestReadyMs),
      workers: workers ? { active: workers.active, concurrency: workers.concurrency } : null,
      paused: look?.paused ?? false,
      pauseEndsInMs: whole(this.#pauseEndsInMs),
      trend: this.#history.trend(),
    };
  }

  /** Returns the verdict on the latest look. */
  #judged(): Judgement {
    const seen = this.#seen;
    return seen === undefined ? UNCHECKED : this.#verdict.next(judge(this.#situation(seen)), seen.sample.at);
  }

  /** Returns the verdict for an engine that doesn't answer; `undefined` if the engine answers. */
  #away(): Judgement | undefined {
    const since = this.#failure?.since ?? this.#looking?.since;
    const ms = systemClock.now() - (since ?? Infinity);
    if (this.#failure === undefined && !(ms >= SILENT_AFTER)) return undefined;
    const why = this.#failure === undefined ? "" : `: ${this.#failure.text}`;
    const reason = `The queue has not responded for ${formatDuration(Math.max(ms, 0))}${why}`;
    return { verdict: "unknown", reason, guide: "operate/the-program-is-gone.md" };
  }

  #situation({ look, sample }: Seen): Situation {
    const tried = this.#tried(sample);
    const worst = withMost(look.failingItems, ({ attempts }) => attempts);
    const longest = withMost(look.runningItems, ({ runningMs }) => runningMs ?? -1);
    const groups = this.#groups(look);
    return {
      look,
      idleFor: sample.at - this.#idleSince,
      lastMinute: tried && { ...tried, givenUp: this.#history.over("givenUp", sample)?.change ?? 0 },
      recent: this.#tried(sample, RECENT),
      counted: this.#tried(sample, COUNTED_OVER),
      handedOut: this.#history.over("handedOut", sample, COUNTED_OVER) ?? null,
      growth: fastest(
        this.#history.trendOf("ready", sample, COUNTED_OVER),
        this.#history.trendOf("ready", sample, SLOPE_OVER),
      ),
      delayedGrowth: this.#history.trendOf("delayed", sample, SLOPE_OVER),
      failureRate: perSecond(this.#history.over("failed", sample, SLOPE_OVER)),
      oldestReadyMs: look.oldestReadyMs ?? null,
      olderBy: this.#history.over("oldest", sample)?.change ?? null,
      failingFor: withMost(look.failingItems, ({ failedAgoMs }) => failedAgoMs ?? -1)?.failedAgoMs ?? null,
      fading: this.#alarms.fading(sample.at),
      rates: this.#history.rates(sample),
      worst: worst && { key: this.textOf(worst.item), attempts: worst.attempts, error: errorText(worst.error) },
      longest: longest?.runningMs === undefined
        ? undefined
        : { key: this.textOf(longest.item), for: longest.runningMs },
      throttle: this.throttle,
      throttleState: this.#throttles.stateOf(this),
      pauseEndsInMs: this.#pauseEndsInMs,
      blockedFor: look.ready === 0 && look.blocked > 0 ? this.groups?.blockedFor() : undefined,
      hot: hotGroup(groups, look.readyItems.length),
      listed: look.readyItems.length,
    };
  }

  /**
   * Returns the numbers of attempts and of failed attempts in a period; `null` if unknown. `time` is the length of the
   * period, in milliseconds.
   */
  #tried(sample: Sample, time?: number): { attempts: number; failed: number; ms: number } | null {
    const attempts = this.#history.over("attempts", sample, time);
    const failed = this.#history.over("failed", sample, time);
    if (attempts === undefined || failed === undefined) return null;
    return { attempts: Math.max(attempts.change, failed.change), failed: failed.change, ms: failed.ms };
  }

  #groups({ readyItems }: Look) {
    return groupsOf(readyItems.map(({ item }) => this.textOf(item)), this.#latestLimits?.separator);
  }

  /**
   * Returns all details of the queue at the time of the latest look. The lists contain only items that match the
   * search.
   */
  async details(search: string, limit: number): Promise<Omit<QueueDetails, "can" | "cannot">> {
    const matches = search === "" ? () => true : this.#matcher({ search });
    const found = search === "" ? undefined : await this.#searches.find(search);
    const blockedGroups = this.#seen && await this.groups?.list(search, limit) || null;
    const givenUp = await this.givenUp?.list(search, limit) ?? null;
    const now = systemClock.now();
    const seen = this.#seen;
    const look = seen?.look;
    const limits = this.#latestLimits;
    const { failures } = this.source;
    const errorsUnknown = look?.failing === undefined ? null : Math.max(look.failing - failures.size, 0);
    const matchingFailing = search === "" ? look?.failing : errorsUnknown === 0 ? found?.matchingFailing : null;
    // Converts only the items that are shown: a list has up to 1,000 items, and formatting an error takes a long time.
    const first = <Entry extends { readonly item: unknown }, Shown>(
      entries: readonly Entry[] | undefined,
      show: (entry: Entry) => Shown,
    ): (Shown & { key: string })[] => {
      const shown: (Shown & { key: string })[] = [];
      for (const entry of entries ?? []) {
        if (shown.length >= limit) break;
        if (matches(entry.item)) shown.push({ key: this.textOf(entry.item), ...show(entry) });
      }
      return shown;
    };
    const failing = look && [...look.failingItems, ...this.#unlisted(found?.failing ?? [], look)];
    return {
      ...this.row(),
      history: this.#history.lists(now, Date.now()),
      failingItems: first(failing?.sort((a, b) => b.attempts - a.attempts), (failing) => ({
        attempts: failing.attempts,
        error: errorText(failing.error),
        ago: whole(failing.failedAgoMs),
        dueInMs: whole(failing.dueInMs),
        decidedBy: limits?.decidedBy(failing.attempts, failing.failedAgoMs ?? null, failing.dueInMs ?? null) ?? null,
        ...abandonedOf(failing),
      })),
      runningItems: first(look?.runningItems, (running) => ({
        ...{ attempt: running.attempt ?? null, for: whole(running.runningMs), ...abandonedOf(running) },
      })),
      delayedItems: found?.items.slice(0, limit).map(({ key, priority, dueAt }) => ({
        ...{ key, priority, dueInMs: Math.round(Math.max(dueAt - now, 0)) },
      })) ?? first(look?.delayedItems, ({ priority, dueInMs }) => ({ priority, dueInMs: Math.round(dueInMs) })),
      readyItems: first(look?.readyItems, ({ priority }) => ({ priority })),
      abandoned: look?.workers?.abandoned ?? null,
      blockedRetries: look?.blockedRetries ?? null,
      groups: look === undefined ? [] : this.#groups(look),
      groupedItems: look?.readyItems.length ?? 0,
      blockedGroups,
      givenUp,
      errors: failures.groups().filter(({ message, example }) =>
        search === "" || containing(search)(message ?? "", example)
      ),
      errorsUnknown,
      matching: (search === "" ? look && this.source.findable(look) : found?.matching) ?? null,
      matchingFailing: matchingFailing ?? null,
      givenUpFor: look?.totals.givenUpFor ?? null,
      latency: this.#times === undefined ? null : this.#latency.percentiles(now),
      throttle: this.throttle,
      throttleLimit: this.steeredThrottle.limited?.limit ?? null,
      limiter: limits?.tree() ?? null,
    };
  }

  /** Converts failing items that a search found to the form of a look, except items that the look already lists. */
  #unlisted(found: readonly KnownFailure[], { failingItems }: Look): LookFailing[] {
    const listed = new Set(failingItems.map(({ item }) => this.textOf(item)));
    return found.flatMap(({ item }) => {
      const known = this.source.failureOf(item); // may have changed since the search
      if (known === undefined || listed.has(this.textOf(item))) return [];
      const { attempts, error, at } = known;
      return { item, attempts, error, failedAgoMs: Math.max(Date.now() - at, 0), dueInMs: this.source.dueInMs(item) };
    });
  }

  /**
   * Returns the delayed items that match every member of the selection, as they were at some moment during the call.
   * With `withBlocked`, retries that are blocked because there is no budget are selected too. If items are strings, a
   * key is the item itself, so it is returned without a search, even if it is not delayed.
   */
  async select(selection: Selection, withBlocked = false): Promise<Selected> {
    const { key } = selection;
    if (key !== undefined && this.#hasTexts && isWhole(key)) {
      const failing = this.source.isFailing(key) ? 1 : 0;
      return { items: [{ item: key, priority: 0, dueInMs: 0 }], failing, lookedAt: 1, more: 0 };
    }
    const { items, more } = await this.source.delayedItems();
    const blocked = withBlocked ? this.source.blockedRetries() : [];
    return { ...await inSlices(this.#select([blocked, items], this.#matcher(selection))), more };
  }

  /** Returns the running and delayed items that have a text, one for each key. */
  async itemsWith(text: string): Promise<{ readonly item: unknown }[]> {
    if (this.#hasTexts && isWhole(text)) return [{ item: text }];
    const { runningItems } = await this.source.look(MAX_LISTED);
    const running = runningItems.filter(({ item }) => this.textOf(item) === text);
    const { items } = await this.select({ key: text });
    return [...new Map([...running, ...items].map((found) => [this.source.keyOf(found.item), found])).values()];
  }

  *#select(
    lists: readonly Iterable<DelayedLook>[],
    matches: (item: unknown) => boolean,
  ): Steps<Omit<Selected, "more">> {
    const items: DelayedLook[] = [];
    let [failing, lookedAt] = [0, 0];
    for (const list of lists) {
      for (const delayed of list) {
        lookedAt++;
        if (matches(delayed.item)) {
          items.push(delayed);
          if (this.source.isFailing(delayed.item)) failing++;
        }
        yield;
      }
    }
    return { items, failing, lookedAt };
  }

  #matcher(selection: Selection): (item: unknown) => boolean {
    return matcherOf(selection, this.source, this.textOf, this.#latestLimits?.separator);
  }
}

const UNCHECKED: Judgement = {
  verdict: "unknown",
  reason: "The queue has not been checked yet.",
  guide: "operate.md#where-to-look",
};

/** Returns a judgement with the address of its guide. */
function shown({ verdict, reason, guide }: Judgement): Pick<QueueRow, "verdict" | "reason" | "guide"> {
  return { verdict, reason, guide: `${DOCS}${guide}` };
}

/** Returns the age of a timeout, in whole milliseconds, if there was one. */
function abandonedOf({ abandonedMs }: { readonly abandonedMs?: number | undefined }): { abandonedFor?: number } {
  return abandonedMs === undefined ? {} : { abandonedFor: Math.round(abandonedMs) };
}

/** Returns the faster of two trends; `null` if both are unknown. */
function fastest(one: Trend | null, other: Trend | null): Trend | null {
  return one === null || (other !== null && other.perSecond > one.perSecond) ? other : one;
}

function perSecond(over: { readonly change: number; readonly ms: number } | undefined): number | null {
  return over === undefined ? null : over.change / (over.ms / 1000);
}

/** Rounds a time to whole milliseconds. */
function whole(ms: number | null | undefined): number | null {
  return ms == null ? null : Math.round(ms);
}

/** Returns the item with the largest number; `undefined` if there are no items. */
function withMost<Item>(items: readonly Item[], numberOf: (item: Item) => number): Item | undefined {
  let most: Item | undefined;
  for (const item of items) if (most === undefined || numberOf(item) > numberOf(most)) most = item;
  return most;
}
