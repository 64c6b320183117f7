import { existsSync } from "node:fs";
import { describeSystemError } from "../system/usage_error.ts";

/** Error codes meaning that the system lacks the resources to open another file or start another process. */
const SHORTAGES = ["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"];
/** Error codes meaning that the command can't be run for any item. */
const COMMAND_ERRORS = ["ENOENT", "EACCES", "EPERM", "ENOEXEC", "ENOTDIR", "EISDIR", "ELOOP"];
/** Error codes meaning that an item is too long, or contains NUL, and so can't be an argument. */
const ITEM_ERRORS = ["E2BIG", "ERR_INVALID_ARG_VALUE"];

/** Reports whether the system lacked the resources to start the process. If so, a later try might succeed. */
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

/** Describes why a command could not be started. The result completes a sentence. */
export function describeStartError(error: unknown, file: string): string {
  const isThere = codeOf(error) === "ENOENT" && file.includes("/") && existsSync(file);
  return isThere ? "the interpreter named in its first line does not exist" : describeSystemError(error, "command");
}
