/**
 * Interface between the queue of a process and the store that all processes of the queue share, such as a server. Every
 * engine passes the suite in `tests/contracts/engine_suite.ts`.
 *
 * @module
 */

import type { CancelledFrom, GiveUpReason, RedriveProgress, RetryBudgetOptions } from "@workqueue/core";
import type { QueueCounts, QueueTotals, RemoteQueueSnapshot } from "@workqueue/core/hooks";

/** Settings of a queue that apply to all calls of its engine. */
export interface EngineSettings {
  /** Name of the queue. */
  readonly name: string;
  /** Duration of a lease in milliseconds. */
  readonly leaseDuration: number;
  /** Number of stalls at which a key is given up. Values below 3 are treated as 3. */
  readonly maxStalls: number;
  /** Whether adding a delayed key ends its delay (`addWhileDelayed: "replace"` or `"fold"`). */
  readonly replaces: boolean;
  /** Whether adding a key that failed and is delayed does not end its delay (`addWhileDelayed: "fold"`). */
  readonly folds: boolean;
  /** Whether retries of this process go before other ready keys. False by default. */
  readonly retriesFirst?: boolean | undefined;
  /** Whether items are stored as JSON in addition to their keys, as in a queue with `keyOf`. */
  readonly hasItems: boolean;
  /** Milliseconds for which the outcomes of waits are kept. One minute by default. */
  readonly keepOutcomesFor?: number | undefined;
}

/** Limiter of a queue in the form in which its engine uses it. */
export interface EngineLimiter {
  /** Rules for counting failures, as JSON: `FailureRules`. */
  readonly rules: string;
  /** Whether the limiter may use the time at which the attempt began. */
  readonly needsStart: boolean;
  /**
   * Asks the limiter for the delay after a failure. Returns the engine's input for this failure, as JSON:
   * `FailureInput`. Each failure needs its own input. If the number of failures is wrong, the engine counts nothing and
   * replies with the correct number.
   *
   * @param failures The number of the item's earlier failures, as far as this process knows.
   * @param failed The item.
   * @throws The error of the limiter.
   */
  given(failures: number, failed: FailedItem): string;
}

/** Item that failed. Times are in milliseconds. */
export interface FailedItem {
  /** The item's key. */
  readonly key: string;
  /** The item, if this process can read it. */
  readonly item: unknown;
  /** Whether this process can read the item. If not, custom limiters aren't asked: their delay is a default backoff. */
  readonly isReadable: boolean;
  /** Time at which the attempt began, by this process's clock. Default: now. */
  readonly startedAt?: number | undefined;
  /** Minimum delay of the retry. */
  readonly minDelay: number;
}

/** Key and payload of an item. */
export interface Entry {
  /** Key of the item. */
  readonly key: string;
  /** Item as JSON in a queue with `keyOf`; otherwise empty. */
  readonly payload: string;
  /** W3C traceparent of the span that adds the item, if known. */
  readonly trace?: string | undefined;
}

/** Entry with a delay and a priority of its own. */
export interface RankedEntry extends Entry {
  /** Delay in milliseconds. */
  readonly delay: number;
  /** Priority; 0 by default in queues. */
  readonly priority: number;
}

/**
 * Outcome of the work on a key:
 *
 * - `"done"` keeps the failures, and `"succeeded"` forgets them;
 * - `"requeueAfter"` forgets the failures and adds the key after a delay;
 * - `"retry"` and `"failed"` count a failure and add the key after the limiter's delay. With
 *   `addWhileDelayed: "fold"`, later adds are folded into the retry of a `"failed"` key;
 * - `"handedBack"` makes the key ready and counts nothing. The key goes behind all ready keys, or keeps its place in
 *   the order of a discipline;
 * - `"givenUp"` forgets the failures. The key is stored as given up, unless it was added again or is delayed.
 */
export type FinishKind = "done" | "succeeded" | "requeueAfter" | "retry" | "failed" | "handedBack" | "givenUp";

