import { printable } from "../system/text.ts";
import { cutMiddle } from "./columns.ts";
import type { Style } from "./style.ts";

const MAX_TAG = 24;
const RESET = "\x1b[0m";

/**
 * What a child wrote to its standard error, each line with its item in front. Colors are kept; other control characters
 * could write over the tag or the rows below, and are shown as U+FFFD.
 *
 * @param item The item.
 * @param lines The bytes.
 * @param style How the tag is set off.
 * @returns The lines, each with a line feed.
 */
export function tagLines(item: string, lines: Uint8Array, style: Style): string {
  const tag = style("dim", `${cutMiddle(printable(item), MAX_TAG)} |`);
  const texts = new TextDecoder().decode(lines).replace(/\r?\n$/, "").split(/\r?\n/);
  return texts.map((text) => `${tag} ${harmless(text)}\n`).join("");
}

function harmless(line: string): string {
  // What comes after a carriage return is meant to replace what was before it, as in progress that programs show.
  const shown = line.split("\r").findLast((text) => text !== "") ?? "";
  // deno-lint-ignore no-control-regex -- that is what terminals are controlled by
  const text = shown.replace(/(\x1b\[[\d;:]*m|\t)|\p{Cc}/gu, (_all, kept) => kept ?? "\u{FFFD}");
  return text.includes("\x1b") ? text + RESET : text;
}
