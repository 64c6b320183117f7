import { formatDuration, formatNumber, inspect } from "@workqueue/core/arguments";
import type { Bucket, Group, Rates, Verdict } from "../api.ts";
import type { Look } from "./source.ts";

/** All that a verdict is made of. */
export interface Situation {
  readonly look: Pick<Look, "ready" | "heldBack" | "waiting" | "held" | "workers" | "isPaused">;
  /** For how long nothing has been handed out, although something was ready and might have been. */
  readonly idleFor: number;
  /** Attempts that ended in the last minute, and those of them that failed; `null` if that is not known. */
  readonly lastMinute: { readonly attempts: number; readonly failed: number } | null;
  /** By how many items the backlog has grown in the last minute. */
  readonly growth: number | null;
  readonly rates: Rates;
  /** The item that failed most often. */
  readonly worst: { readonly key: string; readonly attempts: number; readonly error: string } | undefined;
  /** The item that a handler has been running for longest. */
  readonly longest: { readonly key: string; readonly for: number } | undefined;
  readonly starts: Bucket | null;
  /** The group that has most of the ready items. */
  readonly hot: Group | undefined;
  /** Of how many ready items that is known. */
  readonly listed: number;
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly reason: string;
}

/** How long nothing may be handed out, in milliseconds. */
export const STUCK_AFTER = 30_000;
/** How long handlers may run, in milliseconds. */
const LONG_RUN = 5 * 60_000;
/** How long all places may be taken by handlers out of time, in milliseconds. */
const LONG_FULL = 5000;
/** How many attempts have to fail in a minute, or of one key. */
const MANY_FAILURES = 5;
/** By how many items a backlog has to grow in a minute, and by which part of it. */
const GROWTH = 50;
const GROWN_PART = 0.1;

/** The order that queues are shown in, the worst first. */
const ORDER: readonly Verdict[] = ["stuck", "failing", "unknown", "paused", "busy", "healthy"];

/** Says how a queue is, and why. */
export function judge(situation: Situation): Judgement {
  for (const [verdict, find] of RULES) {
    const reason = find(situation);
    if (reason !== undefined) {
      return { verdict, reason: reason + hotTenant(situation) + heldBeside(verdict, situation) };
    }
  }
  return { verdict: "healthy", reason: healthy(situation) + hotTenant(situation) };
}

/** Sorts by how bad it is. What is equally bad stays in its order. */
export function worstFirst<Row extends { readonly verdict: Verdict }>(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
}

const RULES: readonly (readonly [Verdict, (situation: Situation) => string | undefined])[] = [
  ["stuck", nothingMayBegin],
  ["stuck", nothingIsTaken],
  ["stuck", placesAreTaken],
  ["stuck", runsTooLong],
  ["failing", manyFail],
  ["failing", oneFails],
  ["paused", paused],
  ["busy", allAreBusy],
  ["busy", backlogGrows],
];

function nothingMayBegin({ starts }: Situation): string | undefined {
  if (starts === null || starts.rate === "unlimited" || (starts.tokens ?? 0) >= 1) return undefined;
  if (starts.rate === 0) return "No attempt begins, as the rate of 'starts' is 0.";
  return starts.burst === 0 ? "No attempt begins, as the burst of 'starts' is 0." : undefined;
}

function nothingIsTaken(situation: Situation): string | undefined {
  const { look: { ready, held, workers, isPaused }, idleFor, starts } = situation;
  if (ready === 0 || isPaused || idleFor < STUCK_AFTER || idleFor < perToken(starts)) return undefined;
  const since = `Nothing has been handed out for ${formatDuration(idleFor)}, although ${items(ready)} ready`;
  if (workers === null) return held === 0 ? `${since}: no workers take them.` : undefined;
  const free = workers.concurrency - workers.active;
  if (free <= 0 || workers.paused) return undefined;
  return `${since} and ${formatNumber(free)} of ${count(workers.concurrency, "worker")} free.`;
}

/** How far tokens are apart, in milliseconds. */
function perToken(starts: Bucket | null): number {
  return starts === null || starts.rate === "unlimited" || starts.rate === 0 ? 0 : 2000 / starts.rate;
}

function placesAreTaken({ look: { ready, workers }, idleFor }: Situation): string | undefined {
  if (workers === null || ready === 0 || idleFor < LONG_FULL) return undefined;
  const { active, abandoned, concurrency } = workers;
  if (abandoned < active || abandoned < concurrency) return undefined;
  return `All places are taken by ${count(abandoned, "handler")} that ran out of time and go on; ` +
    `${items(ready)} ready.`;
}

