import { parseDuration } from "@workqueue/core";
import { formatDuration, formatNumber, inspect } from "@workqueue/core/internal";
import type { Control, ControlResult } from "../api.ts";
import { Refusal } from "../http/answers.ts";
import type { WatchedQueue } from "../watch/watched_queue.ts";
import { readBody } from "./bodies.ts";
import { retry, takeBack } from "./bulk.ts";
import { cancel, NO_CANCEL } from "./cancel.ts";
import { discard, redrive, stopRedrive } from "./given_up.ts";
import { throttleActions, whyNotSteered } from "./throttle_controls.ts";

/** Returns the controls that a queue supports, and the reasons why it doesn't support the others. */
export function controlsOf(
  { source, pool, pauses, steeredThrottle }: WatchedQueue,
): { can: Control[]; cannot: Partial<Record<Control, string>> } {
  const reasons: Record<Control, string | undefined> = {
    pause: typeof pauses === "string" ? pauses : undefined,
    concurrency: pool === undefined ? NO_POOL : undefined,
    throttle: whyNotSteered(steeredThrottle),
    retry: source.cannotRetry,
    takeBack: undefined,
    cancel: source.cancel === undefined ? NO_CANCEL : undefined,
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
  ...Object.fromEntries(
    Object.entries(throttleActions).map(([name, act]) => [
      name,
      ({ steeredThrottle }: WatchedQueue, body: string) => act(steeredThrottle, body),
    ]),
  ),
  "pause-group": pauseGroup,
  "resume-group": resumeGroup,
  retry,
  "take-back": takeBack,
  cancel,
  redrive,
  "stop-redrive": stopRedrive,
  discard,
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
  return `${engine === "memory" ? "The pool of" : "The queue"} ${inspect(name)}`;
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

const NO_GROUPS = "The queue has no groups that can be paused: its discipline is not fair.";

async function pauseGroup({ groups }: WatchedQueue, body: string): Promise<ControlResult> {
  const { group, duration } = readBody("pause group", body, ["group"], ["duration"]);
  if (duration === undefined) throw new Refusal(422, "Cannot pause group: the body must have 'duration'");
  if (groups === undefined) throw new Refusal(422, NO_GROUPS);
  const ms = await groups.pause(group!, parseDuration(duration));
  return {
    message: `The group ${inspect(group)} is paused for ${formatDuration(ms)}: its ready items are blocked, ` +
      "and running handlers continue.",
  };
}

async function resumeGroup({ groups }: WatchedQueue, body: string): Promise<ControlResult> {
  const { group } = readBody("resume group", body, ["group"]);
  if (groups === undefined) throw new Refusal(422, NO_GROUPS);
  const wasPaused = await groups.resume(group!);
  return {
    message: `The group ${inspect(group)} ${wasPaused ? "is resumed." : "was not paused: nothing was done."}`,
  };
}