/** Request to end the work on a key. */
export interface Finish {
  /** Key whose work has ended. */
  readonly key: string;
  /** Token with which the key was handed out. */
  readonly token: string;
  /** Outcome. */
  readonly kind: FinishKind;
  /** Delay of `requeueAfter`, or shortest delay of `retry` and `failed`, in milliseconds. */
  readonly delay?: number;
  /** Rules for counting failures, for `retry`, `failed` and `givenUp`. By default, those of the queue's limiter. */
  readonly rules?: string;
  /** Input for `retry` and `failed`, created by {@linkcode EngineLimiter.given}. */
  readonly given?: string;
  /** Error text of `givenUp`, or one-line error text of `retry` and `failed`. Empty if there was no error. */
  readonly reason?: string;
  /** Reason code of `givenUp`. */
  readonly why?: GiveUpReason;
  /** Number of the attempt, for `givenUp`. By default, the number of failures plus one. */
  readonly attempts?: number | undefined;
  /**
   * Maximum number of retries, for `givenUp`. If the key has fewer failures now, or this failure is not counted,
   * nothing is changed, and the answer is the number of failures. By default, the key is given up in any case.
   */
  readonly maxRetries?: number | undefined;
  /** Priority of `requeueAfter` or `retry`. By default, the key keeps its priority. */
  readonly priority?: number | undefined;
  /** Outcome of the waits for the key, for `succeeded`. By default, they end without a result. */
  readonly result?: string | undefined;
}

/**
 * Answer to a request to end the work on a key: `true` if the outcome was applied, and `false` if the lease was lost.
 * `"cancelled"` if the key was cancelled during the work, which ended as for `"succeeded"` instead. If the answer is a
 * number, nothing was changed. The number is the real number of failures: the caller must compute `given` for it, or
 * retry the key instead of giving it up.
 */
export type FinishAnswer = boolean | "cancelled" | number;

/** Token bucket from which each attempt takes a token. */
export interface AttemptBucket {
  /** Identity of the bucket in the queue. */
  readonly id: string;
  /** Tokens per second. May be infinite. */
  readonly rate: number;
  /** Largest number of tokens. */
  readonly burst: number;
}

/** Request of a process to finish keys and take others. */
export interface TurnRequest {
  /** Name of the process, which receives messages. */
  readonly process: string;
  /**
   * Name of the owner of the leases: that of the process, a dot, and a number. A process that lost its leases goes on
   * under a new name.
   */
  readonly owner: string;
  /**
   * Number of leases that the owner believes it has, not counting leases that are finished in this call or in another
   * call that is still running.
   */
  readonly known: number;
  /** Number of keys to take. */
  readonly wanted: number;
  /** Whether the process works on keys of other partitions. If so, no suspect is handed out. False by default. */
  readonly isBusyElsewhere?: boolean;
  /**
   * Whether the owner wants to be told when keys that it has are added: it is then told to renew its lease. Adds that
   * are retries, or that come from the end of a delay, are not told. False by default; once true, it stays true.
   */
  readonly tellsAdds?: boolean;
  /** Bucket from which each taken key takes a token, if any. */
  readonly throttle: AttemptBucket | undefined;
  /** Finishes to report. Every finish that has a plan has the same plan. */
  readonly finishes: readonly Finish[];
}

/** Reply to a {@linkcode TurnRequest}. */
export interface TurnReply {
  /** Milliseconds until more keys may be available. Missing if no such time is known. */
  readonly pauseMs: number | undefined;
  /** Whether the queue is paused. */
  readonly isPaused: boolean;
  /** Whether the owner has lost all of its leases. */
  readonly isLost: boolean;
  /**
   * Whether the owner has the duty to try suspects: keys that stalled more than once. If so, the owner takes no other
   * keys.
   */
  readonly isAlone: boolean;
  /** One answer per finish. */
  readonly answers: readonly FinishAnswer[];
  /** Keys that the owner now has. */
  readonly taken: readonly TakenKey[];
  /** Keys that this call gave up because they stalled too often. */
  readonly givenUp: readonly GivenUpKey[];
}

