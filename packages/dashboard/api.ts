/**
 * Types of the JSON API. The page also uses these types. Times are in milliseconds. `null` means unknown.
 *
 * @module
 */

import type { GiveUpReason } from "@workqueue/core";

/** Verdict on the state of a queue. */
export type Verdict = "stuck" | "failing" | "paused" | "busy" | "healthy" | "unknown";

/** Name of a control of a queue. */
export type Control = "pause" | "concurrency" | "throttle" | "retry" | "takeBack" | "cancel";

/** Response to `GET api/state`, and data of each `state` event from `GET api/events`. */
export interface State {
  /** ID of this dashboard, which changes when its process restarts. Controls sent with a different ID are refused. */
  readonly instance: string;
  /** Time of this state, as returned by `Date.now()`. */
  readonly time: number;
  /** Whether the client may control queues. */
  readonly mayControl: boolean;
  /** Whether the client may reload the config from its file. */
  readonly mayReload: boolean;
  /** Number of changes to the audit list since the start of this process. `GET api/audit` returns the list. */
  readonly acts: number;
  /** Queues, worst verdict first. Queues with the same verdict have the same order as in the dashboard's options. */
  readonly queues: readonly QueueRow[];
  /**
   * Throttles of the config and of the queues' pools. First those that let no attempt start now, then those at their
   * limit, then the others.
   */
  readonly throttles: readonly ThrottleRow[];
}

/** Response to `GET api/audit`. */
export interface Audit {
  /** Latest acts of users who control queues, newest first. At most 200, of this process only. */
  readonly acts: readonly Act[];
}

/** Name of the act that counts requests with a wrong token. */
export const WRONG_TOKEN = "wrong-token";

/** Act of a user who controls queues, or the requests with a wrong token within a minute. */
export interface Act {
  /** Time when the act ended, as returned by `Date.now()`. */
  readonly time: number;
  /** Name that `control` or `view` returned; `null` if neither returned a name. */
  readonly by: string | null;
  /**
   * Name of the queue on the dashboard; `null` for a reload of the config, or if a throttle was changed by its name.
   */
  readonly queue: string | null;
  /** Name of the throttle, if a throttle was changed by its name. */
  readonly throttle?: string;
  /** Name of the act, as in its address: `pause`, `take-back`, `reload`. */
  readonly action: string;
  /** Body of the request as JSON, cut to 500 characters. */
  readonly body: string;
  /** Result or error, as a sentence. */
  readonly message: string;
  /** Whether the act failed, or may have failed because it took too long. */
  readonly isError: boolean;
}

/** Queue in the list. */
export interface QueueRow {
  /** Name of the queue on the dashboard. */
  readonly name: string;
  /**
   * Engine that stores the items: `"memory"`; or `"redis"` or `"sqlite"` for a shared queue, which several processes
   * can use.
   */
  readonly engine: string;
  /** Verdict on the queue. */
  readonly verdict: Verdict;
  /** Reason for the verdict, as a sentence. */
  readonly reason: string;
  /** Page of the docs that says what to do: an address, or the path in the repository if it has none. */
  readonly guide: string;
  /** Numbers of items. */
  readonly counts: Counts;
  /** Rates of items and failures. */
  readonly rates: Rates;
  /**
   * Time since the oldest ready or blocked item became ready, in milliseconds; `null` if there is no such item or the
   * time is unknown. An in-memory queue without metrics doesn't know this time for items that became ready before the
   * dashboard was created: they are counted as ready since then, so the time is a lower bound.
   */
  readonly oldestReadyMs: number | null;
  /** Workers of the pool; `null` if there is no pool. */
  readonly workers: { readonly active: number; readonly concurrency: number } | null;
  /**
   * Whether work is paused: no attempt starts until work is resumed. For an in-memory queue, the pool is paused; a
   * shared queue is paused itself.
   */
  readonly paused: boolean;
  /**
   * Time until this process resumes work, in milliseconds; `null` if work is not paused, or until someone resumes it.
   */
  readonly pauseEndsInMs: number | null;
  /**
   * Samples of the last fifteen minutes, one every fifteen seconds, oldest first; at most 60. Each sample is the total
   * number of ready, blocked and delayed items.
   */
  readonly trend: readonly (number | null)[];
}

