import type { GiveUpReason } from "./handler.ts";

/**
 * Change of the state of an item, of which `watchItem` tells.
 *
 * - `"ready"`: the item became ready, or blocked. Not reported by queues that processes share.
 * - `"started"`: an attempt began, or a consumer took the item.
 * - `"failed"`: the attempt failed, and the item is retried.
 * - `"requeued"`: the handler returned `requeue`, or a consumer called `addRateLimited`. The item is retried.
 * - `"done"`: the attempt succeeded, or the consumer called `done`. If the handler returned `requeueAfter`, or the item
 *   was added again meanwhile, other events follow.
 * - `"givenUp"`: the item was given up.
 * - `"cancelled"`: the item was cancelled, which is the code `WQ_CANCELLED` of the error, or the queue was shut down
 *   before the item was done (`WQ_SHUT_DOWN`).
 *
 * @typeParam R The type of the results.
 */
export type ItemEvent<R = unknown> =
  | { readonly state: "ready" }
  | { readonly state: "started"; readonly attempt: number }
  | FailedEvent
  | { readonly state: "requeued"; readonly attempt: number; readonly retryInMs: number | undefined }
  | { readonly state: "done"; readonly attempt: number; readonly result: R | undefined }
  | GivenUpEvent
  | { readonly state: "cancelled"; readonly error: Error };

/** The {@linkcode ItemEvent} of a failed attempt. */
export interface FailedEvent {
  /** Distinguishes this event from the others. */
  readonly state: "failed";
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** The failure. */
  readonly error: unknown;
  /**
   * Time until the item is retried, in milliseconds. Queues that processes share leave it `undefined` if the delay
   * depends on a token bucket.
   */
  readonly retryInMs: number | undefined;
}

/** The {@linkcode ItemEvent} of an item that is given up. */
export interface GivenUpEvent {
  /** Distinguishes this event from the others. */
  readonly state: "givenUp";
  /** Number of attempts. */
  readonly attempt: number;
  /** The last failure. */
  readonly error: unknown;
  /** The reason for giving the item up. */
  readonly reason: GiveUpReason;
}