/** Key that was handed out. */
export interface TakenKey {
  /** Key. */
  readonly key: string;
  /** Fencing token: an integer that increases with each key that the queue hands out. */
  readonly token: string;
  /** Payload of the key, if it has one. */
  readonly payload: string | undefined;
  /** Number of failures since the failures were last forgotten. */
  readonly failures: number;
  /** Highest priority among the adds that led to this hand-out. Missing if no key of the queue ever had a priority. */
  readonly priority: number | undefined;
  /** Traceparent of the newest add, if it had one. */
  readonly trace: string | undefined;
  /** Milliseconds for which the key had been ready. Present only if {@linkcode Engine.measuresTimes} is true. */
  readonly readyForMs: number | undefined;
  /** Whether there are waits for the key, which a success of this hand-out ends. False by default. */
  readonly isAwaited?: boolean | undefined;
}

/** Key that was given up because each of its holders was lost. */
export interface GivenUpKey extends Entry {
  /** Number of attempts: failures and stalls. */
  readonly attempts: number;
}

/** Limits on the given-up keys that an engine keeps. */
export interface Retention {
  /** Maximum number of keys. */
  readonly max: number;
  /** Maximum time since a key was given up, in milliseconds. No limit if missing. */
  readonly maxAge: number | undefined;
}

/** Given-up key that an engine keeps. */
export interface KeptKey extends ListedKey {
  /** Last error in one line. */
  readonly error: string;
  /** Number of attempts. */
  readonly attempts: number;
  /** Reason code. */
  readonly reason: GiveUpReason;
  /** Group of the key. Missing if the queue had no groups. */
  readonly group: string | undefined;
  /** Milliseconds since the first of the failures after which the key was given up. */
  readonly firstFailedAgoMs: number;
  /** Milliseconds since the key was given up. */
  readonly givenUpAgoMs: number;
}

/** Page of given-up keys. */
export interface KeptPage {
  /** Keys, newest first. */
  readonly entries: readonly KeptKey[];
  /** Cursor of the next page. Missing after the last page. */
  readonly cursor: string | undefined;
  /** Number of all kept keys. */
  readonly total: number;
  /** Number of keys that were dropped so far because of the limits. */
  readonly dropped: number;
}

/** Selection of given-up keys. A key is selected if it matches every given member. */
export interface KeptSelection {
  /** Text that the key or its error must contain, ignoring the case at least of ASCII letters; may be empty. */
  readonly search: string;
  /** Keys, one of which must be the key. */
  readonly keys: readonly string[] | undefined;
}

/** Progress of a redrive, and the time until its next step. */
export interface EngineRedrive extends RedriveProgress {
  /** Milliseconds until the next step is due. Missing if the redrive is not running. */
  readonly pauseMs: number | undefined;
}

/** Failures of a key, with everything that a store keeps of them. Times are in milliseconds. */
export interface StoredFailures {
  /** Number of failures. */
  readonly count: number;
  /** Error of the latest failure in one line, or an empty string. */
  readonly error: string;
  /** Time since the first failure. */
  readonly sinceMs: number;
  /** Time until the failures are forgotten. Missing if they are never forgotten. */
  readonly forgottenInMs: number | undefined;
  /** Time until the retry is due, if early failures are not counted. */
  readonly earlyForMs: number | undefined;
}

/** Kind of a retry: 0 for none, 1 for a retry, and 2 for a retry that goes before other ready keys. */
export type RetryKind = 0 | 1 | 2;

