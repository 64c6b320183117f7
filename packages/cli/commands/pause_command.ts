import type { QueueFlags } from "../remote/queue_flags.ts";
import { withQueue } from "../remote/with_queue.ts";
import { EXIT } from "../system/exit_codes.ts";
import { printable } from "../system/text.ts";
import { print } from "./print.ts";

/**
 * Runs `workqueue pause`: no process takes items from a shared queue until it is resumed.
 *
 * @returns The exit code.
 * @throws {UsageError} If an option is invalid, or the server or the file can't be used.
 */
export async function pauseCommand(flags: QueueFlags): Promise<number> {
  return await withQueue(flags, async (queue, shown) => {
    await queue.pause();
    await print(`Paused ${printable(shown)}: no process takes items until it is resumed.\n`);
    return EXIT.succeeded;
  });
}

/**
 * Runs `workqueue resume`: ends a pause of a shared queue, whichever process began it.
 *
 * @returns The exit code.
 * @throws {UsageError} If an option is invalid, or the server or the file can't be used.
 */
export async function resumeCommand(flags: QueueFlags): Promise<number> {
  return await withQueue(flags, async (queue, shown) => {
    const { paused } = await queue.snapshot({ limit: 0 });
    await queue.resume();
    await print(paused ? `Resumed ${printable(shown)}.\n` : `${printable(shown)} was not paused.\n`);
    return EXIT.succeeded;
  });
}
