import type { Retry, Script } from "./connection.ts";
import type { Wire } from "./wire.ts";

/** Call that has not been answered. */
export class Call {
  /** Number of calls made before this one. */
  turn = 0;
  /** Time when the timeout ends, by `performance.now()`, in milliseconds. */
  end = 0;
  /** Neighbors among the calls with the same timeout. */
  previous: Call | undefined;
  next: Call | undefined;
  /** Whether the call was made for a new wire, while that wire came up. Such a call is not repeated on another wire. */
  isOfWire = false;
  /** Wire that the call was sent on and may be answered on; `undefined` while the call is queued. */
  wire: Wire | undefined;
  /** Whether the call was sent on a wire that ended, so that it may have run. */
  mayHaveRun = false;

  constructor(
    readonly script: Script,
    readonly key: string,
    readonly args: readonly (string | number)[],
    readonly retry: Retry,
    /** Milliseconds, retries included. */
    readonly timeout: number,
    readonly resolve: (reply: unknown) => void,
    readonly reject: (error: Error) => void,
    /** Called when the call is resolved or rejected. */
    readonly onSettled: () => void,
  ) {}
}