/** Key that is ready, blocked or delayed, with everything that a store keeps of it except the place of its group. */
export interface StoredKey extends ListedKey {
  /** Traceparent of the newest add, if it had one. */
  readonly trace: string | undefined;
  /** Number of stalls since the last attempt that ended. */
  readonly stalls: number;
  /**
   * Time when the key became ready, in milliseconds since 1970. Missing if it is only delayed. An absolute time, which
   * keeps the order of keys that are copied by several calls.
   */
  readonly readyAtMs: number | undefined;
  /**
   * Whether a ready key goes before keys that were never handed out, because it came back or is a retry that goes
   * first. A key that came back is ready since its hand-out.
   */
  readonly isFirst: boolean;
  /** Priority of a ready key. */
  readonly priority: number;
  /** Kind of a ready key that is a retry without budget; 0 for any other. */
  readonly retry: RetryKind;
  /** Time when the key is due, in milliseconds since 1970. Missing if it is not delayed. */
  readonly dueAtMs: number | undefined;
  /** Priority from the time when the key is due. */
  readonly duePriority: number;
  /** Kind of retry that the key is when it is due. */
  readonly dueRetry: RetryKind;
  /** Whether adds are folded into the retry. */
  readonly isFolding: boolean;
  /** Failures, if there are any. */
  readonly failures: StoredFailures | undefined;
}

/** Page of stored keys. */
export interface StoredPage {
  /** Keys of this page. */
  readonly entries: readonly StoredKey[];
  /** Cursor of the next page. Missing after the last page. */
  readonly cursor: string | undefined;
}

/** Key in a list of a snapshot. */
export interface ListedKey {
  /** Key. */
  readonly key: string;
  /** Payload of the key, if it has one. */
  readonly payload: string | undefined;
}

/** Key in a list of a snapshot, with its priority. */
export interface RankedKey extends ListedKey {
  /** Priority. Missing if no key of the queue ever had a priority. */
  readonly priority: number | undefined;
}

/** Delayed key in a snapshot. */
export interface DelayedKey extends RankedKey {
  /** Milliseconds until the key is due. */
  readonly dueInMs: number;
}

/** Processing key in a snapshot. */
export interface ProcessingKey extends RankedKey {
  /** Whether the key was added again. */
  readonly addedAgain: boolean;
}

/** Failing key in a snapshot. */
export interface FailingKey extends ListedKey {
  /** Number of failures. */
  readonly attempts: number;
  /** Last error in one line, or an empty string. */
  readonly error: string;
  /** Milliseconds until the key is due. Missing if the key is not delayed. */
  readonly dueInMs: number | undefined;
}

/** Contents of a queue, with keys in place of items. A field of a {@linkcode RemoteQueueSnapshot} is one of this. */
export interface EngineSnapshot extends
  Omit<
    RemoteQueueSnapshot<never>,
    "name" | "totals" | "readyItems" | "delayedItems" | "processingItems" | "failingItems"
  > {
  /** Totals since the queue was created. A queue computes the others. */
  readonly totals: Omit<QueueTotals, "added">;
  /** Ready keys, the next one first. */
  readonly readyItems: readonly RankedKey[];
  /** Delayed keys, earliest deadline first. */
  readonly delayedItems: readonly DelayedKey[];
  /** Processing keys, in any order. */
  readonly processingItems: readonly ProcessingKey[];
  /** Keys that failed and will be retried, most failures first. */
  readonly failingItems: readonly FailingKey[];
}

/** Key that was cancelled while an owner had it. */
export interface CancelledKey {
  /** Token with which the key was handed out. */
  readonly token: string;
  /** Reason, in the form in which it was given to {@linkcode QueueEngine.cancel}. */
  readonly reason: string;
}

/** Reply to an owner that renews its lease. */
export interface Renewal {
  /** Cancelled keys that the owner still has. If there are many, some of them. */
  readonly cancelled: readonly CancelledKey[];
  /** Tokens of keys that were added while the owner has them, if it wants to be told of such adds. */
  readonly addedAgain: readonly string[];
}

/** A process's wait for the outcome of a key. */
export interface Wait {
  /** Key. */
  readonly key: string;
  /** Number of the wait. Each wait of a process has another number. */
  readonly id: number;
}

