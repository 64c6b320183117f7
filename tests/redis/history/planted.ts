/**
 * Bugs that a test plants in the scripts, each with the load and the check that notice it. Each replaces a short text
 * of the scripts' source; planting fails if the text is missing.
 */

import { createScript } from "../../../packages/redis/connection/script.ts";
import type { Scripts } from "../../../packages/redis/scripts/script.ts";
import { timedScripts } from "../timed_server.ts";
import type { Check } from "./check.ts";
import type { LOADS } from "./loads.ts";

/** Planted bug. */
export interface Bug {
  readonly load: keyof typeof LOADS;
  readonly noticedBy: Check;
  /** Only script to change. By default, all scripts that contain the text are changed. */
  readonly script?: keyof Scripts;
  readonly text: string;
  readonly replacement: string;
}

const FIFO = "first in, first out";
const LIMITED = "groups with a limit";
const RATED = "groups with a rate";
const PAUSED = "pauses";
const BUDGET = "a retry budget";
const WEIGHTED = "groups with weights";

export const BUGS: Readonly<Record<string, Bug>> = {
  "a finish counts whatever its token is": {
    load: FIFO,
    noticedBy: "exclusion",
    text: "if current ~= token then",
    replacement: "if not current then",
  },
  "two keys that are taken together have one token": {
    load: FIFO,
    noticedBy: "exclusion",
    text: "tokens[i] = whole(q.tick())",
    replacement: "tokens[i] = whole(last)",
  },
  "a lease is half as long": {
    load: FIFO,
    noticedBy: "exclusion",
    text: "local ends = now + lease\n",
    replacement: "local ends = now + lease / 2\n",
  },
  "a renewal does not renew": {
    load: FIFO,
    noticedBy: "exclusion",
    script: "renew",
    text: "redis.call('ZADD', q.owners, q.leaseEnd(leaseUs), owner)",
    replacement: "",
  },
  "an add during processing leaves no mark": {
    load: FIFO,
    noticedBy: "lost adds",
    text: "'+' .. string.sub(holder, 2)",
    replacement: "'-' .. string.sub(holder, 2)",
  },
  "a retry is dropped": {
    load: FIFO,
    noticedBy: "lost adds",
    text: "return q.addAfter(key, wait, replaces, folds, priority, retry)",
    replacement: "return",
  },
  "a key that becomes due while it is processing is dropped": {
    load: "delays",
    noticedBy: "lost adds",
    text: "q.come(key, due[2 * i], held[i],",
    replacement: ";(held[i] and type or q.come)(key, due[2 * i], held[i],",
  },
  "keys of a lost owner are dropped": {
    load: FIFO,
    noticedBy: "lost adds",
    text: "for _, key in ipairs(keys) do stall(key) end",
    replacement: "for _, key in ipairs(keys) do redis.call('HDEL', q.holders, key) end",
  },
  "keys of an owner are not noted": {
    load: FIFO,
    noticedBy: "lost adds",
    text: "redis.call('SADD', q.held_by .. owner, unpack(keys))",
    replacement: "",
  },
  "keys whose hand-out was lost are not handed back": {
    load: FIFO,
    noticedBy: "lost adds",
    script: "release",
    text: "q.putBack(key, holders[i])",
    replacement: "",
  },
  "keys of a process that leaves are dropped": {
    load: FIFO,
    noticedBy: "lost adds",
    script: "leave",
    text: "q.putBack(key, redis.call('HGET', q.holders, key))",
    replacement: "redis.call('SREM', q.held_by .. owner, key)",
  },
  "a finished key becomes ready again": {
    load: FIFO,
    noticedBy: "unasked",
    text: "if flag == '+' then\n    q.comeAgain",
    replacement: "if true then\n    q.comeAgain",
  },
  "a delay is half as long": {
    load: "delays",
    noticedBy: "unasked",
    text: "q.delayUntil(key, q.tick() + delay, priority, retry)",
    replacement: "q.delayUntil(key, q.tick() + delay / 2, priority, retry)",
  },
  "the newest key is taken first": {
    load: FIFO,
    noticedBy: "order",
    text: "redis.call('ZPOPMIN', q.ready, count)",
    replacement: "redis.call('ZPOPMAX', q.ready, count)",
  },
  "a higher priority is a handicap": {
    load: "priorities that age",
    noticedBy: "order",
    text: "whole(place - math.floor(",
    replacement: "whole(place + math.floor(",
  },
  "the lowest level is served first": {
    load: "strict priorities",
    noticedBy: "order",
    text: "string.format('%.17g', -priority)",
    replacement: "string.format('%.17g', priority)",
  },
  "a group may have one key more": {
    load: LIMITED,
    noticedBy: "group limit",
    text: "maxPerGroup - group.processing)",
    replacement: "maxPerGroup - group.processing + 1)",
  },
  "keys that stalled ignore the limit of their group": {
    load: LIMITED,
    noticedBy: "group limit",
    text: "return group.processing < f.maxPerGroup and",
    replacement: "return",
  },
  "a finish gives back two places of a group": {
    load: LIMITED,
    noticedBy: "group limit",
    text: "math.max(group.processing - 1, 0)",
    replacement: "math.max(group.processing - 2, 0)",
  },
  "the rate of a group is twice as high": {
    load: RATED,
    noticedBy: "group rate",
    text: "math.max(group.fullAt, f.clock) + f.interval",
    replacement: "math.max(group.fullAt, f.clock) + f.interval / 2",
  },
  "keys of a paused group are handed out": {
    load: PAUSED,
    noticedBy: "paused",
    text: "return (group.pause > f.clock or group.probe) and 0",
    replacement: "return group.probe and 0",
  },
  "a later pause of a group ends an earlier one": {
    load: PAUSED,
    noticedBy: "paused",
    text: "if not group.pause or group.pause < until_ then",
    replacement: "if true then",
  },
  "a paused queue hands out keys": {
    load: BUDGET,
    noticedBy: "paused",
    text: "if isPaused then return end\n  local stalledKeys",
    replacement: "local stalledKeys",
  },
  "a group stays paused after its first key": {
    load: PAUSED,
    noticedBy: "lost adds",
    text: "if group.probe == key then group.pause, group.probe = nil, nil end",
    replacement: "",
  },
  "a blocked retry is dropped when it has budget": {
    load: BUDGET,
    noticedBy: "lost adds",
    text: "makeReady(first[1], q.placeOfRetry(q.tick(), retry), first[2])",
    replacement: "",
  },
  "all groups weigh the same": {
    load: WEIGHTED,
    noticedBy: "turns",
    text: "cost = 1 / weight,",
    replacement: "cost = 1,",
  },
  "a turn costs nothing": {
    load: WEIGHTED,
    noticedBy: "turns",
    text: "group.finish = group.start + cost",
    replacement: "group.finish = group.start",
  },
  "several attempts take one token": {
    load: "a bucket",
    noticedBy: "buckets",
    text: "tokens = tokens - taken",
    replacement: "tokens = tokens - math.min(taken, 1)",
  },
  "tokens come twice as fast": {
    load: "a bucket",
    noticedBy: "buckets",
    text: "local came = seconds *",
    replacement: "local came = 2 * seconds *",
  },
};

/** Returns the scripts with a bug. Throws if its text is missing. */
export function plant({ script, text, replacement }: Bug): Scripts {
  const changed = Object.entries(timedScripts).filter(([name, each]) =>
    (script === undefined || name === script) && each.text.includes(text)
  );
  if (changed.length === 0) throw new Error(`No script contains ${JSON.stringify(text)}`);
  const scripts = changed.map(([name, each]) => [name, createScript(each.text.replaceAll(text, () => replacement))]);
  return { ...timedScripts, ...Object.fromEntries(scripts) };
}