function runsTooLong({ longest, look: { workers } }: Situation): string | undefined {
  if (longest === undefined || longest.for < LONG_RUN) return undefined;
  const of = workers === null
    ? ""
    : `, and ${formatNumber(workers.active)} of ${count(workers.concurrency, "worker")} busy`;
  return `The handler of ${name(longest.key)} has been running for ${formatDuration(longest.for)}${of}.`;
}

function manyFail({ lastMinute, worst }: Situation): string | undefined {
  if (lastMinute === null) return undefined;
  const { failed, attempts } = lastMinute;
  if (failed < MANY_FAILURES || failed < attempts / 2) return undefined;
  const share = `${formatNumber(failed)} of ${count(attempts, "attempt")} failed in the last minute`;
  if (worst === undefined || worst.error === "") return `${share}.`;
  return asSentence(`${share}, ${name(worst.key)} with ${worst.error}`);
}

function oneFails({ worst }: Situation): string | undefined {
  return worst !== undefined && worst.attempts >= MANY_FAILURES ? sentence(worst) : undefined;
}

function sentence({ key, attempts, error }: NonNullable<Situation["worst"]>): string {
  const times = attempts === 1 ? "once" : `${formatNumber(attempts)} times`;
  return asSentence(`${name(key)} failed ${times}${error === "" ? "" : `: ${error}`}`);
}

/** With an end, as another may follow. */
function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function paused({ look: { isPaused, ready, workers }, starts }: Situation): string | undefined {
  if (isPaused || workers?.paused) {
    const by = isPaused && workers?.paused === false ? "The queue is paused" : "Paused";
    return `${by}: ${items(ready)} ready, and nothing is handed out until it is resumed.`;
  }
  if (starts === null || starts.heldFor <= 0) return undefined;
  return `'starts' is held: no attempt begins for another ${formatDuration(starts.heldFor)}; ${items(ready)} ready.`;
}

function allAreBusy({ look: { ready, workers }, rates }: Situation): string | undefined {
  if (workers === null || ready === 0 || workers.active < workers.concurrency) return undefined;
  const rate = rates.out === null ? "" : `; ${formatNumber(rates.out)} a second are begun`;
  return workers.concurrency === 1
    ? `The one worker is busy and ${items(ready)} ready${rate}.`
    : `All ${formatNumber(workers.concurrency)} workers are busy and ${items(ready)} ready${rate}.`;
}

function backlogGrows({ growth, look: { ready, heldBack }, rates, starts }: Situation): string | undefined {
  const backlog = ready + heldBack;
  if (growth === null || growth < GROWTH || growth < GROWN_PART * backlog) return undefined;
  const { in: come, out: go } = rates;
  const flow = come === null || go === null ? "" : `: ${formatNumber(come)} a second come and ${formatNumber(go)} go`;
  const bound = starts !== null && starts.rate !== "unlimited" && go !== null && go > 0.8 * starts.rate
    ? `, as 'starts' lets ${formatNumber(starts.rate)} a second begin`
    : "";
  return `The backlog grew by ${formatNumber(growth)} to ${formatNumber(backlog)} in the last minute${flow}${bound}.`;
}

function healthy({ look: { ready, waiting, held }, rates }: Situation): string {
  if (ready + waiting + held === 0) return "Nothing to do.";
  const parts = [ready === 0 ? "What comes is begun at once" : `${items(ready)} ready`];
  if (held > 0) parts.push(`${formatNumber(held)} in work`);
  if (waiting > 0) parts.push(`${formatNumber(waiting)} waiting`);
  if (rates.out !== null) parts.push(`${formatNumber(rates.out)} a second are begun`);
  return `${parts.join(", ")}.`;
}

function hotTenant({ hot, listed }: Situation): string {
  if (hot === undefined) return "";
  return ` ${name(hot.name)} has ${Math.floor(100 * hot.count / listed)} % of what is ready.`;
}

/** What holds the attempts of a queue that has worse to tell. */
function heldBeside(verdict: Verdict, { starts }: Situation): string {
  if (verdict === "paused" || starts === null || starts.heldFor <= 0) return "";
  return ` 'starts' is held for another ${formatDuration(starts.heldFor)}.`;
}

/** So many characters of a key are shown in a sentence. */
const MAX_NAME = 60;

function name(key: string): string {
  return inspect(key.length > MAX_NAME ? key.slice(0, MAX_NAME) : key);
}

function items(number: number): string {
  return `${count(number, "item")} ${number === 1 ? "is" : "are"}`;
}

function count(number: number, word: string): string {
  return `${formatNumber(number)} ${word}${number === 1 ? "" : "s"}`;
}
