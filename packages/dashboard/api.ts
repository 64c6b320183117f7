/**
 * What the page and the JSON API say. Times are milliseconds; what is not known is `null`.
 *
 * @module
 */

import type { GiveUpReason } from "@workqueue/core";

/** How a queue is, at one glance. The first of these that holds, from the worst on. */
export type Verdict = "stuck" | "failing" | "paused" | "busy" | "healthy" | "unknown";

/** Something that can be done to a queue. */
export type Control = "pause" | "concurrency" | "throttle" | "retry" | "takeBack";

/** `GET api/state`, and each event `state` of `GET api/events`. */
export interface State {
  /** Names this dashboard, until its process ends. A control that was meant for another one is refused. */
  readonly instance: string;
  /** When this was so, as `Date.now()` gives it. */
  readonly time: number;
  /** Whether who asks may control. */
  readonly mayControl: boolean;
  /** Whether the config can be reloaded from its file. */
  readonly mayReload: boolean;
  /** The worst first, and those of one verdict in the order that they were given in. */
  readonly queues: readonly QueueRow[];
}

/** A queue in the list. */
export interface QueueRow {
  /** The name that it is shown under. */
  readonly name: string;
  /** Where its items are. */
  readonly engine: "memory" | "redis";
  /** How it is. */
  readonly verdict: Verdict;
  /** Why, in a sentence. */
  readonly reason: string;
  /** How many items there are. */
  readonly counts: Counts;
  /** How fast they come and go. */
  readonly rates: Rates;
  /** For how long the oldest of the ready items has been so, as exactly as is known. */
  readonly oldestReadyMs: number | null;
  /** The pool; `null` without one. */
  readonly workers: { readonly active: number; readonly concurrency: number } | null;
  /** Whether nothing begins until it is resumed: what is paused is the pool in memory, and the queue on Redis. */
  readonly paused: boolean;
  /** How many were ready or waited in the last fifteen minutes, the oldest first; at most 60 numbers. */
  readonly trend: readonly (number | null)[];
}

/** How many items there are. */
export interface Counts {
  /** Items that may be handed out now. */
  readonly ready: number;
  /** Items that are ready and that the discipline holds back. */
  readonly blocked: number;
  /** Items whose delay has not passed. */
  readonly delayed: number;
  /** Items that are being worked on. */
  readonly processing: number;
  /** Items whose last attempt failed and that will be tried again. In memory, 1,000 stands for as many or more. */
  readonly failing: number | null;
}

/** How many a second, over the last minute. */
export interface Rates {
  /** Items that became ready. */
  readonly in: number | null;
  /** Items that were handed out. */
  readonly out: number | null;
  /** Attempts that failed. */
  readonly failures: number | null;
  /** Items that were given up. */
  readonly givenUp: number | null;
}

/** `GET api/queues/NAME?search=TEXT&limit=50`, and each event `queue` of `GET api/events?queue=NAME&search=TEXT`. */
export interface QueueDetails extends QueueRow {
  /** The latest samples, five seconds apart, the oldest first; at most 180. */
  readonly history: History;
  /** Whose last attempt failed, the most attempts first. */
  readonly failingItems: readonly FailingItem[];
  /** What handlers are running for, the longest first. */
  readonly runningItems: readonly RunningItem[];
  /** What waits, the earliest first. */
  readonly delayedItems: readonly DelayedItem[];
  /** What is next. */
  readonly readyItems: readonly ReadyItem[];
  /** Whose items these are, by the first part of their keys, the most first. Of the first 1,000 that are ready. */
  readonly groups: readonly Group[];
  /**
   * How many wait whose keys match what is searched for, listed or not: what `retry` and `take-back` act on. In memory
   * these are of all that wait, on Redis of the 1,000 due first and of the failing ones listed.
   *
   * `null` if that is not known: yet, as searches have a twentieth of the time, and those of others come first; or at
   * all, as too many wait to look at each: 200,000, or fewer if it takes long to make texts of them. The lists then
   * have what was found among those that were looked at: at first 1,000.
   */
  readonly matching: number | null;
  /**
   * How many items were given up for each reason: in memory by the pool, on Redis by all processes since there is a
   * queue. `null` if that is not known.
   */
  readonly givenUpFor: Readonly<Partial<Record<GiveUpReason, number>>> | null;
  /** The bucket without whose tokens no attempt begins. */
  readonly throttle: Bucket | null;
  /** What says how long an item waits that failed; `null` if the config does not know the queue. */
  readonly limiter: LimiterNode | null;
  /** What can be done to this queue. What cannot, and why, is in `cannot`. */
  readonly can: readonly Control[];
  /** Why not, in a sentence for each control. */
  readonly cannot: Readonly<Partial<Record<Control, string>>>;
}

