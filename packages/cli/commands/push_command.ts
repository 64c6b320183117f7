import type { Readable } from "node:stream";
import { bytesOf, openInput } from "../items/input.ts";
import { readLines } from "../items/lines.ts";
import { RefusedLines } from "../items/refused_lines.ts";
import { openQueue } from "../remote/open_queue.ts";
import { EXIT } from "../system/exit_codes.ts";
import { stderr } from "../system/standard_streams.ts";
import { UsageError } from "../system/usage_error.ts";
import type { PushFlags } from "./push_flags.ts";

/** Largest number of lines that one call adds. */
const BATCH = 1000;

/**
 * Runs `workqueue push`: adds each line of a list to a queue on Redis.
 *
 * @param flags The options.
 * @param standardInput The stream for the input `-`.
 * @returns The exit code.
 * @throws {UsageError} If an option is invalid, the list can't be read, or the server fails. In the last two cases, the
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
  const size = Math.min(BATCH, whenBelow ?? BATCH);
  let added = 0;
  const queue = await openQueue(flags);
  try {
    for await (const lines of chunks) {
      for (let start = 0; start < lines.length; start += size) {
        const batch = lines.slice(start, start + size);
        if (whenBelow !== undefined) await queue.whenBelow(whenBelow);
        await queue.addAll(batch, { priority, delay });
        added += batch.length;
      }
    }
  } catch (error) {
    throw added === 0 ? error : new UsageError(`${(error as Error).message} (after ${count(added)} had been added)`);
  } finally {
    queue.shutDown();
  }
  for (const line of refused.describe()) stderr.write(line + "\n");
  if (!flags.quiet) stderr.write(`Added ${count(added)}.\n`);
  return refused.count > 0 ? EXIT.incomplete : EXIT.succeeded;
}

function count(lines: number): string {
  return lines === 1 ? "1 line" : `${lines} lines`;
}
