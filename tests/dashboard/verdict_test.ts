/** Tests of verdicts on queues, and of the reasons for these verdicts. */

import { assert, assertEquals } from "@std/assert";
import type { QueueRow, Verdict } from "@workqueue/dashboard";
import { existsSync, readFileSync } from "node:fs";
import { judge, RULES, type Situation, worstFirst } from "../../packages/dashboard/watch/verdict.ts";
import { anchorsOf } from "../docs/markdown.ts";

const workers = { active: 1, abandoned: 0, concurrency: 4, paused: false };
const rates = { in: 3, out: 3, failures: 0, givenUp: 0 };
const throttle = { rate: 10, burst: 5, tokens: 5, resumesInMs: 0 } as const;
const breaker = {
  ...{ path: "/throttles/api", type: "breaker", name: "api", options: {}, inside: [] },
  engine: "memory",
  bucket: null,
} as const;
const open = { ...breaker, limit: 0, inUse: 0, state: "open for 12 s: 14 of 20 attempts failed" };
const slots = { ...breaker, type: "concurrency", name: null, limit: 4, inUse: 4, state: "4 of 4 running" };
const look = { ready: 0, blocked: 0, delayed: 0, processing: 0, failing: 0, workers, paused: false };

const calm: Situation = {
  look,
  idleFor: 0,
  lastMinute: { attempts: 180, failed: 0, givenUp: 0 },
  recent: null,
  counted: { attempts: 900, failed: 0, ms: 300_000 },
  handedOut: { change: 900, ms: 300_000 },
  growth: { perSecond: 0, ms: 300_000, rises: false },
  delayedGrowth: { perSecond: 0, ms: 900_000, rises: false },
  failureRate: 0,
  oldestReadyMs: null,
  olderBy: null,
  failingFor: null,
  fading: undefined,
  rates,
  worst: undefined,
  longest: undefined,
  throttle: null,
  hot: undefined,
  listed: 0,
};

const ready = (number: number, others: Partial<Situation["look"]> = {}) => ({
  look: { ...look, ready: number, ...others },
});
const poison = { key: "orders/13", attempts: 5, error: "Error: no such customer" };

/** Reason for a queue without items through which items flow. */
const FLOWS = "New items start at once: 3 a second handed out.";