/** Numbers of items. */
export interface Counts {
  /** Number of items that can be handed out now. */
  readonly ready: number;
  /**
   * Number of items that can't be handed out yet even though their delay has passed, for example because their group is
   * at a limit.
   */
  readonly blocked: number;
  /** Number of items whose delay has not passed. */
  readonly delayed: number;
  /** Number of items that were handed out and are not done. */
  readonly processing: number;
  /**
   * Number of items that will be retried because their last attempt failed; `null` if unknown. Items of abandoned
   * handlers are included. For a shared queue, only those of handlers in this process are included before the handlers
   * end.
   */
  readonly failing: number | null;
}

/** Rates per second over the last minute; `null` if unknown. */
export interface Rates {
  /** Items that became ready, per second. */
  readonly in: number | null;
  /** Items that were handed out, per second. */
  readonly out: number | null;
  /** Attempts that failed, per second. */
  readonly failures: number | null;
  /** Items that were given up, per second. */
  readonly givenUp: number | null;
}

/**
 * Response to `GET api/queues/NAME?search=TEXT&limit=50`, and data of each `queue` event from
 * `GET api/events?queue=NAME&search=TEXT`.
 */
export interface QueueDetails extends QueueRow {
  /** Latest samples, five seconds apart, oldest first. At most 180. */
  readonly history: History;
  /** Items whose last attempt failed, most attempts first. */
  readonly failingItems: readonly FailingItem[];
  /** Items whose handler is running, starting with the handler that has been running longest. */
  readonly runningItems: readonly RunningItem[];
  /** Delayed items, in the order in which they are due. */
  readonly delayedItems: readonly DelayedItem[];
  /** Ready items, in the order in which they will be handed out. */
  readonly readyItems: readonly ReadyItem[];
  /** Number of abandoned handlers, which timed out and still run in this process; `null` if there is no pool. */
  readonly abandoned: number | null;
  /** Number of blocked items that are retries without budget; `null` if the queue has no retry budget. */
  readonly blockedRetries: number | null;
  /**
   * Groups of ready items whose keys have the same first part, largest group first. Only the first `groupedItems` ready
   * items are counted.
   */
  readonly groups: readonly Group[];
  /** Number of ready items that were checked for `groups`, at most 1,000. */
  readonly groupedItems: number;
  /**
   * Groups of the queue's discipline that are paused or have blocked items, and match the search; `null` if the queue
   * has no groups that can be paused.
   */
  readonly blockedGroups: BlockedGroupList | null;
  /** Given-up items that match the search; `null` if the queue keeps none or its engine does not answer. */
  readonly givenUp: GivenUpList | null;
  /**
   * Errors of failed attempts, grouped by message, the group with the most failing items first. At most 100 groups, and
   * a last group for all other errors. The errors are those since the dashboard was created. For a shared queue, they
   * are errors that the dashboard has seen while somebody watched the queue, of the 1,000 failing items with the most
   * attempts.
   */
  readonly errors: readonly ErrorGroup[];
  /**
   * Number of failing items whose errors are unknown, because the items failed before the dashboard was created, failed
   * in another pool of an in-memory queue, or are not listed by the engine of a shared queue; `null` if the number is
   * unknown.
   */
  readonly errorsUnknown: number | null;
  /**
   * Number of delayed items whose keys or errors match the search. `retry` and `take-back` act on all of these items,
   * even if they are not listed. In an in-memory queue, all delayed items are searched. In a shared queue, only the
   * 1,000 items that are due first and the listed failing items are searched.
   *
   * The number is `null` if it is unknown. One reason is that the search has not run yet: searches may run for only a
   * twentieth of the time, and searches by other clients may come first. The lists then contain only matches among the
   * first 1,000 items. Another reason is that the search was incomplete: it stops after one second. The lists then
   * contain only matches among the searched items.
   */
  readonly matching: number | null;
  /**
   * Number of failing items whose keys or errors match the search; `null` if unknown, for example because the search
   * has not run yet or `errorsUnknown` is not 0.
   */
  readonly matchingFailing: number | null;
  /**
   * Number of given-up items for each reason; `null` if unknown. For an in-memory queue, only items that the pool gave
   * up are counted. For a shared queue, items that any process gave up since the queue was first used are counted.
   */
  readonly givenUpFor: Readonly<Partial<Record<GiveUpReason, number>>> | null;
  /**
   * Latencies of the queue's items; `null` for a third-party queue that doesn't report them. For a shared queue, only
   * items that this process takes are included.
   */
  readonly latency: Latency | null;
  /** Token bucket of the throttle; `null` if there is no throttle or its bucket is unknown. */
  readonly throttle: Bucket | null;
  /** Limit of the throttle, if its type is `concurrency` and the limit can be set here; otherwise `null`. */
  readonly throttleLimit: number | null;
  /** Limiter that delays failed items; `null` if the config doesn't contain the queue. */
  readonly limiter: LimiterNode | null;
  /** Controls that this queue supports. For each control that is not supported, `cannot` contains the reason. */
  readonly can: readonly Control[];
  /** Reasons why controls are not supported, each as a sentence. */
  readonly cannot: Readonly<Partial<Record<Control, string>>>;
}

