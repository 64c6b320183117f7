import { describeSystemError, UsageError } from "./usage_error.ts";

/** Error for standard output that can't be written. The run can't continue. */
export class OutputError extends UsageError {
  /** Name of the class. */
  override name = "OutputError";
  /** Whether the reader of the output has left, as `head` does when it has read enough. */
  readonly readerHasLeft: boolean;

  /** Creates the error from a system error. */
  constructor(error: unknown) {
    super(`Cannot write standard output: ${describeSystemError(error, "file")}`, { cause: error });
    this.readerHasLeft = (error as NodeJS.ErrnoException).code === "EPIPE";
  }
}