/** Request of a process about its waits. */
export interface WaitsRequest {
  /** Name of the process. */
  readonly process: string;
  /** Outcomes that the process has received, each as the `ids` of the reply. They are removed. */
  readonly received: readonly string[];
  /** Waits that the process no longer needs. They are removed. */
  readonly ended: readonly Wait[];
  /** Waits to keep. A wait that is not kept for a minute is removed, because its process is gone. */
  readonly kept: readonly Wait[];
}

/** Outcome of waits that ended together. */
export interface WaitOutcome {
  /** Numbers of the waits, separated by commas. */
  readonly ids: string;
  /**
   * One of `"done"`, `"value JSON"`, `"refused MESSAGE"` (the result can't be stored), `"givenUp REASON ERROR"` and
   * `"cancelled TEXT"`, with the text that was given to {@linkcode QueueEngine.cancel}.
   */
  readonly outcome: string;
}

/** Reply to a {@linkcode WaitsRequest}. */
export interface WaitsReply {
  /** Outcomes that the process has not received yet. If there are many, some of them. */
  readonly outcomes: readonly WaitOutcome[];
  /** Whether there are more outcomes. */
  readonly isMore: boolean;
  /**
   * Numbers of waits that the process asked to keep, but that the store doesn't have or whose keys will not be handed
   * out. Their outcomes are among `outcomes`, or unknown.
   */
  readonly lost: readonly number[];
}

/** Receiver of messages to a process that wants work, or has keys. */
export interface ProcessListener {
  /**
   * Called when there may be work after `delay` milliseconds. Only a process that got fewer keys than it wanted is
   * woken.
   */
  wake(delay: number): void;
  /** Called when the process must renew its leases now, because the reply has news of a key that the process has. */
  renew(): void;
  /** Called when the connection was restored. Messages may have got lost while it was interrupted. */
  resumed(): void;
}

/** Part of an engine that hands out keys to a process, and learns how the work on them ended. */
export interface HandOuts {
  /** Whether calls are sent immediately. */
  readonly isConnected: boolean;
  /** Settings of the queue. */
  readonly settings: EngineSettings;

  /** Ends the work on keys, and takes other keys. May be repeated: the second run gives the same answers. */
  turn(request: TurnRequest): Promise<TurnReply>;

  /**
   * Renews an owner's lease, which covers all of its keys. Resolves to what has changed for the keys; `undefined` if
   * the owner did not have the lease any more.
   *
   * @param tellsAdds Whether the owner wants to be told of adds of its keys: see {@linkcode TurnRequest}.
   */
  renew(owner: string, tellsAdds?: boolean): Promise<Renewal | undefined>;

  /**
   * Hands back keys that an owner has and whose tokens are not in `known`, because the reply with them was lost. Keys
   * that were handed out after the call began are kept. Resolves to the tokens in `known` that the owner doesn't have.
   */
  release(owner: string, known: readonly string[]): Promise<string[]>;

  /** Removes a process that takes no more keys, and hands back the keys that its owner still has. */
  leave(process: string, owner: string): Promise<void>;

  /** Passes messages to a process. Resolves to an unsubscribe function when no more messages can be missed. */
  listen(process: string, listener: ProcessListener): Promise<() => void>;

  /**
   * Calls `callback` each time a lost connection is restored. Calls that `callback` makes synchronously come before all
   * others. Returns an unsubscribe function.
   */
  onReconnect(callback: () => void): () => void;
}

/** Part of an engine that tells processes what has become of keys for which they wait. */
export interface Awaiting extends Pick<HandOuts, "listen"> {
  /**
   * Adds an entry, and notes that a process waits for its key. The wait ends with the first hand-out that begins after
   * this call and ends as `done`, `succeeded` or `requeueAfter`, or when the key is given up or cancelled. The process
   * is then woken.
   *
   * @param process A name of its own for the waits of a process, so that other messages don't look like theirs.
   */
  addAndWait(entry: RankedEntry, process: string, id: number): Promise<void>;

