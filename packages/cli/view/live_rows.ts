/** How large a terminal is. */
export interface Size {
  /** Its width. */
  readonly columns: number;
  /** Its height. */
  readonly rows: number;
}

/**
 * What terminals are controlled by. Those that know "synchronized output" show nothing of a frame before its end, and
 * others ignore it. A row that proves wider than was thought, as some show an emoji, is cut off instead of wrapped.
 */
const BEGIN_FRAME = "\x1b[?2026h";
const END_FRAME = "\x1b[?2026l";
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const ERASE_LINE = "\x1b[K";
/** Not from the first column, as tmux takes that on its first row for clearing the screen, and keeps what was there. */
const ERASE_BELOW = `${ERASE_LINE}\x1b[C\x1b[J`;
const NO_STYLE = "\x1b[0m";
const up = (rows: number) => rows > 0 ? `\r\x1b[${rows}A` : "\r";

/**
 * Rows at the bottom of a terminal that change, with output above them.
 *
 * Between frames the cursor is at the beginning of the first row. When somebody makes the terminal narrower, it may wrap
 * rows; as the cursor stays with its text, erasing all that is below it still removes just these. (It does not in xterm.js:
 * there, what was wrapped stays on the screen, which is better than to erase output.) The cursor is never hidden: nobody
 * would bring it back if the process were killed.
 */
export class LiveRows {
  #shown: readonly string[] = [];
  #size: Size = { columns: 0, rows: 0 };

  /**
   * Says how to show other rows.
   *
   * @param rows The rows, narrower than the terminal.
   * @param size How large the terminal is now.
   * @param hasOutput Whether there is output to be printed above the rows.
   * @returns What is to be written before that output, and what after it; `undefined` if nothing is.
   */
  change(rows: readonly string[], size: Size, hasOutput: boolean): [before: string, after: string] | undefined {
    const isSameSize = size.columns === this.#size.columns && size.rows === this.#size.rows; // rows may be gone otherwise
    const isSame = rows.length === this.#shown.length && rows.every((row, y) => row === this.#shown[y]);
    if (isSame && isSameSize && !hasOutput) return undefined;
    this.#shown = rows;
    this.#size = size;
    const text = rows.map((row) => row + NO_STYLE + ERASE_LINE).join("\n") + ERASE_BELOW;
    // Rows are written over, as erasing them first would flicker; but of one that was wrapped, terminals remember that.
    const isErased = hasOutput || !isSameSize;
    return [
      BEGIN_FRAME + (isErased ? `\r${ERASE_BELOW}\r` : "\r"),
      NO_STYLE + NO_WRAP + text + up(rows.length - 1) + WRAP + END_FRAME,
    ];
  }
}
