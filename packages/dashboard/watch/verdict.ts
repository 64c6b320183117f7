import { formatDuration, formatNumber, inspect } from "@workqueue/core/internal";
import type { Bucket, Group, QueueRow, Rates, Verdict } from "../api.ts";
import type { FadingAlert } from "./alarms.ts";
import {
  type AlertName,
  COUNTED_OVER,
  MAX_AGE,
  MAX_BACKLOG,
  MAX_FAILED_SHARE,
  MAX_FAILURES,
  MAX_RUN,
  MAX_SLOPE,
} from "./alert_limits.ts";
import type { BlockedFor } from "./blocked_groups.ts";
import type { Trend } from "./history.ts";
import type { Look } from "./source.ts";
import { many } from "./texts.ts";
import { isFull, type ThrottleState } from "./throttles.ts";

/** Data on which a verdict is based. */
export interface Situation {
  readonly look: Pick<
    Look,
    | "ready"
    | "blocked"
    | "delayed"
    | "processing"
    | "failing"
    | "workers"
    | "paused"
    | "hasGroups"
    | "blockedRetries"
    | "resumesInMs"
  >;
  /**
   * Time for which no item was handed out although items were ready and could have been handed out, in milliseconds.
   */
  readonly idleFor: number;
  /**
   * Numbers of attempts that ended, of attempts that failed, and of given-up items in the last minute; `null` if
   * unknown.
   */
  readonly lastMinute: { readonly attempts: number; readonly failed: number; readonly givenUp: number } | null;
  /**
   * Attempts in the last five minutes; `null` if unknown. `ms` is the length of the period, which is shorter for a
   * queue that has not been watched for five minutes.
   */
  readonly counted: { readonly attempts: number; readonly failed: number; readonly ms: number } | null;
  /** Number of items handed out in the last five minutes; `null` if unknown. `ms` is the length of the period. */
  readonly handedOut: { readonly change: number; readonly ms: number } | null;
  /**
   * Attempts in the last few seconds; `null` if unknown. If there are enough attempts, they show the current state.
   * `ms` is the length of the period.
   */
  readonly recent: { readonly attempts: number; readonly failed: number; readonly ms: number } | null;
  /**
   * Growth of the backlog, over the last five or fifteen minutes, whichever is faster; `null` if unknown. `ms` is the
   * length of the period.
   */
  readonly growth: Trend | null;
  /** Growth of the delayed items over the last fifteen minutes; `null` if unknown. */
  readonly delayedGrowth: Trend | null;
  /** Failed attempts per second over the last fifteen minutes; `null` if unknown. */
  readonly failureRate: number | null;
  /** Time since the oldest ready item became ready, in milliseconds; `null` if unknown. */
  readonly oldestReadyMs: number | null;
  /**
   * Longest time since the last failure of a failing item, in milliseconds; `null` if unknown.
   */
  readonly failingFor: number | null;
  /** Growth of `oldestReadyMs` in the last minute, in milliseconds; `null` if unknown. */
  readonly olderBy: number | null;
  /** Alert that may still fire although its condition has ended. */
  readonly fading: FadingAlert | undefined;
  readonly rates: Rates;
  /** Failing item with the most attempts. */
  readonly worst: { readonly key: string; readonly attempts: number; readonly error: string } | undefined;
  /** Item whose handler has been running longest. */
  readonly longest: { readonly key: string; readonly for: number } | undefined;
  readonly throttle: Bucket | null;
  /** State of the throttle, whatever its type; `null` if there is no throttle or it is unknown. */
  readonly throttleState?: ThrottleState | null;
  /** Time until the dashboard ends the pause, in milliseconds; `null` if nobody set an end. */
  readonly pauseEndsInMs?: number | null;
  /** Number of blocked items by reason; `undefined` if unknown, or if other items are ready. */
  readonly blockedFor?: BlockedFor | undefined;
  /** Group with most of the ready items. */
  readonly hot: Group | undefined;
  /** Number of listed ready items. `hot` is the largest group among these items. */
  readonly listed: number;
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly reason: string;
  /** Page that explains the verdict. */
  readonly guide: Guide;
}

/** Time after which a queue that hands out none of its ready items is considered stuck, in milliseconds. */
export const STUCK_AFTER = 30_000;
/** Time that a handler must have been running for the reason to mention it, in milliseconds. */
const LONG_RUN = 5 * 60_000;
/**
 * Time after which a queue that hands out no items is considered stuck if abandoned handlers occupy all workers, in
 * milliseconds.
 */