/** One number for each sample in each list. */
export interface History {
  /** As `Date.now()` gives it. */
  readonly time: readonly number[];
  /** Items that were ready or blocked. */
  readonly ready: readonly (number | null)[];
  /** Items that waited. */
  readonly delayed: readonly (number | null)[];
  /** Items in work. */
  readonly processing: readonly (number | null)[];
  /** Items that failed and were to be tried again. */
  readonly failing: readonly (number | null)[];
  /** A second, between a sample and the one before. */
  readonly in: readonly (number | null)[];
  /** Items handed out a second. */
  readonly out: readonly (number | null)[];
  /** Attempts that failed a second. */
  readonly failures: readonly (number | null)[];
}

/** An item whose last attempt failed. */
export interface FailingItem {
  /** Its text. */
  readonly key: string;
  /** How many attempts there were. */
  readonly attempts: number;
  /** In one line. */
  readonly error: string;
  /** How long ago the last one failed. */
  readonly ago: number | null;
  /** `null` if it does not wait. */
  readonly dueInMs: number | null;
  /** Which limiter decided on its wait, by its place in `limiter`; `null` if that is not known. */
  readonly decidedBy: string | null;
}

/** An item that a handler is running for. */
export interface RunningItem {
  /** Its text. */
  readonly key: string;
  /** Which attempt it is; 1 is the first. */
  readonly attempt: number | null;
  /** For how long the handler has been running. */
  readonly for: number | null;
}

/** An item that waits. */
export interface DelayedItem {
  /** Its text. */
  readonly key: string;
  /** In how long it is due. */
  readonly dueInMs: number;
  /** Its priority. */
  readonly priority: number;
}

/** An item that is ready. */
export interface ReadyItem {
  /** Its text. */
  readonly key: string;
  /** Its priority. */
  readonly priority: number;
}

/** Items whose keys begin alike. */
export interface Group {
  /** The first part of their keys. */
  readonly name: string;
  /** How many there are. */
  readonly count: number;
}

/** A token bucket. */
export interface Bucket {
  /** Tokens a second. */
  readonly rate: number | "unlimited";
  /** How many tokens it holds. */
  readonly burst: number;
  /** `null` where a server has them. */
  readonly tokens: number | null;
  /** Milliseconds until its pause ends; 0 if it is not paused. */
  readonly resumesInMs: number;
}

/** A limiter, and those that it asks. */
export interface LimiterNode {
  /** Where the document describes it, as a JSON Pointer. */
  readonly path: string;
  /** Its type, as the document names it. */
  readonly type: string;
  /** The name that the document gives it. */
  readonly name: string | null;
  /** Its options, but for the limiters inside: as text, for people. */
  readonly options: Readonly<Record<string, string>>;
  /** Its tokens, if it is a bucket. */
  readonly bucket: Bucket | null;
  /** The limiters that it asks. */
  readonly inside: readonly LimiterNode[];
}

/**
 * Controls, each `POST api/queues/NAME/ACTION` with a JSON body and the header `x-workqueue-instance`:
 *
 * | action | body |
 * | --- | --- |
 * | `pause`, `resume` | `{}` |
 * | `concurrency` | `{ "concurrency": 10 }` |
 * | `throttle` | `{ "rate": 20, "burst": 5 }`; a rate may be `"unlimited"` |
 * | `pause-throttle` | `{ "duration": 30000 }`: no attempt begins for so long |
 * | `resume-throttle` | `{}`: ends that pause now |
 * | `retry` | `{ "key": "…" }` or `{ "search": "…" }`: what waits is ready now |
 * | `take-back` | likewise: what waits is not tried again |
 *
 * On Redis, a search acts on what matches of the 1,000 that are due first and of the failing ones listed, and says how
 * many more wait; so does a key, unless the items are texts: these are found however many wait.
 *
 * `POST api/reload` with `{}` tells what a reload of the config's file would change, and as `shown` a name for what it
 * says. With `{ "apply": true, "shown": "…" }` it does that, unless the file says something else by then.
 */
export interface ControlResult {
  /** What has happened, in a sentence. */
  readonly message: string;
  /** Of a reload: the name of what was read. */
  readonly shown?: string;
  /** Of a reload: what changes. */
  readonly changes?: readonly { path: string; old?: unknown; new?: unknown; inForce: "now" | "nextStart" }[];
}

/**
 * What is wrong, with status 400 (not understood), 401 or 403 (not allowed), 404 (no such thing), 409 (a stale page),
 * 422 (not done), 503 (not known whether it was done, as the queue does not answer).
 */
export interface ErrorBody {
  /** What is wrong, in a sentence. */
  readonly error: string;
}
