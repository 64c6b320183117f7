import { existsSync } from "node:fs";
import { describeSystemError } from "../system/usage_error.ts";

/** There is no room now for another open file or process. */
const SHORTAGES = ["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"];
/** The command itself cannot be run, for any item. */
const COMMAND_ERRORS = ["ENOENT", "EACCES", "EPERM", "ENOEXEC", "ENOTDIR", "EISDIR", "ELOOP"];
/** No command can be given this item: it is too long, or has a NUL in it. */
const ITEM_ERRORS = ["E2BIG", "ERR_INVALID_ARG_VALUE"];

/** Whether a process could not be started for want of room, so that it may be started later. */
export function isShortage(error: unknown): boolean {
  return SHORTAGES.includes(codeOf(error));
}

/** Whether no process can be started because of the command, whatever the item. */
export function isCommandError(error: unknown): boolean {
  return COMMAND_ERRORS.includes(codeOf(error));
}

/** Whether no process can ever be started because of the item. */
export function isItemError(error: unknown): boolean {
  return ITEM_ERRORS.includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/** Words why a command could not be started, for the end of a sentence. */
export function describeStartError(error: unknown, file: string): string {
  const isThere = codeOf(error) === "ENOENT" && file.includes("/") && existsSync(file);
  return isThere ? "what its first line says is to run it is not there" : describeSystemError(error, "command");
}