const LONG_FULL = 5000;
/** Time after a failure: if the item has not succeeded by then, its queue is not healthy. */
const LONG_FAILING = 60_000;
/** Age of the oldest ready item: above it, a queue whose oldest item is getting older is not healthy. */
const LONG_READY = 10_000;
/**
 * Minimum number of failures for the verdict `failing`. The failures may be recent failures of any keys, or the
 * failures of a single key.
 */
const MANY_FAILURES = 5;

/** Order of verdicts in the list of queues, worst first. */
const ORDER: readonly Verdict[] = ["stuck", "failing", "unknown", "paused", "busy", "healthy"];

/** Returns the verdict on a queue and the reason for it. */
export function judge(situation: Situation): Judgement {
  for (const { verdict, guide, find } of RULES) {
    const reason = find(situation);
    if (reason === undefined) continue;
    const isFlooded = guide === "operate/the-backlog-grows.md" && situation.hot !== undefined;
    return {
      verdict,
      reason: reason + notes(verdict, situation) + (BY_BUDGET.includes(find) ? "" : retriesBeside(situation)),
      guide: isFlooded ? "operate/one-tenant-floods.md" : guide,
    };
  }
  const reason = healthy(situation) + notes("healthy", situation) + retriesBeside(situation);
  const { fading } = situation;
  if (fading === undefined) return { verdict: "healthy", reason, guide: "operate.md#where-to-look" };
  const { alert, endedAgoMs } = fading;
  const ended = endedAgoMs < 1000 ? "just now" : `${formatDuration(Math.round(endedAgoMs / 1000) * 1000)} ago`;
  return {
    verdict: "busy",
    reason: `${reason} ${alert} may still fire: its condition ended ${ended}.`,
    guide: guideTo(alert),
  };
}

/** Returns the alerts whose conditions hold. */
export function alertsOf(situation: Situation): AlertName[] {
  return RULES.flatMap(({ alert, find }) => alert !== undefined && find(situation) !== undefined ? [alert] : []);
}

/** Returns the section of the docs that explains an alert. */
function guideTo(alert: AlertName): Guide {
  return `operate/alerts.md#${alert.toLowerCase() as Lowercase<AlertName>}`;
}

/** Data by which queues with the same verdict are sorted. */
type Row = Pick<QueueRow, "verdict" | "counts" | "rates" | "oldestReadyMs">;

/**
 * Sorts queues by verdict, worst first. Among queues with the same verdict, those come first in which the most items
 * fail or wait, then those with the largest share of failing attempts, then those with the oldest items. Otherwise
 * queues keep their order.
 */
export function worstFirst<R extends Row>(rows: readonly R[]): R[] {
  return rows.map((row) => ({ row, rank: rankOf(row) }))
    .sort(({ rank: a }, { rank: b }) => a.map((each, i) => each - b[i]!).find((difference) => difference !== 0) ?? 0)
    .map(({ row }) => row);
}

/** Returns numbers by which queues are sorted, one after the other. A smaller number is worse. */
function rankOf({ verdict, counts: { ready, blocked, failing }, rates, oldestReadyMs }: Row): number[] {
  if (verdict === "healthy") return [ORDER.indexOf(verdict), 0, 0, 0];
  const affected = verdict === "failing" ? failing ?? 0 : ready + blocked;
  const share = rates.failures === null
    ? 0
    : rates.failures / Math.max(rates.out ?? 0, rates.failures, Number.MIN_VALUE);
  return [ORDER.indexOf(verdict), -magnitude(affected), -Math.round(share * 10), -magnitude(oldestReadyMs ?? 0)];
}

/** Returns a number that changes only when `number` doubles or halves, so that rows don't swap places all the time. */
function magnitude(number: number): number {
  return Math.floor(Math.log2(number + 1));
}

/** Page of the docs, or a section of a page: its path in `docs/`. */
export type Guide =
  | "operate/one-key-fails-forever.md"
  | "operate/one-tenant-floods.md"
  | "operate/the-backend-is-down.md"
  | "operate/the-backlog-grows.md"
  | "operate/the-program-is-gone.md"
  | "operate.md#where-to-look"
  | `operate/alerts.md#${Lowercase<AlertName>}`;

