/**
 * Error that the user can fix: a mistake in the command line or the config, or a file or command that doesn't exist.
 * The command shows only the error's message and exits with code 2.
 */
export class UsageError extends Error {
  /** Name of the class. */
  override name = "UsageError";
}

/** Describes a system error. The result completes a sentence: `"there is no such file"`. */
export function describeSystemError(error: unknown, missing: "file" | "directory" | "command"): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return `there is no such ${missing}`;
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EISDIR":
      return "it is a directory";
    case "ENOSPC":
      return "no space is left on the device";
    case "EFBIG":
      return "it would exceed the maximum file size";
    case "EPIPE":
      return "its reader has exited";
    case "E2BIG":
      return "its arguments are too long";
    case "ERR_INVALID_ARG_VALUE":
      return "its arguments cannot contain NUL";
    case "EMFILE":
    case "ENFILE":
      return "too many files are open";
    case "EAGAIN":
      return "too many processes are running";
    case "ENOMEM":
      return "there is not enough memory";
    case "ENOTDIR":
      return "part of its path is not a directory";
    default:
      if (error instanceof Error && error.message.includes("(os error 27)")) {
        return "it would exceed the maximum file size";
      }
      return error instanceof Error ? error.message : String(error);
  }
}
