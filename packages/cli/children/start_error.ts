import { existsSync } from "node:fs";
import { describeSystemError } from "../system/usage_error.ts";

/** Error codes of a system that can't open another file or start another process for lack of resources. */
const SHORTAGES = ["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"];
/** Error codes for a command that can't be run for any item. */
const COMMAND_ERRORS = ["ENOENT", "EACCES", "EPERM", "ENOEXEC", "ENOTDIR", "EISDIR", "ELOOP"];
/** Error codes for an item that can't be an argument because it is too long or contains NUL. */
const ITEM_ERRORS = ["E2BIG", "ERR_INVALID_ARG_VALUE"];

/** Reports whether the system had no room for the process. If so, the process may start later. */
export function isShortage(error: unknown): boolean {
  return SHORTAGES.includes(codeOf(error));
}

/** Reports whether the command can't be run for any item. */
export function isCommandError(error: unknown): boolean {
  return COMMAND_ERRORS.includes(codeOf(error));
}

/** Reports whether the command can never run for this item. */
export function isItemError(error: unknown): boolean {
  return ITEM_ERRORS.includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/** Describes why a command could not be started. The result is the end of a sentence. */
export function describeStartError(error: unknown, file: string): string {
  const isThere = codeOf(error) === "ENOENT" && file.includes("/") && existsSync(file);
  return isThere ? "the interpreter named in its first line does not exist" : describeSystemError(error, "command");
}