export interface VerdictRule {
  readonly verdict: Verdict;
  readonly guide: Guide;
  /** Returns the reason for the verdict; `undefined` if the rule doesn't apply. */
  readonly find: (situation: Situation) => string | undefined;
  /** Alert that can fire only if the rule applies. */
  readonly alert?: AlertName;
}

/** Rules for verdicts. The first rule that applies decides. */
export const RULES: readonly VerdictRule[] = [
  { verdict: "paused", guide: guideTo("WorkqueueNothingTaken"), find: isPaused },
  { verdict: "paused", guide: guideTo("WorkqueueNothingTaken"), find: isQueuePaused },
  { verdict: "stuck", guide: guideTo("WorkqueueNothingTaken"), find: nothingMayBegin },
  { verdict: "failing", guide: "operate/the-backend-is-down.md", find: isThrottleClosedAfterFailures },
  { verdict: "paused", guide: "operate/the-backend-is-down.md", find: isThrottleClosed },
  { verdict: "stuck", guide: guideTo("WorkqueueNothingTaken"), find: nothingIsTaken },
  { verdict: "stuck", guide: guideTo("WorkqueueHandlerStuck"), find: placesAreTaken },
  { verdict: "stuck", guide: guideTo("WorkqueueHandlerStuck"), find: placesAreHung },
  { verdict: "busy", guide: guideTo("WorkqueueRetryStorm"), find: retriesWaitAfterFailures },
  { verdict: "failing", guide: "operate/the-backend-is-down.md", find: manyFail },
  { verdict: "failing", guide: "operate/the-backend-is-down.md", find: manyAreGivenUp },
  { verdict: "failing", guide: "operate/one-key-fails-forever.md", find: oneFails },
  { verdict: "failing", guide: "operate/the-backend-is-down.md", find: mostHaveFailed },
  { verdict: "failing", guide: guideTo("WorkqueueRetryStorm"), find: manyStillFail },
  { verdict: "paused", guide: guideTo("WorkqueueNothingTaken"), find: isThrottlePaused },
  { verdict: "busy", guide: "operate/the-backlog-grows.md", find: allAreBusy },
  { verdict: "busy", guide: guideTo("WorkqueueRetryStorm"), find: onlyRetriesWait },
  { verdict: "busy", guide: "operate/one-tenant-floods.md", find: groupsAreFull },
  { verdict: "busy", guide: "operate/the-backlog-grows.md", find: backlogGrows, alert: "WorkqueueBacklogGrows" },
  { verdict: "busy", guide: guideTo("WorkqueueRetryStorm"), find: retriesPileUp, alert: "WorkqueueBacklogGrows" },
  { verdict: "busy", guide: guideTo("WorkqueueNothingTaken"), find: nothingWasTaken, alert: "WorkqueueNothingTaken" },
  { verdict: "busy", guide: guideTo("WorkqueueOldestTooOld"), find: oldestIsOld, alert: "WorkqueueOldestTooOld" },
  { verdict: "busy", guide: guideTo("WorkqueueHandlerStuck"), find: handlerRunsLong, alert: "WorkqueueHandlerStuck" },
  { verdict: "busy", guide: guideTo("WorkqueueRetryStorm"), find: manyHadFailed, alert: "WorkqueueRetryStorm" },
  { verdict: "busy", guide: "operate.md#where-to-look", find: someFailForLong },
  { verdict: "busy", guide: "operate/the-backlog-grows.md", find: oldestGetsOlder },
  { verdict: "unknown", guide: "operate.md#where-to-look", find: trendIsUnknown },
];

/** Rules whose reason is the retry budget. */
const BY_BUDGET: readonly VerdictRule["find"][] = [retriesWaitAfterFailures, onlyRetriesWait];

function nothingMayBegin({ throttle }: Situation): string | undefined {
  if (throttle === null || throttle.rate === "unlimited" || (throttle.tokens ?? 0) >= 1) return undefined;
  if (throttle.rate === 0) return "No attempt can start because the throttle's rate is 0.";
  return throttle.burst === 0 ? "No attempt can start because the throttle's burst is 0." : undefined;
}

/** Returns a reason if the throttle lets no attempt start, although items are ready. */
function isThrottleClosed({ look: { ready }, throttleState }: Situation, more = ""): string | undefined {
  if (ready === 0 || !isClosed(throttleState)) return undefined;
  return `${nameAndState(throttleState)}${more}; ${items(ready)} ready.`;
}

