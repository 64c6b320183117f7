import { printable } from "../system/text.ts";
import { cutMiddle } from "./columns.ts";
import type { Style } from "./style.ts";

const MAX_TAG = 24;
const RESET = "\x1b[0m";

/**
 * Prefixes each line of a child's error output with the item. Keeps color codes and tabs. Replaces all other control
 * characters with U+FFFD because they could overwrite the tag or the rows below.
 *
 * @param item The item.
 * @param lines The bytes of the lines.
 * @param style The style of the tag.
 * @returns The lines, each ending with a line feed.
 */
export function tagLines(item: string, lines: Uint8Array, style: Style): string {
  const tag = style("dim", `${cutMiddle(printable(item), MAX_TAG)} |`);
  const texts = new TextDecoder().decode(lines).replace(/\r?\n$/, "").split(/\r?\n/);
  return texts.map((text) => `${tag} ${harmless(text)}\n`).join("");
}

function harmless(line: string): string {
  // Programs that show progress use a carriage return to overwrite the preceding text.
  const shown = line.split("\r").findLast((text) => text !== "") ?? "";
  // deno-lint-ignore no-control-regex -- terminal control sequences
  const text = shown.replace(/(\x1b\[[\d;:]*m|\t)|\p{Cc}/gu, (_all, kept) => kept ?? "\u{FFFD}");
  return text.includes("\x1b") ? text + RESET : text;
}
