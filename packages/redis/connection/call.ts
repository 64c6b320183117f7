import type { Retry, Script } from "./connection.ts";
import type { Wire } from "./wire.ts";

/** A call that has not been answered. */
export class Call {
  /** How many were made before it. */
  turn = 0;
  /** When it has been waited for long enough. */
  end = 0;
  /** Its neighbours among those that are waited for equally long. */
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
    /** For how many milliseconds it is waited for. */
    readonly patience: number,
    readonly resolve: (reply: unknown) => void,
    readonly reject: (error: Error) => void,
    /** Is told that it was resolved or rejected. */
    readonly onSettled: () => void,
  ) {}
}
