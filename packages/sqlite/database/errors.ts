import type { ErrorCode } from "@workqueue/core";

/** Error for a call that could not write to its file, or of which it is unknown whether it has. */
export class SqliteConnectionError extends Error {
  /** Name of the class. */
  override name = "SqliteConnectionError";
  /** Error code. Always `"WQ_CONNECTION"`. */
  readonly code: "WQ_CONNECTION" = "WQ_CONNECTION" satisfies ErrorCode;
  /** Whether the call may have taken effect. If `false`, the call certainly has not taken effect. */
  readonly mayHaveRun: boolean;

  /**
   * Creates the error.
   *
   * @param message The failed action and the reason.
   * @param options Whether the call may have taken effect (`mayHaveRun`), and the `cause`, if there is one.
   */
  constructor(message: string, options: ErrorOptions & { mayHaveRun: boolean }) {
    super(message, options);
    this.mayHaveRun = options.mayHaveRun;
  }
}
