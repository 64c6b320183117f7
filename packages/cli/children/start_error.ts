import { existsSync } from "node:fs";
import { describeSystemError } from "../system/usage_error.ts";

/** Errors of a system that has no room for another open file or process. */
const SHORTAGES = ["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"];
/** Errors of a command that cannot be run for any item. */
const COMMAND_ERRORS = ["ENOENT", "EACCES", "EPERM", "ENOEXEC", "ENOTDIR", "EISDIR", "ELOOP"];
/** Errors of an item that cannot be an argument, as it is too long or has a NUL in it. */
const ITEM_ERRORS = ["E2BIG", "ERR_INVALID_ARG_VALUE"];

/** Reports whether the system had no room for the process, so that it may start later. */
export function isShortage(error: unknown): boolean {
  return SHORTAGES.includes(codeOf(error));
}

/** Reports whether the command cannot be run, whatever the item. */
export function isCommandError(error: unknown): boolean {
  return COMMAND_ERRORS.includes(codeOf(error));
}

/** Reports whether the command can never be run for this item. */
export function isItemError(error: unknown): boolean {
  return ITEM_ERRORS.includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/** Describes why a command could not be started, for the end of a sentence. */
export function describeStartError(error: unknown, file: string): string {
  const isThere = codeOf(error) === "ENOENT" && file.includes("/") && existsSync(file);
  return isThere ? "what its first line says is to run it is not there" : describeSystemError(error, "command");
}
