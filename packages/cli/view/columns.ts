/**
 * Texts as wide as they are on a terminal, where some characters take two columns and others none.
 *
 * @module
 */

import measure from "fast-string-width";

const ELLIPSIS = "…";
// deno-lint-ignore no-control-regex -- that is what terminals are controlled by
const STYLE = /(\x1b\[[\d;]*m)/;

/** How many columns a text takes. Styles take none. */
export function widthOf(text: string): number {
  return measure(text);
}

/** Cuts off the end of a text that takes more columns than that. All its styles stay, so that none is left open. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let left = columns - widthOf(ELLIPSIS);
  let shown = "";
  let isFull = columns < widthOf(ELLIPSIS);
  for (const part of text.split(STYLE)) {
    if (STYLE.test(part)) shown += part;
    else if (!isFull) {
      for (const character of charactersOf(part)) {
        left -= widthOf(character);
        isFull = left < 0;
        shown += isFull ? ELLIPSIS : character;
        if (isFull) break;
      }
    }
  }
  return shown;
}

/** Cuts out the middle of a text without styles that takes more columns than that: errors tell most at their ends. */
export function cutMiddle(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const start = cut(text, Math.min(Math.ceil((columns + 1) / 2), columns));
  let left = columns - widthOf(start);
  let end = "";
  for (const character of charactersOf(text).reverse()) {
    left -= widthOf(character);
    if (left < 0) break;
    end = character + end;
  }
  return start + end;
}

/** Its characters as people see them. */
function charactersOf(text: string): string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

/** Makes texts as wide as the widest that has stood in the same place, so that what comes after them stays where it is. */
export class Places {
  readonly #widths = new Map<string, number>();

  /** Fills a text up with spaces. */
  fill(place: string, text: string): string {
    const width = widthOf(text);
    const widest = Math.max(this.#widths.get(place) ?? 0, width);
    this.#widths.set(place, widest);
    return text + " ".repeat(widest - width);
  }
}
