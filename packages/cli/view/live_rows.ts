/** Size of a terminal. */
export interface Size {
  /** Number of columns. */
  readonly columns: number;
  /** Number of rows. */
  readonly rows: number;
}

/**
 * Start of a frame. Terminals with "synchronized output" show a frame only when it is complete. Other terminals ignore
 * this sequence.
 */
const BEGIN_FRAME = "\x1b[?2026h";
const END_FRAME = "\x1b[?2026l";
/**
 * Makes the terminal cut off rows that are too wide instead of wrapping them. Some terminals show emoji wider than
 * expected.
 */
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const ERASE_LINE = "\x1b[K";
/**
 * Erases the row of the cursor and all rows below. The last sequence, which erases everything after the cursor, is sent
 * in the second column. If tmux receives that sequence in the first column of the first row, tmux saves the erased text
 * in its history.
 */
const ERASE_BELOW = `${ERASE_LINE}\x1b[C\x1b[J`;
const NO_STYLE = "\x1b[0m";
const up = (rows: number) => rows > 0 ? `\r\x1b[${rows}A` : "\r";

/**
 * Updates rows at the bottom of a terminal, below the output.
 *
 * Between frames, the cursor is at the beginning of the first row. When a terminal gets narrower, it might wrap rows.
 * The cursor stays at the beginning of the first row's text, so erasing everything below the cursor still removes only
 * the rows. In xterm.js, wrapped rows stay on the screen, which is better than erasing output. The cursor is never
 * hidden because it would stay hidden if the process were killed.
 */
export class LiveRows {
  #shown: readonly string[] = [];
  #size: Size = { columns: 0, rows: 0 };

  /**
   * Returns the text that replaces the rows on the terminal, in two parts.
   *
   * @param rows The new rows, narrower than the terminal.
   * @param size The current size of the terminal.
   * @param hasOutput Whether there is output to print above the rows.
   * @returns The strings to write before and after the output; `undefined` if there is nothing to write.
   */
  change(rows: readonly string[], size: Size, hasOutput: boolean): [before: string, after: string] | undefined {
    // After a resize, rows may be gone.
    const isSameSize = size.columns === this.#size.columns && size.rows === this.#size.rows;
    const isSame = rows.length === this.#shown.length && rows.every((row, y) => row === this.#shown[y]);
    if (isSame && isSameSize && !hasOutput) return undefined;
    this.#shown = rows;
    this.#size = size;
    const text = rows.map((row) => row + NO_STYLE + ERASE_LINE).join("\n") + ERASE_BELOW;
    // Rows are usually overwritten because erasing them first would flicker. Rows are erased before output is printed,
    // and after a resize because some rows might be wrapped.
    const isErased = hasOutput || !isSameSize;
    return [
      BEGIN_FRAME + (isErased ? `\r${ERASE_BELOW}\r` : "\r"),
      NO_STYLE + NO_WRAP + text + up(rows.length - 1) + WRAP + END_FRAME,
    ];
  }
}
