/** Actions on throttles, which are chosen by their names or by a queue that uses them. */

import { parseDuration } from "@workqueue/core";
import { formatDuration, formatNumber, inspect } from "@workqueue/core/internal";
import type { ControlResult } from "../api.ts";
import { Refusal } from "../http/answers.ts";
import { many } from "../watch/texts.ts";
import type { LimitedThrottle, SteeredThrottle } from "../watch/throttles.ts";
import { readBody } from "./bodies.ts";

/** Function that performs an action on a throttle. `body` is the text of the request body. */
export type ThrottleAction = (throttle: SteeredThrottle, body: string) => ControlResult;

/** Actions on throttles. The keys are the actions' names in paths. */
export const throttleActions: Readonly<Record<string, ThrottleAction>> = {
  throttle: change,
  "pause-throttle": pause,
  "resume-throttle": resume,
};

/** Returns the reason why a throttle can't be changed; `undefined` if it can. */
export function whyNotSteered({ bucket, limited, isKnown, engine, type, inside }: SteeredThrottle): string | undefined {
  if (bucket !== undefined || limited !== undefined) return undefined;
  if (engine !== "memory") return "Each process takes the rate from its own config. Change and reload that.";
  if (!isKnown) return "No throttle of this queue is known here. To slow the queue, lower its concurrency.";
  if (type === null) return "Its throttle is not a TokenBucket, so its rate cannot be changed.";
  const parts = inside.length === 0
    ? ""
    : ` Those inside it have rows of their own: ${inside.map(inspect).join(", ")}.`;
  return `A throttle of type ${inspect(type)} is changed in the config: change and reload that.${parts}`;
}

function change(throttle: SteeredThrottle, body: string): ControlResult {
  const { bucket, limited } = throttle;
  if (limited !== undefined) return setLimit(limited, body);
  const { rate, burst } = bucket === undefined
    ? readBody(CHANGE, body, ["rate", "burst", "limit"])
    : readBody(CHANGE, body, ["rate", "burst"], [], "; the throttle is a bucket: pass 'rate' and 'burst'");
  if (bucket === undefined) throw new Refusal(422, whyNotSteered(throttle)!);
  if (rate !== undefined) bucket.setRate(rate === "unlimited" ? Infinity : rate);
  if (burst !== undefined) bucket.setBurst(burst);
  const words = bucket.rate === Infinity
    ? "now start whenever a worker is free"
    : bucket.burst === 0
    ? "don't start while the burst is 0"
    : `may now start ${formatNumber(bucket.rate)} times a second, ${formatNumber(bucket.burst)} at once`;
  return { message: `Attempts ${words}.` };
}

const CHANGE = "change throttle";

function setLimit(throttle: LimitedThrottle, body: string): ControlResult {
  const { limit } = readBody(CHANGE, body, ["limit"], [], "; the throttle has the type \"concurrency\": pass 'limit'");
  const before = throttle.limit;
  throttle.setLimit(limit!);
  const less = limit! < throttle.inUse ? ` ${formatNumber(throttle.inUse)} are running, and continue.` : "";
  return {
    message: `At most ${many(limit!, "attempt")} may run at once now; before, ${formatNumber(before)}.${less}`,
  };
}

function pause(throttle: SteeredThrottle, body: string): ControlResult {
  const { duration } = readBody("pause throttle", body, ["duration"]);
  const bucket = bucketOf(throttle);
  const ms = parseDuration(duration!);
  bucket.pauseFor(ms);
  return { message: `No attempt starts for ${formatDuration(Math.max(ms, bucket.resumesInMs))}.` };
}

function resume(throttle: SteeredThrottle, body: string): ControlResult {
  readBody("resume throttle", body, []);
  const bucket = bucketOf(throttle);
  const { resumesInMs } = bucket;
  bucket.resume();
  return { message: resumesInMs > 0 ? "Attempts may start again." : "The throttle was not paused: nothing was done." };
}

/** Returns the bucket to pause or resume. */
function bucketOf({ bucket, isKnown, type, queues, ...others }: SteeredThrottle) {
  if (bucket !== undefined) return bucket;
  if (!isKnown || others.engine !== "memory") {
    throw new Refusal(422, whyNotSteered({ bucket, isKnown, type, queues, ...others })!);
  }
  const kind = type === null ? "another throttle" : `a throttle of type ${inspect(type)}`;
  const instead = queues.length === 0
    ? ""
    : ` Pause the ${queues.length === 1 ? "queue" : "queues"} ${queues.map(inspect).join(", ")} instead.`;
  throw new Refusal(422, `Only a bucket can be paused, not ${kind}.${instead}`);
}