  /** Keeps and removes waits of a process, and returns outcomes of others. */
  waits(request: WaitsRequest): Promise<WaitsReply>;
}

/** Engine whose keys are divided among partitions. The keys of a partition are handed out in an order of their own. */
export interface Partitions {
  /** Partitions. */
  readonly engines: readonly HandOuts[];
  /** Identity, in the throttle store, of the bucket from which the attempts in all partitions take tokens, if any. */
  readonly bucket: string;
  /** Returns the index of the partition of a key that was handed out. */
  indexOf(key: string): number;
}

/**
 * Part of an engine that doesn't hand out keys: adds, counts, given-up keys and settings.
 *
 * Calls take effect in the order in which they are made. A call that the store can't answer within the call timeout
 * rejects with an error whose code is `WQ_CONNECTION` and whose `mayHaveRun` says whether the call may have taken
 * effect. Calls that may run twice without harm are repeated until then.
 */
export interface QueueEngine {
  /** Name of the product, such as "Redis", for messages and for the names of classes when objects are printed. */
  readonly product: string;
  /** Place of the queue, for messages, such as `localhost:6379/0`. Contains no password. */
  readonly address: string;
  /** Whether calls are sent immediately. */
  readonly isConnected: boolean;
  /** Settings of the queue. */
  readonly settings: EngineSettings;
  /** Limiter of the queue. A reload replaces the limiter. */
  limiter: EngineLimiter;
  /** Whether replies include how long each taken key had been ready. */
  measuresTimes: boolean;

  /**
   * Adds entries after a delay in milliseconds. If there are many entries, they are added in several calls, and calls
   * of others may come between these.
   */
  add(entries: readonly Entry[], delay?: number): Promise<void>;

  /**
   * Adds entries with delays and priorities of their own. Resolves to the number of different keys among them that the
   * queue did not know: they were not ready, blocked, delayed or processing.
   */
  addEach(entries: readonly RankedEntry[]): Promise<number>;

  /**
   * Adds an entry after the limiter's delay, or after `minDelay` if that is longer. Resolves to `undefined` if the
   * entry was added. Otherwise nothing was changed, and the promise resolves to the number of failures for which
   * `given` must be computed. Never repeated after a lost reply, because a second run would count a second failure.
   *
   * @param entry The entry.
   * @param isNewest Whether the payload replaces a payload that is stored for the key.
   * @param given The input of the limiter.
   * @param minDelay The shortest delay in milliseconds.
   * @param priority The priority; 0 by default.
   */
  addRateLimited(
    entry: Entry,
    isNewest: boolean,
    given: string,
    minDelay: number,
    priority?: number,
  ): Promise<number | undefined>;

  /** Cancels a delay. Resolves to whether the key was delayed. */
  cancelDelayed(key: string): Promise<boolean>;

  /**
   * Cancels the work on a key, and forgets its failures. A ready, blocked or delayed key is taken out. The owner of a
   * processing key is told to renew its lease, and learns `reason` then. However the work ends, the key is not added
   * again, unless it was added after this call. Resolves to the state of the key; `undefined` if it had none.
   */
  cancel(key: string, reason: string): Promise<CancelledFrom | undefined>;

  /** Makes a delayed key ready. Resolves to whether the key was delayed. */
  promoteDelayed(key: string): Promise<boolean>;

  /** Forgets a key's failures. */
  forget(key: string): Promise<void>;

  /** Resolves to the number of a key's failures, or to 0 if the limiter doesn't count. */
  numRequeues(key: string): Promise<number>;

  /** Pauses the queue. Resolves to the number of the pause. */
  pause(): Promise<number>;

  /** Resumes the queue, or, if `pause` is given, only if it is the number of the last pause. */
  resume(pause?: number): Promise<void>;

  /** Returns the group of a key; `undefined` if this process knows of no groups. */
  groupOf(key: string): string | undefined;

  /** Pauses the queue for a number of milliseconds. A pause that ends later stays in force. */
  pauseUntil(duration: number): Promise<void>;

