import type { Readable } from "node:stream";
import { bytesOf, openInput } from "../items/input.ts";
import { readLines } from "../items/lines.ts";
import { RefusedLines } from "../items/refused_lines.ts";
import { type AddedLines, addLines, describeAdded } from "../remote/add_lines.ts";
import { findQueue } from "../remote/find_queue.ts";
import { EXIT } from "../system/exit_codes.ts";
import { stderr } from "../system/standard_streams.ts";
import type { PushFlags } from "./push_flags.ts";

/**
 * Runs `workqueue push`: adds each line of a list to a queue that processes share.
 *
 * @param flags The options.
 * @param standardInput The stream for the input `-`.
 * @returns The exit code.
 * @throws {UsageError} If an option is invalid, the list can't be read, or the queue fails. In the last two cases, the
 * message says how many lines were added before.
 */
export async function pushCommand(flags: PushFlags, standardInput: Readable): Promise<number> {
  const { priority, delay, whenBelow } = flags;
  const input = openInput(flags.input, standardInput);
  const refused = new RefusedLines();
  const chunks = readLines(bytesOf(input), {
    separator: flags.null ? "NUL" : "line feed",
    fault: () => undefined,
    onRefused: (lineNumber, reason) => refused.add(lineNumber, reason),
  });
  const queue = (await findQueue(flags, true)).open();
  let added: AddedLines;
  try {
    added = await addLines(queue, chunks, { priority, delay, whenBelow });
  } finally {
    queue.shutDown();
  }
  for (const line of refused.describe()) stderr.write(line + "\n");
  if (!flags.quiet) stderr.write(`${describeAdded(added)}.\n`);
  return refused.count > 0 ? EXIT.incomplete : EXIT.succeeded;
}
