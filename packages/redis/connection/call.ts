import type { Retry, Script } from "./connection.ts";
import type { Wire } from "./wire.ts";

/** Unanswered call. */
export class Call {
  /** Number of calls made before this one. */
  turn = 0;
  /** Deadline of the call, in milliseconds of `performance.now()`. */
  end = 0;
  /** Neighbors in the linked list of calls with the same timeout. */
  previous: Call | undefined;
  next: Call | undefined;
  /** Whether an `onReconnect` callback made the call for a new wire. Such a call is not repeated on another wire. */
  isOfWire = false;
  /** Wire on which the call was sent and may still be answered; `undefined` while the call is queued. */
  wire: Wire | undefined;
  /** Whether the call was sent on a wire that ended. Such a call may have run. */
  mayHaveRun = false;

  constructor(
    readonly script: Script,
    readonly key: string,
    readonly args: readonly (string | number)[],
    readonly retry: Retry,
    /** Timeout in milliseconds, retries included. */
    readonly timeout: number,
    readonly resolve: (reply: unknown) => void,
    readonly reject: (error: Error) => void,
    /** Called when the call is resolved or rejected. */
    readonly onSettled: () => void,
  ) {}
}