  /** Blocks the keys of a group for a number of milliseconds. Resolves to whether the queue has groups. */
  pauseGroup(group: string, duration: number): Promise<boolean>;

  /** Ends the pause of a group. Resolves to whether the queue has groups. */
  resumeGroup(group: string): Promise<boolean>;

  /**
   * Sets the limits on the given-up keys, for all processes. Sent with the next call if the engine is not connected.
   * Changes nothing if this process was given the same limits last, because another process may have set other ones
   * since. An engine to which no limits were ever given keeps 10,000 keys.
   */
  keepGivenUp(retention: Retention): Promise<void>;

  /**
   * Puts a retry budget in force, for all processes. Sent with the next call if the engine is not connected. Changes
   * nothing if this process was given the same budget last, as with {@linkcode QueueEngine.keepGivenUp}. A key that was
   * delayed by `retry`, `failed` or `addRateLimited` is a retry: when it is due, it becomes ready only if there is
   * budget, and is blocked otherwise.
   */
  limitRetries(budget: RetryBudgetOptions): Promise<void>;

  /** Lists given-up keys, newest first. Checks at most 10,000 keys. */
  givenUp(options: { search: string; limit: number; cursor: string | undefined }): Promise<KeptPage>;

  /** Forgets given-up keys. Resolves to their number. */
  discard(selection: KeptSelection): Promise<number>;

  /**
   * Begins a redrive: adds selected given-up keys again, the oldest first, without failures and with priority 0.
   * Resolves to `undefined` if another redrive is running. Each call to `turn`, and each look at the progress, takes
   * the next step of the redrive if it is due, in whatever process. Keys that are given up later are not added.
   *
   * @param selection The keys.
   * @param rate The maximum number of keys per second; `undefined` for no limit.
   */
  redrive(selection: KeptSelection, rate: number | undefined): Promise<EngineRedrive | undefined>;

  /** Returns the progress of the running redrive or else of the last one; `undefined` if there was none. */
  redriveProgress(): Promise<EngineRedrive | undefined>;

  /** Stops the running redrive. Keys that it did not add are kept. Returns the progress. */
  stopRedrive(): Promise<EngineRedrive | undefined>;

  /**
   * Lists keys that are ready, blocked or delayed, for a copy of the queue. Keys that stay in the queue from the first
   * page to the last are listed, some more than once, if no key is handed out meanwhile.
   *
   * @param withProcessing Whether keys that are processing are listed too, as ready keys.
   * @param cursor The cursor of the page. The first page by default.
   */
  stored(withProcessing: boolean, cursor?: string): Promise<StoredPage>;

  /** Adds stored keys. Keys that the queue knows are left as they are. */
  restore(keys: readonly StoredKey[]): Promise<void>;

  /** Adds given-up keys. Keys that the queue knows are left as they are. */
  restoreGivenUp(keys: readonly KeptKey[]): Promise<void>;

  /** Counts the keys of the queue. */
  counts(): Promise<QueueCounts>;

  /** Returns the contents of the queue, with up to `limit` keys in each list. */
  snapshot(limit: number): Promise<EngineSnapshot>;

  /**
   * Checks once for each store, however often it is called, whether settings of the store endanger its data. Calls
   * `report` with each problem.
   */
  checkStore(report: (problem: Error) => void): void;

  /** Waits for running calls and releases the connection. Later calls reject. */
  close(): Promise<void>;
}

/**
 * Access of a process to one queue in a store that many processes share. An engine decides who gets which key and when;
 * it has no timers for leases and does not begin work on its own.
 */
export interface Engine extends QueueEngine, HandOuts, Awaiting {}

/** Engine with partitions, each of which hands out its keys. */
export interface PartitionedEngine extends QueueEngine {
  /** Partitions of the queue. */
  readonly partitions: Partitions;
  /** Resolves to the partition of a key. */
  engineOf(key: string): Promise<Awaiting>;
}