const cases: [what: string, situation: Partial<Situation>, verdict: Verdict, reason: string][] = [
  ["items that flow, none of them there now", {}, "healthy", FLOWS],
  ["nothing to do", { rates: { ...rates, in: 0, out: 0 } }, "healthy", "Nothing to do."],
  [
    "some work",
    { look: { ...look, ready: 1, processing: 2, delayed: 1500 } },
    "healthy",
    "1 item is ready, 2 processing, 1,500 delayed, 3 a second handed out.",
  ],
  [
    "no rates yet",
    { ...ready(2), rates: { in: null, out: null, failures: null, givenUp: null } },
    "healthy",
    "2 items are ready.",
  ],
  [
    "free workers that take nothing",
    { ...ready(1204), idleFor: 42_000 },
    "stuck",
    "Nothing has been handed out for 42 s, although 1,204 items are ready and 3 of 4 workers are free.",
  ],
  ["for a while only", { ...ready(1204), idleFor: 29_999 }, "healthy", /1,204 items are ready/.source],
  [
    "nobody who takes anything",
    { ...ready(12, { workers: null }), idleFor: 60_000 },
    "stuck",
    "Nothing has been handed out for 1 min, although 12 items are ready: no worker takes them.",
  ],
  [
    "other processes that work on something",
    { ...ready(12, { workers: null, processing: 3 }), idleFor: 60_000 },
    "healthy",
    "12 items are ready, 3 processing, 3 a second handed out.",
  ],
  [
    "a slow rate",
    { ...ready(12), idleFor: 60_000, throttle: { ...throttle, rate: 1 / 60, tokens: 0 } },
    "healthy",
    "12 items are ready, 3 a second handed out.",
  ],
  [
    "a rate of 0",
    { ...ready(12), throttle: { ...throttle, rate: 0, tokens: 0 } },
    "stuck",
    "No attempt can start because the throttle's rate is 0.",
  ],
  ["a rate of 0 with tokens left", { throttle: { ...throttle, rate: 0 } }, "healthy", FLOWS],
  [
    "a burst of 0",
    { throttle: { ...throttle, burst: 0, tokens: 0 } },
    "stuck",
    "No attempt can start because the throttle's burst is 0.",
  ],
  [
    "a burst of 0 without a rate",
    { throttle: { ...throttle, rate: "unlimited", burst: 0 } },
    "healthy",
    FLOWS,
  ],
  [
    "abandoned handlers everywhere",
    { ...ready(7, { workers: { ...workers, active: 8, abandoned: 8 } }), idleFor: 6000 },
    "stuck",
    "8 abandoned handlers occupy all workers; 7 items are ready.",
  ],
  [
    "abandoned handlers, and others",
    { ...ready(7, { workers: { ...workers, active: 8, abandoned: 4 } }), idleFor: 6000 },
    "busy",
    "All 4 workers are busy and 7 items are ready; 3 a second are handed out.",
  ],
  [
    "a handler that takes long",
    { longest: { key: "orders/7", for: 7.2 * 60_000 } },
    "healthy",
    `${FLOWS} The handler of "orders/7" has been running for 7.2 min.`,
  ],
  [
    "handlers that do not end",
    {
      ...ready(70, { workers: { ...workers, active: 4 } }),
      idleFor: 40_000,
      longest: { key: "orders/7", for: 300_000 },
    },
    "stuck",
    "Nothing has been handed out for 40 s, although 70 items are ready. " +
    'The handler of "orders/7" has been running for 5 min.',
  ],
  ["a handler that takes a while", { longest: { key: "orders/7", for: 299_999 } }, "healthy", FLOWS],
  [
    "an outage",
    { lastMinute: { attempts: 40, failed: 31, givenUp: 0 }, worst: { ...poison, attempts: 3 } },
    "failing",
    '31 of 40 attempts failed in the last minute, for example "orders/13" with Error: no such customer.',
  ],
  [
    "half of them",
    { lastMinute: { attempts: 10, failed: 5, givenUp: 0 } },
    "failing",
    "5 of 10 attempts failed in the last minute.",
  ],
  ["fewer than half", { lastMinute: { attempts: 11, failed: 5, givenUp: 0 } }, "healthy", FLOWS],
  ["a few only", { lastMinute: { attempts: 4, failed: 4, givenUp: 0 } }, "healthy", FLOWS],
  ["nobody knows", { lastMinute: null }, "healthy", FLOWS],
  [
    "a poison item, while the backend asked for a pause",
    { worst: poison, throttle: { ...throttle, resumesInMs: 2100 } },
    "failing",
    '"orders/13" failed 5 times: Error: no such customer. The throttle is paused for another 2.1 s.',
  ],
  ["a poison item", { worst: poison }, "failing", '"orders/13" failed 5 times: Error: no such customer.'],
  [
    "a poison item of which no error is known",
    { worst: { ...poison, error: "" } },
    "failing",
    '"orders/13" failed 5 times.',
  ],
  [
    "an outage of which no error is known",
    { lastMinute: { attempts: 9, failed: 9, givenUp: 0 }, worst: { ...poison, error: "" } },
    "failing",
    "9 of 9 attempts failed in the last minute.",
  ],
  ["one that failed some times", { worst: { ...poison, attempts: 4 } }, "healthy", FLOWS],
  [
    "a pause",
    { ...ready(1, { paused: true, workers: { ...workers, paused: true } }), idleFor: 60_000 },
    "paused",
    "1 item is ready, and nothing is handed out until work is resumed.",
  ],
  [
    "a pause of the queue",
    ready(3, { paused: true }),
    "paused",
    "3 items are ready, and nothing is handed out until work is resumed.",
  ],
  [
    "a pause of the throttle",
    { ...ready(3), throttle: { ...throttle, resumesInMs: 23_000 } },
    "paused",
    "The throttle is paused: no attempt starts for another 23 s; 3 items are ready.",
  ],
  [
    "everybody busy",
    ready(120, { workers: { ...workers, active: 4 } }),
    "busy",
    "All 4 workers are busy and 120 items are ready; 3 a second are handed out.",
  ],
  [
    "the one worker busy",
    ready(2, { workers: { ...workers, active: 1, concurrency: 1 } }),
    "busy",
    "The only worker is busy and 2 items are ready; 3 a second are handed out.",
  ],
  [
    "everybody busy, and nothing else to do",
    ready(0, { workers: { ...workers, active: 4 } }),
    "healthy",
    FLOWS,
  ],
  [
    "a backlog that grows",
    { ...ready(900, { blocked: 100 }), growth: { perSecond: 9, ms: 61_000, rises: true }, rates: { ...rates, in: 12 } },
    "busy",
    "The backlog grew by 9 items a second over the last 1 min and has 1,000 items; " +
    "12 a second become ready and 3 are handed out.",
  ],
  [
    "a backlog that grows behind a rate",
    {
      ...ready(900),
      growth: { perSecond: 2.104, ms: 300_000, rises: true },
      rates: { ...rates, in: 12, out: 9.9 },
      throttle: { ...throttle, tokens: 0 },
    },
    "busy",
    "The backlog grew by 2.1 items a second over the last 5 min and has 900 items; " +
    "12 a second become ready and 9.9 are handed out, and the throttle allows 10 a second.",
  ],
  [
    "a large backlog that grows by a small part",
    { ...ready(12_000), growth: { perSecond: 0.101, ms: 898_000, rises: true } },
    "busy",
    "The backlog grew by 0.1 items a second over the last 15 min and has 12,000 items; " +
    "3 a second become ready and 3 are handed out.",
  ],
  [
    "a backlog that hardly grows",
    { ...ready(101), growth: { perSecond: 0.1, ms: 300_000, rises: true } },
    "healthy",
    /101/.source,
  ],
  [
    "a small backlog that grows",
    { ...ready(100), growth: { perSecond: 9, ms: 60_000, rises: true } },
    "healthy",
    /100/.source,
  ],
  [
    "a backlog of which no trend is known",
    { ...ready(101), growth: null },
    "unknown",
    "101 items are ready or blocked. The dashboard doesn't know yet whether the backlog grows.",
  ],
  ["a small backlog of which no trend is known", { ...ready(100), growth: null }, "healthy", /100/.source],
  [
    "a backlog that has peaked, although the line through it rises",
    { ...ready(146), growth: { perSecond: 0.45, ms: 37_000, rises: false } },
    "busy",
    "The backlog fell again after a peak in the last 37 s and has 146 items; " +
    "3 a second become ready and 3 are handed out.",
  ],
  [
    "retries that have peaked, although the line through them rises",
    { look: { ...look, delayed: 700 }, delayedGrowth: { perSecond: 0.8, ms: 880_000, rises: false }, failureRate: 1.5 },
    "busy",
    "1.5 attempts a second failed; the delayed items fell again after a peak in the last 15 min, to 700.",
  ],
  [
    "items that failed more than a minute ago",
    { look: { ...look, delayed: 78, failing: 3 }, failingFor: 61_000 },
    "busy",
    "3 items failed at their last attempt, the first 1 min ago.",
  ],
  [
    "an item that failed less than a minute ago",
    { look: { ...look, delayed: 1, failing: 1 }, failingFor: 59_000 },
    "healthy",
    "New items start at once: 1 delayed, 3 a second handed out.",
  ],
  [
    "items that wait longer and longer",
    { ...ready(78), oldestReadyMs: 41_000, olderBy: 20_000 },
    "busy",
    "The oldest of 78 items has been ready for 41 s, 20 s longer than a minute ago.",
  ],
  ["items that wait as long as before", { ...ready(78), oldestReadyMs: 41_000, olderBy: 0 }, "healthy", /78/.source],
  ["items that wait for a moment", { ...ready(78), oldestReadyMs: 9000, olderBy: 9000 }, "healthy", /78/.source],
  [
    "an old item",
    { ...ready(3), oldestReadyMs: 330_000 },
    "busy",
    "The oldest of 3 items has been ready for 5.5 min.",
  ],
  ["an item that is not old yet", { ...ready(1), oldestReadyMs: 300_000 }, "healthy", /1 item/.source],
  [
    "retries that accumulate",
    { look: { ...look, delayed: 700 }, delayedGrowth: { perSecond: 0.8, ms: 880_000, rises: true }, failureRate: 1.5 },
    "busy",
    "Retries accumulate: 1.5 attempts a second failed, and the delayed items grew by " +
    "0.8 items a second over the last 15 min to 700.",
  ],
  [
    "scheduled repeats",
    { look: { ...look, delayed: 7000 }, delayedGrowth: { perSecond: 5, ms: 880_000, rises: true }, failureRate: 0.1 },
    "healthy",
    /New items/.source,
  ],
  [
    "free workers of an idle process, while other processes take nothing",
    { ...ready(2, { workers: null, processing: 3, blocked: 4 }), handedOut: { change: 0, ms: 299_000 } },
    "busy",
    "Nothing was handed out in the last 5 min, although 6 items are ready or blocked.",
  ],
  [
    "busy workers that take nothing",
    {
      ...ready(2, { workers: { ...workers, active: 4 }, processing: 4 }),
      handedOut: { change: 0, ms: 299_000 },
    },
    "healthy",
    /2 items/.source,
  ],
  [
    "a handler that takes very long",
    { longest: { key: "orders/7", for: 900_001 } },
    "busy",
    'A handler has been running for more than 15 min. The handler of "orders/7" has been running for 15 min.',
  ],
  [
    "slow attempts that fail",
    {
      lastMinute: { attempts: 1, failed: 1, givenUp: 0 },
      counted: { attempts: 9, failed: 5, ms: 300_000 },
    },
    "failing",
    "5 of 9 attempts failed in the last 5 min.",
  ],
  [
    "slow attempts that succeed again",
    {
      lastMinute: { attempts: 1, failed: 0, givenUp: 0 },
      counted: { attempts: 9, failed: 5, ms: 300_000 },
    },
    "busy",
    "5 of 9 attempts failed in the last 5 min.",
  ],
  [
    "an alert whose condition has ended",
    { fading: { alert: "WorkqueueNothingTaken", endedAgoMs: 80_400 } },
    "busy",
    `${FLOWS} WorkqueueNothingTaken may still fire: its condition ended 1.3 min ago.`,
  ],
  [
    "a hot tenant",
    { ...ready(200, { workers: { ...workers, active: 4 } }), hot: { name: "tenant-7", count: 195 }, listed: 200 },
    "busy",
    'All 4 workers are busy and 200 items are ready; 3 a second are handed out. "tenant-7" has 97 % of the ready items.',
  ],
  [
    "a pause whose end is set",
    { ...ready(3, { paused: true }), pauseEndsInMs: 89_500 },
    "paused",
    "3 items are ready, and nothing is handed out for another 1.5 min.",
  ],
  [
    "a pause of what fails",
    { ...ready(901, { paused: true, failing: 40 }), worst: poison },
    "paused",
    "901 items are ready, and nothing is handed out until work is resumed. 40 items failed before the pause.",
  ],
  [
    "everybody busy, and more coming than going",
    { ...ready(120, { workers: { ...workers, active: 4 } }), rates: { ...rates, in: 12 } },
    "busy",
    "Falling behind: 12 a second become ready and 3 are handed out; all 4 workers are busy and 120 items are ready.",
  ],
  [
    "everybody busy, and more going than coming",
    { ...ready(120, { workers: { ...workers, active: 4 } }), rates: { ...rates, out: 13 } },
    "busy",
    "Catching up, with about 12 s left: 3 a second become ready and 13 are handed out; all 4 workers are busy and 120 items are ready.",
  ],
  [
    "everybody busy, and a few in line",
    ready(4, { workers: { ...workers, active: 4 }, processing: 4 }),
    "healthy",
    "4 items are ready, 4 processing, 3 a second handed out.",
  ],
  [
    "an outage that has just begun",
    { recent: { attempts: 20, failed: 18, ms: 5021 }, worst: { ...poison, attempts: 1 } },
    "failing",
    '18 of 20 attempts failed in the last 5 s, for example "orders/13" with Error: no such customer.',
  ],
  [
    "an outage that is over",
    {
      ...ready(0, { processing: 1, delayed: 80, failing: 81 }),
      recent: { attempts: 20, failed: 0, ms: 4980 },
      lastMinute: { attempts: 400, failed: 380, givenUp: 0 },
      worst: { ...poison, attempts: 7 },
    },
    "healthy",
    "New items start at once: 1 processing, 80 delayed, 3 a second handed out. " +
    "Recovering: 380 attempts failed in the last minute, but none in the last 5 s.",
  ],
  [
    "an outage whose items are delayed",
    {
      ...ready(0, { delayed: 5000, failing: 4800 }),
      lastMinute: { attempts: 0, failed: 0, givenUp: 0 },
      worst: { ...poison, attempts: 1 },
    },
    "failing",
    '4,800 of 5,000 items failed at their last attempt, for example "orders/13" with Error: no such customer.',
  ],
  [
    "most items failing, and none tried for a while",
    {
      ...ready(0, { delayed: 100, failing: 60 }),
      lastMinute: { attempts: 0, failed: 0, givenUp: 0 },
      worst: { ...poison, attempts: 1 },
    },
    "failing",
    '60 of 100 items failed at their last attempt, for example "orders/13" with Error: no such customer.',
  ],
  [
    "items that are given up",
    { lastMinute: { attempts: 400, failed: 20, givenUp: 12 } },
    "failing",
    "12 items were given up in the last minute, in 400 attempts.",
  ],
  [
    "one of many that was given up",
    { lastMinute: { attempts: 400, failed: 1, givenUp: 1 } },
    "healthy",
    FLOWS,
  ],
  [
    "all of a few that were given up",
    { lastMinute: { attempts: 2, failed: 2, givenUp: 2 } },
    "failing",
    "2 items were given up in the last minute, in 2 attempts.",
  ],
  [
    "groups that are full",
    { ...ready(0, { blocked: 999, processing: 1 }), blockedFor: { limit: 999 } },
    "busy",
    "999 items are blocked because their groups are at their limits; 1 item is processing.",
  ],
  [
    "a paused group while another goes on",
    { ...ready(0, { blocked: 2, processing: 1 }), blockedFor: { paused: 2 } },
    "busy",
    "2 items are blocked because their groups are paused; 1 item is processing.",
  ],
  [
    "an item of a paused group",
    { ...ready(0, { blocked: 1 }), blockedFor: { paused: 1 } },
    "busy",
    "1 item is blocked because its group is paused.",
  ],
  [
    "groups that have used their rate",
    { ...ready(0, { blocked: 2 }), blockedFor: { rate: 2 } },
    "busy",
    "2 items are blocked because their groups have used their rate.",
  ],
  [
    "a group of which one item is tried first",
    { ...ready(0, { blocked: 7, processing: 1 }), blockedFor: { probing: 7 } },
    "busy",
    "7 items are blocked because another item is tried first after a pause; 1 item is processing.",
  ],
  [
    "an order within groups",
    { ...ready(0, { blocked: 3 }), blockedFor: { inner: 3 } },
    "busy",
    "3 items are blocked because the order within their groups blocks them.",
  ],
  [
    "groups that wait for several reasons",
    { ...ready(0, { blocked: 32 }), blockedFor: { limit: 1, paused: 30, rate: 1 } },
    "busy",
    "32 items are blocked: 30 because their groups are paused, 1 because its group is at its limit and " +
    "1 because its group has used its rate.",
  ],
  [
    "groups that were not looked at yet",
    ready(0, { blocked: 2, processing: 1 }),
    "busy",
    "2 items are blocked: the dashboard doesn't know why; 1 item is processing.",
  ],
  [
    "groups that wait while others go on",
    ready(3, { blocked: 1500 }),
    "healthy",
    "3 items are ready, 1,500 blocked, 3 a second handed out.",
  ],
  [
    "busy workers and blocked groups",
    ready(8, { blocked: 1500, workers: { ...workers, active: 4 } }),
    "busy",
    "All 4 workers are busy and 8 items are ready, 1,500 blocked; 3 a second are handed out.",
  ],
  [
    "retries without budget",
    ready(0, { blocked: 40, hasGroups: false, blockedRetries: 40 }),
    "busy",
    "40 retries wait for the retry budget.",
  ],
  [
    "a retry without budget beside ready items",
    ready(3, { blocked: 1, blockedRetries: 1 }),
    "healthy",
    "3 items are ready, 1 blocked, 3 a second handed out. 1 retry waits for the retry budget.",
  ],
  [
    "retries without budget while attempts fail",
    {
      ...ready(0, { blocked: 292, blockedRetries: 292, failing: 292 }),
      lastMinute: { attempts: 339, failed: 331, givenUp: 0 },
      recent: { attempts: 5, failed: 5, ms: 5000 },
    },
    "failing",
    "5 of 5 attempts failed in the last 5 s. 292 retries wait for the retry budget.",
  ],
  [
    "retries without budget after an outage",
    {
      ...ready(0, { blocked: 292, blockedRetries: 292, failing: 292 }),
      lastMinute: { attempts: 339, failed: 331, givenUp: 0 },
      recent: { attempts: 3, failed: 0, ms: 5000 },
    },
    "busy",
    "292 retries wait for the retry budget, although all 3 attempts in the last 5 s succeeded.",
  ],
  [
    "blocked items of a queue that gives no reason",
    ready(0, { blocked: 40, hasGroups: false }),
    "busy",
    "40 items are blocked: the queue doesn't say why.",
  ],
  [
    "groups that wait, and retries without budget",
    { ...ready(0, { blocked: 40, hasGroups: true, blockedRetries: 3 }), blockedFor: { rate: 37 } },
    "busy",
    "37 items are blocked because their groups have used their rate. 3 retries wait for the retry budget.",
  ],
  [
    "a queue that a server asked to wait",
    ready(0, { blocked: 40, hasGroups: false, resumesInMs: 20_000 }),
    "paused",
    "A server asked to wait (RetryAfterError): nothing is handed out for another 20 s; 40 items are blocked.",
  ],
  [
    "an open breaker",
    { ...ready(500, { failing: 14 }), throttleState: open, worst: { ...poison, attempts: 1 } },
    "failing",
    'api: breaker open for 12 s: 14 of 20 attempts failed, for example "orders/13" with Error: no such customer; ' +
    "500 items are ready.",
  ],
  [
    "a breaker that the failures of another queue opened",
    { ...ready(500), throttleState: open },
    "paused",
    "api: breaker open for 12 s: 14 of 20 attempts failed; 500 items are ready.",
  ],
  [
    "an open breaker, for a long time",
    { ...ready(500), idleFor: 300_000, throttleState: open },
    "paused",
    "api: breaker open for 12 s: 14 of 20 attempts failed; 500 items are ready.",
  ],
  [
    "an open breaker, and nothing to do",
    { rates: { ...rates, in: 0, out: 0 }, throttleState: open },
    "healthy",
    "Nothing to do. No attempt can start (api: breaker open for 12 s: 14 of 20 attempts failed).",
  ],
  [
    "an open breaker while all retries are delayed",
    {
      ...ready(0, { delayed: 14, failing: 14 }),
      lastMinute: { attempts: 20, failed: 14, givenUp: 0 },
      throttleState: open,
    },
    "failing",
    "14 of 20 attempts failed in the last minute. " +
    "No attempt can start (api: breaker open for 12 s: 14 of 20 attempts failed).",
  ],
  [
    "several throttles at once, one of which is open",
    {
      ...ready(5),
      throttleState: {
        ...open,
        type: "all-of",
        inside: [breaker, slots],
        state: "open for 12 s: 9 of 9; 0 of 4 running",
      },
    },
    "paused",
    "api: open for 12 s: 9 of 9; 0 of 4 running; 5 items are ready.",
  ],
  [
    "a throttle at its limit",
    { ...ready(120, { workers: { ...workers, concurrency: 10 } }), throttleState: slots, rates: { ...rates, in: 12 } },
    "busy",
    "Falling behind: 12 a second become ready and 3 are handed out; " +
    "the throttle is at its limit (Throttle: 4 of 4 running) and 120 items are ready.",
  ],
  [
    "a throttle of a shared queue, of which only this process is known",
    {
      ...ready(12),
      idleFor: 42_000,
      throttleState: { ...slots, name: "slots", engine: "redis", inUse: 0, state: "0 of 4 running" },
    },
    "stuck",
    "Nothing has been handed out for 42 s, although 12 items are ready and 3 of 4 workers are free. " +
    "slots: concurrency 0 of 4 running in this process.",
  ],
  [
    "a throttle at its limit, and a few in line",
    { ...ready(4, { processing: 4 }), throttleState: slots },
    "healthy",
    "4 items are ready, 4 processing, 3 a second handed out.",
  ],
  [
    "free workers that a full throttle holds back for a while",
    { ...ready(4), idleFor: 42_000, throttleState: slots },
    "healthy",
    /4 items are ready/.source,
  ],
  [
    "free workers that a full throttle holds back for minutes",
    { ...ready(12), idleFor: 300_000, throttleState: slots },
    "stuck",
    "Nothing has been handed out for 5 min, although 12 items are ready: " +
    "at the limit of the throttle (Throttle: 4 of 4 running).",
  ],
  [
    "a full throttle and a handler that hangs",
    { ...ready(12), idleFor: 30_000, throttleState: slots, longest: { key: "orders/7", for: 300_000 } },
    "stuck",
    "Nothing has been handed out for 30 s, although 12 items are ready: " +
    "at the limit of the throttle (Throttle: 4 of 4 running). " +
    'The handler of "orders/7" has been running for 5 min.',
  ],
  [
    "free workers that take nothing, beside a throttle that allows it",
    { ...ready(1204), idleFor: 42_000, throttleState: { ...breaker, limit: null, inUse: 0, state: "closed" } },
    "stuck",
    "Nothing has been handed out for 42 s, although 1,204 items are ready and 3 of 4 workers are free. " +
    "api: breaker closed.",
  ],
  [
    "text that is none",
    { worst: { ...poison, key: "<b>\u202e\n" + "x".repeat(100) } },
    "failing",
    `"<b>\\u202e\\n${"x".repeat(55)}" failed 5 times: Error: no such customer.`,
  ],
];