/** Returns a reason if the throttle lets no attempt start, and attempts of this queue have failed. */
function isThrottleClosedAfterFailures(situation: Situation): string | undefined {
  const { look: { failing }, counted, worst } = situation;
  if (!((failing ?? 0) > 0 || (counted?.failed ?? 0) > 0)) return undefined;
  return isThrottleClosed(situation, example(worst));
}

function isClosed(state: ThrottleState | null | undefined): state is ThrottleState {
  return state?.limit === 0;
}

/** Returns what a throttle is called and its state: `api: breaker open for 12 s: 14 of 20 attempts failed`. */
function nameAndState({ name, type, engine, inside, inUse, limit, state }: ThrottleState): string {
  // The type is left out if the state combines the states of several throttles.
  const isTypeShown = type !== null && inside.length === 0 && !isFull({ inUse, limit });
  const words = state === "" ? `${inUse} of ${limit} running` : state;
  const where = engine === "memory" ? "" : " in this process";
  return `${name ?? "Throttle"}: ${isTypeShown ? `${type} ` : ""}${words}${where}`;
}

function nothingIsTaken(situation: Situation): string | undefined {
  const { look: { ready, processing, workers, paused }, idleFor, throttle, throttleState } = situation;
  if (ready === 0 || paused || idleFor < STUCK_AFTER || idleFor < perToken(throttle)) return undefined;
  if (throttleState && isFull(throttleState)) return undefined;
  const since = `Nothing has been handed out for ${formatDuration(idleFor)}, although ${items(ready)} ready`;
  if (workers === null) return processing === 0 ? `${since}: no worker takes them.` : undefined;
  const free = workers.concurrency - workers.active;
  if (free <= 0 || workers.paused) return undefined;
  const shown = throttleState && throttleState.state !== "" ? ` ${asSentence(nameAndState(throttleState))}` : "";
  return `${since} and ${formatNumber(free)} of ${many(workers.concurrency, "worker")} ${
    free === 1 ? "is" : "are"
  } free.${shown}`;
}

/**
 * Returns twice the interval between two tokens, in milliseconds; 0 if there is no throttle or the interval is not
 * finite.
 */
function perToken(throttle: Bucket | null): number {
  return throttle === null || throttle.rate === "unlimited" || throttle.rate === 0 ? 0 : 2000 / throttle.rate;
}

function placesAreTaken({ look: { ready, workers }, idleFor }: Situation): string | undefined {
  if (workers === null || ready === 0 || idleFor < LONG_FULL) return undefined;
  const { active, abandoned, concurrency } = workers;
  if (abandoned < active || abandoned < concurrency) return undefined;
  return `${many(abandoned, "abandoned handler")} ${abandoned === 1 ? "occupies" : "occupy"} all workers; ` +
    `${items(ready)} ready.`;
}

/**
 * Returns a reason if handlers hang. A handler may be meant to run for a long time, so it is considered hung only if
 * items wait for a free worker. If items wait for the throttle instead, another queue's handler may hold the permit.
 */
function placesAreHung(situation: Situation): string | undefined {
  const { look: { ready, workers }, idleFor, throttleState } = situation;
  if (workers === null || ready === 0 || idleFor < STUCK_AFTER) return undefined;
  const isAtLimit = workers.active < workers.concurrency;
  if (isAtLimit && !(throttleState && isFull(throttleState))) return undefined;
  if (longRun(situation) === "" && !(isAtLimit && idleFor >= LONG_RUN)) return undefined;
  const since = `Nothing has been handed out for ${formatDuration(idleFor)}, although ${items(ready)} ready`;
  return isAtLimit ? `${since}: at the limit of the throttle (${nameAndState(throttleState!)}).` : `${since}.`;
}

function manyFail({ recent, lastMinute, worst }: Situation): string | undefined {
  const isEnough = recent !== null && recent.attempts >= MANY_FAILURES;
  const tried = isEnough ? recent : lastMinute;
  if (tried === null || tried.failed < MANY_FAILURES || mostSucceed(tried)) return undefined;
  const { failed, attempts } = tried;
  const last = isEnough ? formatDuration(Math.round(recent.ms / 1000) * 1000) : "minute";
  const share = `${formatNumber(failed)} of ${many(attempts, "attempt")} failed in the last ${last}`;
  return asSentence(share + example(worst));
}

