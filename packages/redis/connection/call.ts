import type { Retry, Script } from "./connection.ts";
import type { Wire } from "./wire.ts";

/** A call that has not been answered. */
export class Call {
  /** How many were made before it. */
  turn = 0;
  /** When its timeout ends. */
  end = 0;
  /** Its neighbours among the calls with the same timeout. */
  previous: Call | undefined;
  next: Call | undefined;
  /** Belongs to the wire that was new when it was made, and is not made again on another. */
  isOfWire = false;
  /** What it was sent on and may be answered on; none while it is held back. */
  wire: Wire | undefined;
  /** Whether it was sent on a wire that ended, so that nobody knows whether it ran. */
  mayHaveRun = false;

  constructor(
    readonly script: Script,
    readonly key: string,
    readonly args: readonly (string | number)[],
    readonly retry: Retry,
    /** In milliseconds, retries included. */
    readonly timeout: number,
    readonly resolve: (reply: unknown) => void,
    readonly reject: (error: Error) => void,
    /** Is told that it was resolved or rejected. */
    readonly onSettled: () => void,
  ) {}
}