/** Reports whether a page of the docs, or a section of a page, exists. */
function isInDocs(guide: string): boolean {
  const [page, section] = guide.split("#");
  const file = new URL(`../../docs/${page}`, import.meta.url);
  return existsSync(file) && (section === undefined || anchorsOf(readFileSync(file, "utf8")).includes(`#${section}`));
}

for (const [what, situation, verdict, reason] of cases) {
  Deno.test(`verdict: ${what}`, () => {
    const judged = judge({ ...calm, ...situation });
    assertEquals(judged.verdict, verdict);
    assert(isInDocs(judged.guide), judged.guide);
    if (judged.reason !== reason) assertEquals(judged.reason.match(reason)?.index, 0, judged.reason);
  });
}

Deno.test("verdict: a backlog of one tenant has its own guide", () => {
  const situation = { ...calm, ...ready(200, { workers: { ...workers, active: 4 } }) };
  assertEquals(judge(situation).guide, "operate/the-backlog-grows.md");
  assertEquals(
    judge({ ...situation, hot: { name: "tenant-7", count: 195 }, listed: 200 }).guide,
    "operate/one-tenant-floods.md",
  );
});

Deno.test("verdict: every guide is a page of the docs or a section of one", () => {
  for (const { guide } of RULES) assert(isInDocs(guide), guide);
});

