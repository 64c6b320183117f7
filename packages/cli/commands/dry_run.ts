import { bytesOf } from "../items/input.ts";
import { readLines } from "../items/lines.ts";
import { RefusedLines } from "../items/refused_lines.ts";
import { EXIT } from "../system/exit_codes.ts";
import { stderr } from "../system/standard_streams.ts";
import { quoteAll } from "../system/text.ts";
import { print } from "./print.ts";
import type { RunPlan } from "./run_plan.ts";
import type { PreparedItems } from "./run_preparation.ts";

/** Slot of all printed commands, as if they ran one at a time. */
const FIRST_SLOT = 1;

/**
 * Prints the commands of a run, quoted for a shell, without starting them. Stops early if standard output no longer has
 * a reader.
 *
 * @param plan The plan.
 * @param items The opened input, template and backlog of the plan.
 * @returns The exit code.
 * @throws {UsageError} If the input can't be read, or writing to standard output fails.
 */
export async function printCommands(plan: RunPlan, { input, template, backlog }: PreparedItems): Promise<number> {
  for (const warning of template.warnings) stderr.write(`workqueue: Warning: ${warning}\n`);
  const refused = new RefusedLines();
  const chunks = readLines(bytesOf(input), {
    separator: plan.separator,
    fault: (line) => template.fault(line),
    onRefused: (lineNumber, reason) => refused.add(lineNumber, reason),
  });
  for await (const lines of chunks) {
    let text = "";
    for (const line of lines) backlog.add(line);
    for (let line = backlog.shift(); line !== undefined; line = backlog.shift()) {
      text += quoteAll(template.fill(line, FIRST_SLOT)) + "\n";
    }
    if (text !== "" && !await print(text)) break;
  }
  for (const line of refused.describe()) stderr.write(line + "\n");
  return refused.count > 0 ? EXIT.incomplete : EXIT.succeeded;
}
