import { existsSync } from "node:fs";
import { basename, delimiter } from "node:path";
import process from "node:process";
import { describeSystemError } from "../system/usage_error.ts";

/** Error codes meaning that the system lacks the resources to open another file or start another process. */
const SHORTAGES = ["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"];
/** Error codes meaning that the command can't be run for any item. */
const COMMAND_ERRORS = ["ENOENT", "EACCES", "EPERM", "ENOEXEC", "ENOTDIR", "EISDIR", "ELOOP", "ENAMETOOLONG"];
/** Error codes meaning that an item is too long, or contains NUL, and so can't be an argument. */
const ITEM_ERRORS = ["E2BIG", "ERR_INVALID_ARG_VALUE"];
/** Name of the folder that Deno adds to `PATH`. */
const DENO_FOLDER = "node_compat_bin";

/** Reports whether the system lacked the resources to start the process. If so, a later attempt might succeed. */
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
  if (codeOf(error) === "ENOENT") {
    if (file.includes("/") && existsSync(file)) return "the interpreter named in its first line does not exist";
    if (!file.includes("/") && !hasPath()) return "the command was not found, because PATH is not set";
    if (/^[^/]*\s/.test(file)) {
      return "there is no such command; no shell splits it into words: leave out the quotes, or write " +
        `sh -c '… "$1"' sh {}`;
    }
  }
  return describeSystemError(error, "command");
}

/**
 * Reports whether the variable `PATH` names a folder. Without `PATH`, Deno sets it to a folder of its own, and finds no
 * commands. Other runtimes then search the usual folders of the system.
 */
function hasPath(): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => folder !== "" && basename(folder) !== DENO_FOLDER);
}