/**
 * Latencies of a queue's items over the last fifteen minutes. A percentile differs from the exact percentile by at most
 * 1.6 %, because times are counted in a histogram.
 */
export interface Latency {
  /**
   * Length of the covered period, in milliseconds: from 14 to 15 minutes, or the time since the dashboard was created.
   */
  readonly overMs: number;
  /** Times from when an item became ready until it was handed out. An item may have been blocked meanwhile. */
  readonly waiting: Percentiles;
  /**
   * Times from when an item was handed out until it was done. An attempt that times out is included when its handler
   * ends.
   */
  readonly work: Percentiles;
}

/** Percentiles of times in milliseconds; `null` if there are no times. */
export interface Percentiles {
  /** Number of times. */
  readonly count: number;
  /** Time that half of the times don't exceed. */
  readonly p50: number | null;
  /** Time that 90 % of the times don't exceed. */
  readonly p90: number | null;
  /** Time that 99 % of the times don't exceed. */
  readonly p99: number | null;
}

/** Samples of a queue. Each list has one number per sample. */
export interface History {
  /** Times of the samples, as returned by `Date.now()`. */
  readonly time: readonly number[];
  /** Numbers of items that were ready or blocked. */
  readonly ready: readonly (number | null)[];
  /** Numbers of delayed items. */
  readonly delayed: readonly (number | null)[];
  /** Numbers of items that were processing. */
  readonly processing: readonly (number | null)[];
  /** Numbers of failing items. */
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
  /** `path` of the limiter that decided the delay; `null` if unknown. */
  readonly decidedBy: string | null;
  /** Time since the attempt timed out, in milliseconds. Present only while the handler of this attempt still runs. */
  readonly abandonedFor?: number;
}

