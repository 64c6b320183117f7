import type { RemoteQueue } from "@workqueue/engine";
import { UsageError } from "../system/usage_error.ts";
import { findQueue } from "./find_queue.ts";
import type { QueueFlags } from "./queue_flags.ts";

/**
 * Opens the queue that options name, uses it, and closes it.
 *
 * @param flags The options.
 * @param use The function that uses the queue. It also receives the text that names the queue in messages.
 * @returns The result of `use`.
 * @throws {UsageError} If an option is invalid, or the server or the file can't be used.
 */
export async function withQueue(
  flags: QueueFlags,
  use: (queue: RemoteQueue, shown: string) => Promise<number>,
): Promise<number> {
  const found = await findQueue(flags);
  const queue = found.open();
  try {
    return await use(queue, found.file === undefined ? `'${found.name}'` : `'${found.name}' in '${found.file}'`);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  } finally {
    await queue.shutDownWithDrain();
  }
}