/** Row of a queue, for the order of queues. */
function row(verdict: Verdict, changes: Partial<Pick<QueueRow, "counts" | "rates" | "oldestReadyMs">> = {}) {
  const counts = { ready: 0, blocked: 0, delayed: 0, processing: 0, failing: 0 };
  return { verdict, counts, rates, oldestReadyMs: null, ...changes };
}

/** Returns the places of rows, worst first. */
function worst(...rows: ReturnType<typeof row>[]): number[] {
  return worstFirst(rows.map((row, place) => ({ ...row, place }))).map(({ place }) => place);
}

Deno.test("verdict: the worst queues come first, and queues with the same verdict stay in their order", () => {
  const verdicts: Verdict[] = ["healthy", "busy", "paused", "unknown", "failing", "stuck", "healthy"];
  assertEquals(worst(...verdicts.map((verdict) => row(verdict))), [5, 4, 3, 2, 1, 0, 6]);
});

Deno.test("verdict: among failing queues, an outage comes before one poison item", () => {
  const failing = (items: number, failures = 0, oldestReadyMs: number | null = null) =>
    row("failing", {
      counts: { ...row("failing").counts, failing: items },
      rates: { ...rates, failures },
      oldestReadyMs,
    });
  assertEquals(worst(failing(1), failing(400)), [1, 0], "the most failing items");
  assertEquals(worst(failing(400, 0.1), failing(400, 3)), [1, 0], "then the largest share of failing attempts");
  assertEquals(worst(failing(400, 3, 1000), failing(400, 3, 60_000)), [1, 0], "then the oldest items");
  assertEquals(worst(failing(401, 3), failing(400, 2.9)), [0, 1], "small differences don't swap queues");
});

Deno.test("verdict: among queues that are stuck, paused or busy, the most waiting items come first", () => {
  for (const verdict of ["stuck", "paused", "busy"] as const) {
    const waiting = (ready: number, blocked: number) =>
      row(verdict, { counts: { ...row(verdict).counts, ready, blocked } });
    assertEquals(worst(waiting(3, 0), waiting(0, 500), waiting(30, 0)), [1, 2, 0], verdict);
  }
  const healthy = (ready: number) => row("healthy", { counts: { ...row("healthy").counts, ready } });
  assertEquals(worst(healthy(3), healthy(500)), [0, 1], "healthy queues keep their places");
});