/** Item whose handler is running. */
export interface RunningItem {
  /** Text of the item. */
  readonly key: string;
  /** Number of the attempt, starting at 1; `null` if unknown. */
  readonly attempt: number | null;
  /** Time since the handler started, in milliseconds; `null` if unknown. */
  readonly for: number | null;
  /** Time since the attempt timed out, in milliseconds. Present only if the handler is abandoned. */
  readonly abandonedFor?: number;
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

/** Groups that are paused or have blocked items. */
export interface BlockedGroupList {
  /**
   * Number of these groups; `null` if unknown, because there are more than 10,000 and only some match the search, or
   * because not all groups of the queue could be checked.
   */
  readonly count: number | null;
  /** Groups with the most blocked items, sorted by their number of blocked items, the largest first. */
  readonly groups: readonly BlockedGroup[];
}

/** Group that is paused or has blocked items. */
export interface BlockedGroup {
  /** Name of the group. */
  readonly name: string;
  /**
   * Reason why items are blocked:
   *
   * - `"paused"`: the group is paused;
   * - `"probing"`: the group was paused, and its other items wait until one item is done;
   * - `"rate"`: the rate of the group allows no further item now;
   * - `"limit"`: as many items of the group are processing as its limit allows;
   * - `"inner"`: the discipline within the group blocks them.
   */
  readonly reason: "paused" | "probing" | "rate" | "limit" | "inner";
  /** Number of blocked items. */
  readonly blocked: number;
  /** Time until one more item becomes ready, in milliseconds; `null` if it depends on other items of the group. */
  readonly resumesInMs: number | null;
}

/** Given-up items that a queue keeps. */
export interface GivenUpList {
  /** Number of all given-up items that the queue keeps, whether or not they match the search. */
  readonly total: number;
  /** Number of given-up items that the queue dropped so far, because they were too many or too old. */
  readonly dropped: number;
  /** Number of items that match the search; `null` if more items match than were read, or not all were searched. */
  readonly matching: number | null;
  /** Number of items that were read for `errors`: the newest, at most 1,000. */
  readonly checked: number;
  /** The newest items, newest first. */
  readonly items: readonly GivenUpRow[];
  /** Errors of the items that were read, grouped by message, the group with the most items first. At most 50 groups. */
  readonly errors: readonly GivenUpErrorGroup[];
  /** Running redrive, or else the last one; `null` if there was none. */
  readonly redrive: RedriveState | null;
}

/** Given-up item. */
export interface GivenUpRow {
  /** Text of the item. */
  readonly key: string;
  /** Last error, in one line. */
  readonly error: string;
  /** Number of attempts. */
  readonly attempts: number;
  /** Reason for giving the item up. */
  readonly reason: GiveUpReason;
  /** Group of the item in the queue's discipline; `null` if it has none. */
  readonly group: string | null;
  /** Time since the first failure, in milliseconds. */
  readonly firstFailedAgo: number;
  /** Time since the item was given up, in milliseconds. */
  readonly ago: number;
}

/** Errors of given-up items whose messages differ only in variable parts. */
export interface GivenUpErrorGroup {
  /** Message with its variable parts replaced by `*`. */
  readonly message: string;
  /** Number of items. */
  readonly items: number;
  /** Error of the newest item, in one line. */
  readonly example: string;
  /** Time since the newest item was given up, in milliseconds. */
  readonly last: number;
}

/** Redrive of given-up items. */
export interface RedriveState {
  /** Number of items that were added again. */
  readonly redriven: number;
  /**
   * Number of items that the redrive has not checked yet. If the redrive has a search, some of these items may not
   * match it.
   */
  readonly left: number;
  /** Whether the redrive is running. */
  readonly running: boolean;
  /** Number of items per second, at most; `null` if there is no limit, or the redrive was not started here. */
  readonly rate: number | null;
}

/** Errors whose messages differ only in variable parts, such as numbers, IDs, quoted strings and keys. */
export interface ErrorGroup {
  /** Message with its variable parts replaced by `*`; `null` for the group of all other errors. */
  readonly message: string | null;
  /** Number of failed attempts. */
  readonly count: number;
  /** Number of failing items whose last error is in this group. */
  readonly items: number;
  /** Time of the first failure, as returned by `Date.now()`. */
  readonly first: number;
  /** Time of the last failure, as returned by `Date.now()`. */
  readonly last: number;
  /** Last error, in one line. */
  readonly example: string;
  /** Texts of up to 10 of the failing items. */
  readonly keys: readonly string[];
}

/** Token bucket. */
export interface Bucket {
  /** Tokens per second. */
  readonly rate: number | "unlimited";
  /** Capacity, in tokens. */
  readonly burst: number;
  /** Current number of tokens, negative if tokens are owed; `null` if this process doesn't know the number. */
  readonly tokens: number | null;
  /** Time until the pause ends, in milliseconds; 0 if the bucket is not paused. */
  readonly resumesInMs: number;
}

/** Limiter, with the limiters inside it. */
export interface LimiterNode {
  /** JSON Pointer to the limiter in the config document. */
  readonly path: string;
  /** Type in the config document. */
  readonly type: string;
  /** Name in the config document; `null` if the limiter has no name. */
  readonly name: string | null;
  /** Options of this limiter, as text for display. Limiters inside this limiter are not included. */
  readonly options: Readonly<Record<string, string>>;
  /** Token bucket of the limiter; `null` if the limiter is not a bucket. */
  readonly bucket: Bucket | null;
  /** Limiters inside this limiter. */
  readonly inside: readonly LimiterNode[];
}

/** Throttle as described in the config, with the throttles inside it. */
export interface ThrottleNode {
  /** JSON Pointer to the throttle in the config document; `null` if the throttle is not from the config. */
  readonly path: string | null;
  /** Type in the config document; `null` if unknown, because the throttle is from code or no queue uses it. */
  readonly type: string | null;
  /** Name in the config document; `null` if the throttle has no name. */
  readonly name: string | null;
  /** Options in the config document, as text for display. Throttles inside this throttle are not included. */
  readonly options: Readonly<Record<string, string>>;
  /** Throttles inside this throttle. */
  readonly inside: readonly ThrottleNode[];
}

/** Throttle with its state. */
export interface ThrottleRow extends ThrottleNode {
  /**
   * Engine of the queues that use the throttle, if all of them are shared; otherwise `"memory"`. The state of a
   * throttle of shared queues is that of this process.
   */
  readonly engine: string;
  /**
   * Largest number of attempts that may run at once now; `null` if there is no such limit. 0 while a breaker is open.
   */
  readonly limit: number | null;
  /** Number of attempts that run or are about to start; `null` if the throttle doesn't count them. */
  readonly inUse: number | null;
  /** State in words, such as `open for 12 s: 14 of 20 attempts failed`; empty if there is nothing to say. */
  readonly state: string;
  /** Token bucket; `null` if the throttle is not a bucket. */
  readonly bucket: Bucket | null;
  /** Names of the queues on the dashboard that use the throttle, alone or inside another throttle. */
  readonly queues: readonly string[];
}

/**
 * Result of a control. Each control is `POST api/queues/NAME/ACTION` with a JSON body and the header
 * `x-workqueue-instance`:
 *
 * | action | body |
 * | --- | --- |
 * | `pause` | `{}`, or `{ "duration": "10m" }`: the dashboard's process resumes work after this time |
 * | `resume` | `{}` |
 * | `concurrency` | `{ "concurrency": 10 }` |
 * | `throttle` | `{ "rate": 20, "burst": 5 }`; the rate may be `"unlimited"` |
 * | `throttle` of type `concurrency` | `{ "limit": 8 }` |
 * | `pause-throttle` | `{ "duration": "30s" }`: no attempt begins for this time; a number is in milliseconds |
 * | `resume-throttle` | `{}`: ends a pause of the throttle now |
 * | `pause-group` | `{ "group": "…", "duration": "30s" }`: the group's ready items are blocked for this time |
 * | `resume-group` | `{ "group": "…" }`: ends a pause of the group now |
 * | `retry` | a selection: selected delayed items, and retries that wait for the retry budget, become ready |
 * | `take-back` | a selection: selected delayed items are removed and not retried |
 * | `cancel` | `{ "key": "…" }`: the running or delayed item with this text is cancelled |
 * | `redrive` | `key`, `error` or `search`: selected given-up items are added again, at most `rate` a second if given |
 * | `stop-redrive` | `{}`: ends the redrive; items that it did not add are still given up |
 * | `discard` | `key`, `error` or `search`: selected given-up items are forgotten |
 *
 * A throttle with a name can also be changed with `POST api/throttles/NAME/ACTION`, for the actions `throttle`,
 * `pause-throttle` and `resume-throttle`.
 *
 * A selection is an object with at least one of the following members. An item must match all of them:
 *
 * | member | selected items |
 * | --- | --- |
 * | `"failing": true` | items whose last attempt failed |
 * | `"error": "…"` | items whose last error is in the group with this `message`, or contains this text |
 * | `"group": "…"` | items whose keys have this first part |
 * | `"search": "…"` | items whose keys or last errors contain this text; `""` for all items |
 * | `"key": "…"` | the item with this text; not together with other members |
 *
 * With `"preview": true` in addition, the selected items are only counted.
 *
 * In a shared queue, only the 1,000 items that are due first and the listed failing items can be selected. The message
 * contains the number of delayed items that were not checked. The same limit applies to a request with a key, unless
 * the items are strings. A string item is found no matter how many items are delayed.
 *
 * `POST api/reload` with `{}` returns the changes that a reload of the config file would make, and, as `shown`, the ID
 * of the config that was read. With `{ "apply": true, "shown": "…" }`, the request applies the changes, unless the file
 * has changed since the ID was returned.
 */
export interface ControlResult {
  /** Description of the result, as a sentence. */
  readonly message: string;
  /**
   * For `retry` and `take-back`, the numbers of selected items that are failing, and that are not. For a preview of
   * `redrive` and `discard`, `others` is the number of selected items.
   */
  readonly matched?: { readonly failing: number; readonly others: number };
  /**
   * For `retry`, `take-back`, `cancel` and `discard`, the number of items on which the action was carried out. For
   * `redrive`, the number of items that were added at once.
   */
  readonly done?: number;
  /**
   * For `retry` and `take-back`, the number of delayed items that were not checked. More than 0 only for a shared
   * queue.
   */
  readonly notChecked?: number;
  /** For a reload, the ID of the config that was read. */
  readonly shown?: string;
  /** For a reload, the changes. */
  readonly changes?: readonly { path: string; old?: unknown; new?: unknown; inForce: "now" | "nextStart" }[];
}

/**
 * Error response. The status is 400 (malformed), 401 or 403 (not allowed), 404 (not found), 405 (wrong method), 409
 * (stale page), 422 (not done), 500 (error in the dashboard) or 503 (the queue doesn't respond, so the result is
 * unknown).
 */
export interface ErrorBody {
  /** Description of the error, as a sentence. */
  readonly error: string;
}
