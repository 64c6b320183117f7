/**
 * Types of the JSON API, which the page also uses. Times are in milliseconds. `null` means unknown.
 *
 * @module
 */

import type { GiveUpReason } from "@workqueue/core";

/** Verdict on the state of a queue. */
export type Verdict = "stuck" | "failing" | "paused" | "busy" | "healthy" | "unknown";

/** Control of a queue. */
export type Control = "pause" | "concurrency" | "throttle" | "retry" | "takeBack";

/** Response of `GET api/state`, and data of each event `state` of `GET api/events`. */
export interface State {
  /** ID of this dashboard until its process ends. Controls for another instance are refused. */
  readonly instance: string;
  /** Time of this state, as returned by `Date.now()`. */
  readonly time: number;
  /** Whether the client may control queues. */
  readonly mayControl: boolean;
  /** Whether the client may reload the config from its file. */
  readonly mayReload: boolean;
  /** Queues, worst first. Queues with the same verdict are in the order of the options. */
  readonly queues: readonly QueueRow[];
}

/** Queue in the list. */
export interface QueueRow {
  /** Name of the queue on the dashboard. */
  readonly name: string;
  /** Engine that stores the items. */
  readonly engine: "memory" | "redis";
  /** Verdict on the queue. */
  readonly verdict: Verdict;
  /** Reason for the verdict, as a sentence. */
  readonly reason: string;
  /** Numbers of items. */
  readonly counts: Counts;
  /** Rates of items and failures. */
  readonly rates: Rates;
  /** Time since the oldest ready item became ready, in milliseconds. It may be an estimate. `null` if unknown. */
  readonly oldestReadyMs: number | null;
  /** Workers of the pool; `null` without a pool. */
  readonly workers: { readonly active: number; readonly concurrency: number } | null;
  /**
   * Whether no attempt begins until work is resumed. For a queue in memory, the pool is paused; on Redis, the queue.
   */
  readonly paused: boolean;
  /** Numbers of ready, blocked and delayed items in the last fifteen minutes, oldest first. At most 60 numbers. */
  readonly trend: readonly (number | null)[];
}

/** Numbers of items. */
export interface Counts {
  /** Items that can be handed out now. */
  readonly ready: number;
  /** Items whose delay has passed but that can't be handed out yet, for example because their group is at a limit. */
  readonly blocked: number;
  /** Items whose delay has not passed. */
  readonly delayed: number;
  /** Items that were handed out and are not done. */
  readonly processing: number;
  /**
   * Items whose last attempt failed and that will be retried; `null` if unknown. In memory, 1,000 means 1,000 or more.
   */
  readonly failing: number | null;
}

/** Rates per second over the last minute; `null` if unknown. */
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

/**
 * Response of `GET api/queues/NAME?search=TEXT&limit=50`, and data of each event `queue` of `GET
 * api/events?queue=NAME&search=TEXT`.
 */
export interface QueueDetails extends QueueRow {
  /** Latest samples, five seconds apart, oldest first. At most 180. */
  readonly history: History;
  /** Items whose last attempt failed, most attempts first. */
  readonly failingItems: readonly FailingItem[];
  /** Items whose handler is running, longest first. */
  readonly runningItems: readonly RunningItem[];
  /** Delayed items, earliest first. */
  readonly delayedItems: readonly DelayedItem[];
  /** Ready items, in the order of the queue. */
  readonly readyItems: readonly ReadyItem[];
  /**
   * Groups of ready items by the first part of their keys, largest first. Only the first 1,000 ready items are counted.
   */
  readonly groups: readonly Group[];
  /**
   * Number of delayed items whose keys match the search. `retry` and `take-back` act on these items, listed or not. In
   * memory, all delayed items are searched. On Redis, the 1,000 items that are due first and the listed failing items
   * are searched.
   *
   * `null` if unknown. The search may not have run yet: searches get a twentieth of the time, and searches of other
   * clients may come first. A search also stops after 200,000 delayed items, or earlier if creating their texts takes
   * long. The lists then contain only matches among the searched items, or among the first 1,000 items before the
   * search has run.
   */
  readonly matching: number | null;
  /**
   * Number of given-up items for each reason; `null` if unknown. In memory, the pool counts them. On Redis, all
   * processes count them since the queue was first used.
   */
  readonly givenUpFor: Readonly<Partial<Record<GiveUpReason, number>>> | null;
  /** Token bucket of the throttle; `null` if there is none or it is unknown. */
  readonly throttle: Bucket | null;
  /** Limiter that delays failed items; `null` if the config doesn't contain the queue. */
  readonly limiter: LimiterNode | null;
  /** Controls that this queue supports. The reasons for the others are in `cannot`. */
  readonly can: readonly Control[];
  /** Reason why a control is not supported, as a sentence. */
  readonly cannot: Readonly<Partial<Record<Control, string>>>;
}

