import type { ErrorCode } from "../base/error_codes.ts";
import { messageOf } from "../base/thrown.ts";
import type { GiveUpReason } from "../contracts/handler.ts";

/**
 * Rejection of `addAndWait` when the item was given up. The `cause` is the last error of the handler.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, GivenUpError, runWorkers } from "@workqueue/core";
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
 * runWorkers(queue, () => {
 *   throw new Error("no such page");
 * }, { maxRetries: 1, onError() {} });
 * const error = await assertRejects(() => queue.addAndWait("a"), GivenUpError);
 * assertEquals(error.message, "The item was given up (maxRetries): Error: no such page");
 * queue.shutDown();
 * ```
 */
export class GivenUpError extends Error {
  /** Always `"GivenUpError"`. */
  override name = "GivenUpError";
  /** Always `"WQ_GIVEN_UP"`. */
  readonly code: "WQ_GIVEN_UP" = "WQ_GIVEN_UP" satisfies ErrorCode;
  /** The reason for giving the item up. */
  readonly reason: GiveUpReason;

  /**
   * Creates the error.
   *
   * @param cause The last error of the handler.
   * @param reason The reason for giving the item up.
   */
  constructor(cause: unknown, reason: GiveUpReason) {
    super(`The item was given up (${reason}): ${messageOf(cause)}`, { cause });
    this.reason = reason;
  }
}