function example(worst: Situation["worst"]): string {
  return worst === undefined || worst.error === "" ? "" : `, for example ${name(worst.key)} with ${worst.error}`;
}

function mostSucceed({ attempts, failed }: { readonly attempts: number; readonly failed: number }): boolean {
  return failed < attempts * MAX_FAILED_SHARE;
}

/**
 * Reports whether attempts succeed again after many failures. If so, pending retries don't reflect the current state.
 */
function isRecovering({ recent, lastMinute }: Situation): boolean {
  return recent !== null && recent.attempts >= MANY_FAILURES && mostSucceed(recent) &&
    lastMinute !== null && lastMinute.failed >= MANY_FAILURES && !mostSucceed(lastMinute);
}

function manyAreGivenUp({ lastMinute, worst }: Situation): string | undefined {
  if (lastMinute === null || lastMinute.givenUp === 0) return undefined;
  const { attempts, failed, givenUp } = lastMinute;
  if (givenUp < MANY_FAILURES && failed < attempts) return undefined;
  const error = worst === undefined || worst.error === "" ? "" : `; another item failed with ${worst.error}`;
  return asSentence(
    `${many(givenUp, "item")} ${givenUp === 1 ? "was" : "were"} given up in the last minute, in ${
      many(attempts, "attempt")
    }${error}`,
  );
}

/** Returns a reason if most items have failed. Failed items are delayed, so there may be few recent attempts. */
function mostHaveFailed(situation: Situation): string | undefined {
  const { look: { ready, blocked, delayed, processing, failing }, recent, worst } = situation;
  const all = ready + blocked + delayed + processing;
  if (failing === undefined || failing < MANY_FAILURES) return undefined;
  if (failing < all / 2) return undefined;
  if (recent !== null && recent.attempts > 0 && mostSucceed(recent)) return undefined;
  return asSentence(`${formatNumber(failing)} of ${many(all, "item")} failed at their last attempt${example(worst)}`);
}

function oneFails(situation: Situation): string | undefined {
  const { worst } = situation;
  if (isRecovering(situation)) return undefined;
  return worst !== undefined && worst.attempts >= MANY_FAILURES ? sentence(worst) : undefined;
}

function sentence({ key, attempts, error }: NonNullable<Situation["worst"]>): string {
  const times = attempts === 1 ? "once" : `${formatNumber(attempts)} times`;
  return asSentence(`${name(key)} failed ${times}${error === "" ? "" : `: ${error}`}`);
}

/** Adds a period to a text that doesn't end with punctuation, because another sentence may follow. */
function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function isPaused({ look: { paused, ready, failing, workers }, pauseEndsInMs }: Situation): string | undefined {
  if (!paused && !workers?.paused) return undefined;
  const end = pauseEndsInMs == null
    ? "until work is resumed"
    : `for another ${formatDuration(Math.ceil(pauseEndsInMs / 1000) * 1000)}`;
  const failed = failing === undefined || failing === 0 ? "" : ` ${many(failing, "item")} failed before the pause.`;
  return `${items(ready)} ready, and nothing is handed out ${end}.${failed}`;
}

/** Returns a reason if an item asked for a pause of the queue. */
function isQueuePaused({ look: { blocked, resumesInMs = 0 } }: Situation): string | undefined {
  if (resumesInMs <= 0 || blocked === 0) return undefined;
  return `A server asked to wait (RetryAfterError): nothing is handed out for another ${formatDuration(resumesInMs)}; ${
    items(blocked)
  } blocked.`;
}

function isThrottlePaused({ look: { ready }, throttle }: Situation): string | undefined {
  if (throttle === null || throttle.resumesInMs <= 0) return undefined;
  return `The throttle is paused: no attempt starts for another ${formatDuration(throttle.resumesInMs)}; ${
    items(ready)
  } ready.`;
}

/**
 * Factor by which the incoming and the outgoing rate must differ for the reason to mention the difference.
 */
const NOTICEABLY = 1.05;