/** Samples as lists. Each list has one number for each sample. */
export interface History {
  /** Times of the samples, as returned by `Date.now()`. */
  readonly time: readonly number[];
  /** Items that were ready or blocked. */
  readonly ready: readonly (number | null)[];
  /** Items that were delayed. */
  readonly delayed: readonly (number | null)[];
  /** Items that were processing. */
  readonly processing: readonly (number | null)[];
  /** Items that were failing. */
  readonly failing: readonly (number | null)[];
  /** Items that became ready, per second since the previous sample. */
  readonly in: readonly (number | null)[];
  /** Items that were handed out, per second since the previous sample. */
  readonly out: readonly (number | null)[];
  /** Attempts that failed, per second since the previous sample. */
  readonly failures: readonly (number | null)[];
}

/** Item whose last attempt failed. */
export interface FailingItem {
  /** Text of the item. */
  readonly key: string;
  /** Number of attempts. */
  readonly attempts: number;
  /** Error of the last attempt, in one line. */
  readonly error: string;
  /** Time since the last failure, in milliseconds; `null` if unknown. */
  readonly ago: number | null;
  /** Time until the item is due, in milliseconds; `null` if the item is not delayed. */
  readonly dueInMs: number | null;
  /** Path in `limiter` of the limiter that decided the delay; `null` if unknown. */
  readonly decidedBy: string | null;
}

/** Item whose handler is running. */
export interface RunningItem {
  /** Text of the item. */
  readonly key: string;
  /** Number of the attempt, from 1; `null` if unknown. */
  readonly attempt: number | null;
  /** Time since the handler started, in milliseconds; `null` if unknown. */
  readonly for: number | null;
}

/** Delayed item. */
export interface DelayedItem {
  /** Text of the item. */
  readonly key: string;
  /** Time until the item is due, in milliseconds. */
  readonly dueInMs: number;
  /** Priority of the item. */
  readonly priority: number;
}

/** Ready item. */
export interface ReadyItem {
  /** Text of the item. */
  readonly key: string;
  /** Priority of the item. */
  readonly priority: number;
}

/** Items whose keys have the same first part. */
export interface Group {
  /** First part of the keys. */
  readonly name: string;
  /** Number of items. */
  readonly count: number;
}

/** Token bucket. */
export interface Bucket {
  /** Tokens per second. */
  readonly rate: number | "unlimited";
  /** Capacity, in tokens. */
  readonly burst: number;
  /** Current tokens, negative if tokens are owed; `null` if unknown in this process. */
  readonly tokens: number | null;
  /** Time until the pause ends, in milliseconds; 0 if the bucket is not paused. */
  readonly resumesInMs: number;
}

/** Limiter, and the limiters inside it. */
export interface LimiterNode {
  /** JSON Pointer of the limiter in the config document. */
  readonly path: string;
  /** Type in the config document. */
  readonly type: string;
  /** Name in the config document; `null` without a name. */
  readonly name: string | null;
  /** Options except the limiters inside, as text for display. */
  readonly options: Readonly<Record<string, string>>;
  /** Token bucket of the limiter; `null` if the limiter is not a bucket. */
  readonly bucket: Bucket | null;
  /** Limiters inside this limiter. */
  readonly inside: readonly LimiterNode[];
}

/**
 * Result of a control. Each control is `POST api/queues/NAME/ACTION` with a JSON body and the header
 * `x-workqueue-instance`:
 *
 * | action | body |
 * | --- | --- |
 * | `pause`, `resume` | `{}` |
 * | `concurrency` | `{ "concurrency": 10 }` |
 * | `throttle` | `{ "rate": 20, "burst": 5 }`; a rate may be `"unlimited"` |
 * | `pause-throttle` | `{ "duration": 30000 }`: no attempt begins for this many milliseconds |
 * | `resume-throttle` | `{}`: ends that pause now |
 * | `retry` | `{ "key": "…" }` or `{ "search": "…" }`: matching delayed items become ready |
 * | `take-back` | the same body: matching delayed items are removed and not retried |
 *
 * On Redis, a search acts only on the 1,000 items that are due first and the listed failing items. The message contains
 * the number of other delayed items. The same applies to a key, unless the items are strings. A string is found among
 * any number of delayed items.
 *
 * `POST api/reload` with `{}` returns the changes that a reload of the config file would make, and an ID of the config
 * as `shown`. With `{ "apply": true, "shown": "…" }`, it applies the changes, unless the file has changed since then.
 */
export interface ControlResult {
  /** Description of the result, as a sentence. */
  readonly message: string;
  /** For a reload, the ID of the config that was read. */
  readonly shown?: string;
  /** For a reload, the changes. */
  readonly changes?: readonly { path: string; old?: unknown; new?: unknown; inForce: "now" | "nextStart" }[];
}

/**
 * Error response. The status is 400 (malformed), 401 or 403 (not allowed), 404 (not found), 405 (wrong method), 409
 * (stale page), 422 (not done), 500 (failure of the dashboard) or 503 (the queue doesn't answer, so the result is
 * unknown).
 */
export interface ErrorBody {
  /** Description of the error, as a sentence. */
  readonly error: string;
}
