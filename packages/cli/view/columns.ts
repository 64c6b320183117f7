/**
 * Widths of strings on a terminal, where some characters take up two columns and others none.
 *
 * @module
 */

import measure from "fast-string-width";

const ELLIPSIS = "…";
// deno-lint-ignore no-control-regex -- control sequences of terminals
const STYLE = /(\x1b\[[\d;]*m)/;

/** Returns the number of columns that a string takes up. Styles take up none. */
export function widthOf(text: string): number {
  return measure(text);
}

/**
 * Truncates a string to at most `columns` columns. Keeps all its style sequences, so that no style remains in effect
 * after it.
 */
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

/**
 * Shortens an unstyled string to at most `columns` columns by removing its middle. The beginning and the end of an
 * error message matter most.
 */
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

/** Returns the user-perceived characters (grapheme clusters). */
function charactersOf(text: string): string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

/**
 * Pads each string to the width of the widest string shown so far in the same place, so that the strings to its right
 * don't move.
 */
export class Places {
  readonly #widths = new Map<string, number>();

  /** Pads a string with spaces. */
  fill(place: string, text: string): string {
    const width = widthOf(text);
    const widest = Math.max(this.#widths.get(place) ?? 0, width);
    this.#widths.set(place, widest);
    return text + " ".repeat(widest - width);
  }
}