function allAreBusy({ look: { ready, blocked, workers }, rates, throttleState }: Situation): string | undefined {
  const isAllBusy = workers !== null && ready > workers.concurrency && workers.active >= workers.concurrency;
  const isAtLimit = throttleState && isFull(throttleState) && ready > throttleState.limit!;
  if (!isAllBusy && !isAtLimit) return undefined;
  const all = !isAllBusy
    ? `the throttle is at its limit (${nameAndState(throttleState!)})`
    : workers.concurrency === 1
    ? "the only worker is busy"
    : `all ${formatNumber(workers.concurrency)} workers are busy`;
  const busy = `${all} and ${items(ready)} ready${blocked > 0 ? `, ${formatNumber(blocked)} blocked` : ""}.`;
  const { in: come, out: go } = rates;
  if (come === null || go === null) return busy[0]!.toUpperCase() + busy.slice(1);
  const flow = `${formatNumber(come)} a second become ready and ${formatNumber(go)} are handed out`;
  if (come > go * NOTICEABLY) return `Falling behind: ${flow}; ${busy}`;
  if (go > come * NOTICEABLY) {
    return `Catching up, with about ${formatDuration(ready / (go - come) * 1000)} left: ${flow}; ${busy}`;
  }
  return `${busy[0]!.toUpperCase()}${busy.slice(1, -1)}; ${formatNumber(go)} a second are handed out.`;
}

/** Returns a reason if retries wait for the retry budget, although the latest attempts succeeded. */
function retriesWaitAfterFailures({ look: { blockedRetries = 0 }, recent, lastMinute }: Situation): string | undefined {
  if (blockedRetries === 0 || recent === null || recent.attempts === 0 || recent.failed > 0) return undefined;
  if (lastMinute !== null && lastMinute.givenUp > 0) return undefined;
  const attempts = recent.attempts === 1 ? "the only attempt" : `all ${formatNumber(recent.attempts)} attempts`;
  const last = formatDuration(Math.round(recent.ms / 1000) * 1000);
  return `${retriesWait(blockedRetries)}, although ${attempts} in the last ${last} succeeded.`;
}

/** Returns a reason if nothing is ready, and all blocked items are retries without budget. */
function onlyRetriesWait({ look: { ready, blocked, blockedRetries = 0 } }: Situation): string | undefined {
  if (ready > 0 || blockedRetries === 0 || blockedRetries < blocked) return undefined;
  return `${retriesWait(blockedRetries)}.`;
}

/** Returns a sentence about retries without budget, unless the reason is about them. */
function retriesBeside({ look: { blockedRetries = 0 } }: Situation): string {
  return blockedRetries === 0 ? "" : ` ${retriesWait(blockedRetries)}.`;
}

function retriesWait(count: number): string {
  return count === 1
    ? "1 retry waits for the retry budget"
    : `${formatNumber(count)} retries wait for the retry budget`;
}

/** Texts for the reasons for which one item and several items are blocked. */
const BECAUSE: Readonly<Record<keyof BlockedFor, readonly [one: string, several: string]>> = {
  paused: ["its group is paused", "their groups are paused"],
  probing: ["another item is tried first after a pause", "another item is tried first after a pause"],
  rate: ["its group has used its rate", "their groups have used their rate"],
  limit: ["its group is at its limit", "their groups are at their limits"],
  inner: ["the order within its group blocks it", "the order within their groups blocks them"],
};

function groupsAreFull({ look, blockedFor = {} }: Situation): string | undefined {
  const { ready, processing, hasGroups = true, blockedRetries = 0 } = look;
  const blocked = look.blocked - blockedRetries;
  if (ready > 0 || blocked <= 0) return undefined;
  if (!hasGroups) return `${items(blocked)} blocked: the queue doesn't say why.`;
  const flow = processing > 0 ? `; ${items(processing)} processing` : "";
  const reasons = (Object.entries(blockedFor) as [keyof BlockedFor, number][]).sort(([, a], [, b]) => b - a);
  if (reasons.length === 0) return `${items(blocked)} blocked: the dashboard doesn't know why${flow}.`;
  const because = ([reason, count]: readonly [keyof BlockedFor, number]) => BECAUSE[reason][count === 1 ? 0 : 1];
  if (reasons.length === 1) return `${items(blocked)} blocked because ${because(reasons[0]!)}${flow}.`;
  const each = reasons.map((reason) => `${formatNumber(reason[1])} because ${because(reason)}`);
  return `${items(blocked)} blocked: ${each.slice(0, -1).join(", ")} and ${each.at(-1)}${flow}.`;
}

