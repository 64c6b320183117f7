import { describeSystemError, UsageError } from "./usage_error.ts";

/** The standard output cannot be written to, so the run cannot go on. */
export class OutputError extends UsageError {
  /** The name of the class, as for every error. */
  override name = "OutputError";
  /** Whether whoever read the output has left, as `head` does when it has seen enough. */
  readonly readerHasLeft: boolean;

  /** Says what is wrong with the standard output. */
  constructor(error: unknown) {
    super(`Cannot write standard output as ${describeSystemError(error, "file")}`, { cause: error });
    this.readerHasLeft = (error as NodeJS.ErrnoException).code === "EPIPE";
  }
}
