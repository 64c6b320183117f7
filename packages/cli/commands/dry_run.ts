import type { Backlog } from "../items/backlog.ts";
import type { CommandTemplate } from "../items/command_template.ts";
import type { LineOptions } from "../items/lines.ts";
import { readLines } from "../items/lines.ts";
import { quoteAll } from "../system/text.ts";

/**
 * Prints the commands that a run would start, as a shell takes them, and starts none.
 *
 * @param stream What the items are read from.
 * @param options How they are read.
 * @param backlog What folds them, and leaves out what an earlier run has done.
 * @param template The command.
 * @param print Takes the text. Resolves when it has been written: to false if nobody reads any more, which ends it.
 */
export async function printCommands(
  stream: AsyncIterable<Uint8Array>,
  options: LineOptions,
  backlog: Backlog,
  template: CommandTemplate,
  print: (text: string) => Promise<boolean>,
): Promise<void> {
  for await (const lines of readLines(stream, options)) {
    let text = "";
    for (const line of lines) backlog.add(line);
    for (let line = backlog.shift(); line !== undefined; line = backlog.shift()) {
      text += quoteAll(template.fill(line)) + "\n";
    }
    if (text !== "" && !await print(text)) return;
  }
}
