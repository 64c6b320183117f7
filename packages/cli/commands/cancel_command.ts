import type { CancelledFrom } from "@workqueue/core";
import { withQueue } from "../remote/with_queue.ts";
import { EXIT } from "../system/exit_codes.ts";
import { printable } from "../system/text.ts";
import type { CancelFlags } from "./cancel_flags.ts";
import { print } from "./print.ts";

/** Text for the state in which the item was. */
const TEXTS: Readonly<Record<CancelledFrom, string>> = {
  ready: "it was ready",
  blocked: "it was blocked",
  delayed: "it was delayed",
  running: "the process that works on it is told, and it is not retried",
};

/**
 * Runs `workqueue cancel`: cancels the pending work on an item of a shared queue.
 *
 * @param key The key of the item.
 * @returns The exit code.
 * @throws {UsageError} If an option is invalid, or the server or the file can't be used.
 */
export async function cancelCommand(key: string, flags: CancelFlags): Promise<number> {
  return await withQueue(flags, async (queue, shown) => {
    const state = await queue.cancel(key, flags.reason);
    if (state !== undefined) await print(`Cancelled ${printable(key)}: ${TEXTS[state]}.\n`);
    else await print(`${printable(key)} is neither waiting nor running in ${printable(shown)}.\n`);
    return state === undefined ? EXIT.incomplete : EXIT.succeeded;
  });
}
