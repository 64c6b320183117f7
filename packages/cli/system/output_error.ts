import { describeSystemError, UsageError } from "./usage_error.ts";

/** Error for a standard output that cannot be written to. The run cannot go on. */
export class OutputError extends UsageError {
  /** The name of the class, as for every error. */
  override name = "OutputError";
  /** Whether the reader of the output has left, as `head` does when it has read enough. */
  readonly readerHasLeft: boolean;

  /** Makes the error of an error of the system. */
  constructor(error: unknown) {
    super(`Cannot write standard output as ${describeSystemError(error, "file")}`, { cause: error });
    this.readerHasLeft = (error as NodeJS.ErrnoException).code === "EPIPE";
  }
}