function backlogGrows({ growth, look: { ready, blocked }, rates, throttle }: Situation): string | undefined {
  const backlog = ready + blocked;
  if (growth === null || backlog <= MAX_BACKLOG || growth.perSecond <= MAX_SLOPE) return undefined;
  const { in: come, out: go } = rates;
  const flow = come === null || go === null
    ? ""
    : `; ${formatNumber(come)} a second become ready and ${formatNumber(go)} are handed out`;
  const bound = throttle !== null && throttle.rate !== "unlimited" && go !== null && go > 0.8 * throttle.rate
    ? `, and the throttle allows ${formatNumber(throttle.rate)} a second`
    : "";
  const now = `${many(backlog, "item")}${flow}${bound}`;
  // The line through the samples may rise although the backlog falls again: the alert follows the line.
  if (!growth.rises) return `The backlog fell again after a peak in ${theLast(growth.ms)} and has ${now}.`;
  return `The backlog grew by ${slope(growth)} and has ${now}.`;
}

/**
 * Returns a reason if retries accumulate. Delayed items that grow without failures are scheduled, so they aren't a
 * backlog.
 */
function retriesPileUp({ delayedGrowth, failureRate, look: { delayed } }: Situation): string | undefined {
  if (delayedGrowth === null || delayedGrowth.perSecond <= MAX_SLOPE || delayed <= MAX_BACKLOG) return undefined;
  if (failureRate === null || failureRate <= MAX_FAILURES) return undefined;
  const failed = `${formatNumber(failureRate)} attempts a second failed`;
  if (!delayedGrowth.rises) {
    return `${failed}; the delayed items fell again after a peak in ${theLast(delayedGrowth.ms)}, to ${
      formatNumber(delayed)
    }.`;
  }
  return `Retries accumulate: ${failed}, and the delayed items grew by ${slope(delayedGrowth)} to ${
    formatNumber(delayed)
  }.`;
}

function slope({ perSecond, ms }: Trend): string {
  return `${formatNumber(Math.round(perSecond * 100) / 100)} items a second over ${theLast(ms)}`;
}

/** Formats a period, to whole minutes if it is long. */
function theLast(ms: number): string {
  const unit = ms < 90_000 ? 1000 : 60_000;
  return `the last ${formatDuration(Math.round(ms / unit) * unit)}`;
}

function nothingWasTaken({ handedOut, look: { ready, blocked, workers } }: Situation): string | undefined {
  const backlog = ready + blocked;
  if (backlog === 0 || handedOut === null || handedOut.change !== 0 || handedOut.ms < COUNTED_OVER * 0.9) {
    return undefined;
  }
  if (workers !== null && workers.active >= workers.concurrency) return undefined;
  return `Nothing was handed out in ${theLast(handedOut.ms)}, although ${items(backlog)} ready or blocked.`;
}

function oldestIsOld({ oldestReadyMs, look: { ready, blocked } }: Situation): string | undefined {
  if (oldestReadyMs === null || oldestReadyMs <= MAX_AGE) return undefined;
  return `The oldest of ${many(ready + blocked, "item")} has been ready for ${formatDuration(oldestReadyMs)}.`;
}

function handlerRunsLong({ longest }: Situation): string | undefined {
  if (longest === undefined || longest.for <= MAX_RUN) return undefined;
  return `A handler has been running for more than ${formatDuration(MAX_RUN)}.`;
}

/** Returns a reason if most attempts of the last minutes failed and the latest attempts failed too. */
function manyStillFail(situation: Situation): string | undefined {
  const { recent, lastMinute } = situation;
  const latest = recent !== null && recent.attempts >= MANY_FAILURES ? recent : lastMinute;
  if (latest !== null && latest.attempts > 0 && mostSucceed(latest)) return undefined;
  return manyFailed(situation);
}

function manyFailed({ counted, worst }: Situation): string | undefined {
  if (counted === null || counted.failed < MANY_FAILURES || mostSucceed(counted)) return undefined;
  const { failed, attempts, ms } = counted;
  return asSentence(
    `${formatNumber(failed)} of ${many(attempts, "attempt")} failed in ${theLast(ms)}${example(worst)}`,
  );
}

