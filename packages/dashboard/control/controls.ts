import { parseDuration } from "@workqueue/core";
import { formatDuration, formatNumber, inspect } from "@workqueue/core/internal";
import type { Control, ControlResult } from "../api.ts";
import { Refusal } from "../http/answers.ts";
import { many } from "../watch/texts.ts";
import type { LimitedThrottle } from "../watch/throttles.ts";
import type { WatchedQueue } from "../watch/watched_queue.ts";
import { readBody } from "./bodies.ts";
import { retry, takeBack } from "./bulk.ts";

/** Returns the controls that a queue supports, and the reasons why it doesn't support the others. */
export function controlsOf(
  { source, pool, throttleBucket, limitedThrottle, throttleSource, throttleType }: WatchedQueue,
): { can: Control[]; cannot: Partial<Record<Control, string>> } {
  const reasons: Record<Control, string | undefined> = {
    pause: typeof source.pausing === "string" ? source.pausing : undefined,
    concurrency: pool === undefined ? NO_POOL : undefined,
    throttle: throttleBucket !== undefined || limitedThrottle !== undefined
      ? undefined
      : source.engine === "redis"
      ? "Each process takes the rate from its own config. Change and reload that."
      : throttleSource === undefined
      ? "No throttle of this queue is known here. To slow the queue, lower its concurrency."
      : throttleType !== null
      ? `A throttle of type ${inspect(throttleType)} is changed in the config: change and reload that.`
      : "Its throttle is not a TokenBucket, so its rate cannot be changed.",
    retry: source.cannotRetry,
    takeBack: undefined,
  };
  const can: Control[] = [];
  const cannot: Partial<Record<Control, string>> = {};
  for (const [control, reason] of Object.entries(reasons) as [Control, string | undefined][]) {
    if (reason === undefined) can.push(control);
    else cannot[control] = reason;
  }
  return { can, cannot };
}

const NO_POOL = "The dashboard was not given this queue's pool.";

/** Function that performs an action on a queue. `body` is the text of the request body. */
export type Action = (queue: WatchedQueue, body: string) => ControlResult | Promise<ControlResult>;

/** Actions of the API. The keys are the actions' names in paths. */
export const actions: Readonly<Record<string, Action>> = {
  pause,
  resume,
  concurrency,
  throttle,
  "pause-throttle": pauseThrottle,
  "resume-throttle": resumeThrottle,
  "pause-group": pauseGroup,
  "resume-group": resumeGroup,
  retry,
  "take-back": takeBack,
};

async function pause(queue: WatchedQueue, body: string): Promise<ControlResult> {
  const { duration } = readBody("pause", body, [], ["duration"]);
  const ms = duration === undefined ? undefined : parseDuration(duration);
  await pausesOf(queue).pause(ms);
  const time = ms === undefined ? "" : ` for ${formatDuration(ms)}`;
  return {
    message: `${subject(queue)} is paused${time}: running handlers continue, and no more items are handed out.`,
  };
}

async function resume(queue: WatchedQueue, body: string): Promise<ControlResult> {
  readBody("resume", body, []);
  await pausesOf(queue).resume();
  return { message: `${subject(queue)} is resumed.` };
}

function pausesOf({ pauses }: WatchedQueue) {
  if (typeof pauses === "string") throw new Refusal(422, pauses);
  return pauses;
}

function subject({ name, source: { engine } }: WatchedQueue): string {
  return `${engine === "redis" ? "The queue" : "The pool of"} ${inspect(name)}`;
}

function concurrency({ pool }: WatchedQueue, body: string): ControlResult {
  const { concurrency } = readBody("set concurrency", body, ["concurrency"]);
  if (pool === undefined) throw new Refusal(422, NO_POOL);
  const before = pool.concurrency;
  pool.concurrency = concurrency!;
  return {
    message: `The concurrency is now ${formatNumber(concurrency!)}; it was ${formatNumber(before)}.`,
  };
}

function throttle(queue: WatchedQueue, body: string): ControlResult {
  const { limitedThrottle, throttleBucket } = queue;
  if (limitedThrottle !== undefined) return setLimit(limitedThrottle, body);
  const known = throttleBucket === undefined ? ["rate", "burst", "limit"] as const : ["rate", "burst"] as const;
  const { rate, burst } = readBody("change throttle", body, known);
  const bucket = throttleOf(queue);
  if (rate !== undefined) bucket.setRate(rate === "unlimited" ? Infinity : rate);
  if (burst !== undefined) bucket.setBurst(burst);
  const words = bucket.rate === Infinity
    ? "now start whenever a worker is free"
    : bucket.burst === 0
    ? "don't start while the burst is 0"
    : `may now start ${formatNumber(bucket.rate)} times a second, ${formatNumber(bucket.burst)} at once`;
  return { message: `Attempts ${words}.` };
}

function setLimit(throttle: LimitedThrottle, body: string): ControlResult {
  const { limit } = readBody("change throttle", body, ["limit"]);
  const before = throttle.limit;
  throttle.setLimit(limit!);
  const less = limit! < throttle.inUse ? ` ${formatNumber(throttle.inUse)} are running, and continue.` : "";
  return {
    message: `At most ${many(limit!, "attempt")} may run at once now; before, ${formatNumber(before)}.${less}`,
  };
}

function pauseThrottle(queue: WatchedQueue, body: string): ControlResult {
  const { duration } = readBody("pause throttle", body, ["duration"]);
  const bucket = throttleOf(queue);
  const ms = parseDuration(duration!);
  bucket.pauseFor(ms);
  return { message: `No attempt starts for ${formatDuration(Math.max(ms, bucket.resumesInMs))}.` };
}

function resumeThrottle(queue: WatchedQueue, body: string): ControlResult {
  readBody("resume throttle", body, []);
  const bucket = throttleOf(queue);
  const { resumesInMs } = bucket;
  bucket.resume();
  return { message: resumesInMs > 0 ? "Attempts may start again." : "The throttle was not paused: nothing was done." };
}

const NO_GROUPS = "The queue has no groups that can be paused: its discipline is not fair, or it is on Redis.";

function pauseGroup({ groups }: WatchedQueue, body: string): ControlResult {
  const { group, duration } = readBody("pause group", body, ["group"], ["duration"]);
  if (duration === undefined) throw new Refusal(422, "Cannot pause group: the body must have 'duration'");
  if (groups === undefined) throw new Refusal(422, NO_GROUPS);
  const ms = groups.pause(group!, parseDuration(duration));
  return {
    message: `The group ${inspect(group)} is paused for ${formatDuration(ms)}: its ready items are blocked, ` +
      "and running handlers continue.",
  };
}

function resumeGroup({ groups }: WatchedQueue, body: string): ControlResult {
  const { group } = readBody("resume group", body, ["group"]);
  if (groups === undefined) throw new Refusal(422, NO_GROUPS);
  const wasPaused = groups.resume(group!);
  return {
    message: `The group ${inspect(group)} ${wasPaused ? "is resumed." : "was not paused: nothing was done."}`,
  };
}

const NO_PAUSE = 'A throttle of type "concurrency" cannot be paused. Pause the queue, or lower the limit.';

function throttleOf(queue: WatchedQueue) {
  const { throttleBucket } = queue;
  if (throttleBucket === undefined) throw new Refusal(422, controlsOf(queue).cannot.throttle ?? NO_PAUSE);
  return throttleBucket;
}
