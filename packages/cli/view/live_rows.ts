/** Size of a terminal. */
export interface Size {
  /** Width. */
  readonly columns: number;
  /** Height. */
  readonly rows: number;
}

/**
 * Control sequences. Terminals with "synchronized output" show a frame only when it is complete; others ignore this. A
 * row that is wider than expected, as emoji are on some terminals, is cut off instead of wrapped.
 */
const BEGIN_FRAME = "\x1b[?2026h";
const END_FRAME = "\x1b[?2026l";
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const ERASE_LINE = "\x1b[K";
/**
 * From the second column: on its first row, tmux takes it from the first column as clearing the screen, and keeps the
 * text.
 */
const ERASE_BELOW = `${ERASE_LINE}\x1b[C\x1b[J`;
const NO_STYLE = "\x1b[0m";
const up = (rows: number) => rows > 0 ? `\r\x1b[${rows}A` : "\r";

/**
 * Rows at the bottom of a terminal that change, with output above them.
 *
 * Between frames the cursor is at the beginning of the first row. A terminal that gets narrower may wrap rows. The
 * cursor stays with its text, so erasing everything below it still removes just the rows. (Not in xterm.js: there,
 * wrapped rows stay on the screen, which is better than erased output.) The cursor is never hidden: it would stay
 * hidden if the process were killed.
 */
export class LiveRows {
  #shown: readonly string[] = [];
  #size: Size = { columns: 0, rows: 0 };

  /**
   * Returns how to replace the rows.
   *
   * @param rows The new rows, narrower than the terminal.
   * @param size The size of the terminal now.
   * @param hasOutput Whether there is output to print above the rows.
   * @returns The texts to write before and after that output; `undefined` if there is nothing to write.
   */
  change(rows: readonly string[], size: Size, hasOutput: boolean): [before: string, after: string] | undefined {
    const isSameSize = size.columns === this.#size.columns && size.rows === this.#size.rows; // else rows may be gone
    const isSame = rows.length === this.#shown.length && rows.every((row, y) => row === this.#shown[y]);
    if (isSame && isSameSize && !hasOutput) return undefined;
    this.#shown = rows;
    this.#size = size;
    const text = rows.map((row) => row + NO_STYLE + ERASE_LINE).join("\n") + ERASE_BELOW;
    // Rows are overwritten, as erasing them first would flicker. After a resize they are erased, as some may be
    // wrapped.
    const isErased = hasOutput || !isSameSize;
    return [
      BEGIN_FRAME + (isErased ? `\r${ERASE_BELOW}\r` : "\r"),
      NO_STYLE + NO_WRAP + text + up(rows.length - 1) + WRAP + END_FRAME,
    ];
  }
}
