import type { ItemEvent } from "@workqueue/core/watch";
import { cancelledError } from "./cancel_reason.ts";
import type { FailureInput } from "./delay_nodes.ts";
import type { Finish } from "./engine.ts";
import type { LeaseEnding } from "./outcome.ts";

/**
 * Returns the event of an attempt whose ending was applied, or whose item was cancelled; `undefined` for an item that
 * was handed back.
 *
 * @param finish Request of the ending, which has the delay of a retry.
 */
export function endEventOf(attempt: number, ending: LeaseEnding | "cancelled", finish: Finish): ItemEvent | undefined {
  if (ending === "cancelled") return { state: ending, error: cancelledError() };
  switch (ending.kind) {
    case "failed":
      return { state: "failed", attempt, error: ending.error, retryInMs: delayOf(finish) };
    case "retry":
      return { state: "requeued", attempt, retryInMs: delayOf(finish) };
    case "givenUp":
      return { state: "givenUp", attempt, error: ending.error, reason: ending.reason };
    case "handedBack":
      return undefined;
    case "done":
    case "requeueAfter":
      return { state: "done", attempt, result: undefined };
    case "succeeded":
      return { state: "done", attempt, result: ending.result };
  }
}

/** Returns the delay of a retry in milliseconds; `undefined` if it depends on what processes share. */
function delayOf({ given, delay: minDelay = 0 }: Finish): number | undefined {
  const [, delay]: FailureInput = JSON.parse(given!);
  return typeof delay === "number" ? Math.max(delay, minDelay) : undefined;
}
