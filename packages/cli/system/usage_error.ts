import { constants } from "node:os";
import { messageOf } from "./text.ts";

/**
 * Error that the user can fix: a mistake in the command line or the config, or a file or command that doesn't exist.
 * The command shows only the error's message and exits with code 2.
 */
export class UsageError extends Error {
  /** Name of the class. */
  override name = "UsageError";
}

/** Reasons for system errors, by their code. Each completes a sentence. */
const REASONS: Readonly<Record<string, string>> = {
  E2BIG: "its arguments are too long",
  EACCES: "permission denied",
  EAGAIN: "too many processes are running",
  EDQUOT: "the disk quota is used up",
  EEXIST: "a file of that name already exists",
  EFBIG: "it would exceed the maximum file size",
  EIO: "the device reported an input/output error",
  EISDIR: "it is a directory",
  ELOOP: "its path has too many symbolic links",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "its name is too long",
  ENFILE: "too many files are open",
  ENOMEM: "there is not enough memory",
  ENOSPC: "no space is left on the device",
  ENOTDIR: "part of its path is not a directory",
  EPERM: "permission denied",
  EPIPE: "its reader has exited",
  ERR_INVALID_ARG_VALUE: "its arguments cannot contain NUL",
  EROFS: "the file system is read-only",
  ETXTBSY: "it is open for writing",
};

/** Describes a system error. The result completes a sentence: `"there is no such file"`. */
export function describeSystemError(error: unknown, missing: "file" | "directory" | "command"): string {
  const code = codeOf(error);
  if (code === "ENOENT") return `there is no such ${missing}`;
  return REASONS[code] ?? messageOf(error);
}

/** Returns the code of a system error, such as `"ENOSPC"`. Some errors of Deno contain only the code's number. */
function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const number = Number(/\(os error (\d+)\)/.exec(message)?.[1]);
  return code ?? Object.entries(constants.errno).find(([, value]) => value === number)?.[0] ?? "";
}
