import { describeSystemError, UsageError } from "./usage_error.ts";

/** Error that is thrown when writing to standard output fails. The run can't continue after this error. */
export class OutputError extends UsageError {
  /** Name of the class. */
  override name = "OutputError";
  /** Whether the reader of the output has exited, as `head` does after it has read enough. */
  readonly readerHasLeft: boolean;

  /** Creates the error from a system error. */
  constructor(error: unknown) {
    super(`Cannot write standard output: ${describeSystemError(error, "file")}`, { cause: error });
    this.readerHasLeft = (error as NodeJS.ErrnoException).code === "EPIPE";
  }
}