/** Returns a reason if most attempts of the last minutes failed. Decides only if the latest attempts succeeded. */
function manyHadFailed(situation: Situation): string | undefined {
  const reason = manyFailed(situation);
  return reason === undefined || isRecovering(situation) ? reason : `${reason} Most of the latest attempts succeeded.`;
}

/** Returns a reason if an item that failed more than a minute ago has not succeeded since. */
function someFailForLong({ look: { failing }, failingFor, worst }: Situation): string | undefined {
  if (failing === undefined || failing === 0 || failingFor === null || failingFor < LONG_FAILING) return undefined;
  const failed = `${many(failing, "item")} failed at ${failing === 1 ? "its" : "their"} last attempt`;
  return asSentence(`${failed}, the first ${formatDuration(failingFor)} ago${example(worst)}`);
}

/** Returns a reason if the oldest ready item has got older for some time. */
function oldestGetsOlder({ oldestReadyMs, olderBy, look: { ready, blocked } }: Situation): string | undefined {
  if (oldestReadyMs === null || olderBy === null || olderBy <= 0 || oldestReadyMs < LONG_READY) return undefined;
  return `The oldest of ${many(ready + blocked, "item")} has been ready for ${formatDuration(oldestReadyMs)}, ` +
    `${formatDuration(olderBy)} longer than a minute ago.`;
}

function trendIsUnknown({ growth, look: { ready, blocked } }: Situation): string | undefined {
  if (growth !== null || ready + blocked <= MAX_BACKLOG) return undefined;
  return `${items(ready + blocked)} ready or blocked. The dashboard doesn't know yet whether the backlog grows.`;
}

function healthy({ look: { ready, blocked, delayed, processing }, rates }: Situation): string {
  if (ready + delayed + processing === 0 && !((rates.out ?? 0) > 0)) return "Nothing to do.";
  const parts = ready > 0 ? [`${items(ready)} ready`] : [];
  if (blocked > 0) parts.push(`${formatNumber(blocked)} blocked`);
  if (processing > 0) parts.push(`${formatNumber(processing)} processing`);
  if (delayed > 0) parts.push(`${formatNumber(delayed)} delayed`);
  if (rates.out !== null) parts.push(`${formatNumber(rates.out)} a second handed out`);
  const isFlowing = (rates.out ?? 0) > 0 || processing > 0;
  const begin = ready > 0 ? "" : isFlowing ? "New items start at once: " : "Nothing is ready: ";
  return `${begin}${parts.join(", ")}.`;
}

/** Returns additional sentences about a queue, to be shown after the reason for its verdict. */
function notes(verdict: Verdict, situation: Situation): string {
  return hotTenant(situation) + recovery(situation) + longRun(situation) + pauseBeside(verdict, situation);
}

function recovery(situation: Situation): string {
  if (!isRecovering(situation)) return "";
  const { recent, lastMinute } = situation;
  const now = recent!.failed === 0 ? "none" : `${formatNumber(recent!.failed)} of ${formatNumber(recent!.attempts)}`;
  return ` Recovering: ${formatNumber(lastMinute!.failed)} attempts failed in the last minute, but ${now} in the last ${
    formatDuration(Math.round(recent!.ms / 1000) * 1000)
  }.`;
}

function longRun({ longest }: Situation): string {
  if (longest === undefined || longest.for < LONG_RUN) return "";
  return ` The handler of ${name(longest.key)} has been running for ${formatDuration(longest.for)}.`;
}

function hotTenant({ hot, listed }: Situation): string {
  if (hot === undefined) return "";
  return ` ${name(hot.name)} has ${Math.floor(100 * hot.count / listed)} % of the ready items.`;
}

/** Returns a sentence about a throttle that lets no attempt start, unless the reason already says so. */
function pauseBeside(verdict: Verdict, { look: { ready }, throttle, throttleState }: Situation): string {
  if (isClosed(throttleState) && ready === 0) return ` No attempt can start (${nameAndState(throttleState)}).`;
  if (verdict === "paused" || throttle === null || throttle.resumesInMs <= 0) return "";
  return ` The throttle is paused for another ${formatDuration(throttle.resumesInMs)}.`;
}

/** Maximum length of a key in a sentence, in characters. */
const MAX_NAME = 60;

function name(key: string): string {
  return inspect(key.length > MAX_NAME ? key.slice(0, MAX_NAME) : key);
}

function items(number: number): string {
  return `${many(number, "item")} ${number === 1 ? "is" : "are"}`;
}
