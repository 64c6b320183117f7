/** Terminal emulator that converts output to visible rows. */

import xterm from "@xterm/headless";

/** Screen of a terminal, with its scrollback. */
export class Screen {
  readonly #terminal: xterm.Terminal;

  constructor(columns: number, rows: number) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
  }

  /** Resolves once the output is shown. */
  write(output: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(output, resolve));
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /**
   * All lines including the scrollback, without empty rows at the end. A line wider than the screen is returned as one
   * line.
   */
  get lines(): string[] {
    const { active } = this.#terminal.buffer;
    const lines: string[] = [];
    for (let y = 0; y < active.length; y++) {
      const line = active.getLine(y)!;
      if (line.isWrapped) lines.push(lines.pop()! + line.translateToString(true));
      else lines.push(line.translateToString(true));
    }
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  /** Rows on the screen, without the scrollback. */
  get rows(): string[] {
    const { active } = this.#terminal.buffer;
    return Array.from(
      { length: this.#terminal.rows },
      (_, y) => active.getLine(active.baseY + y)!.translateToString(true),
    );
  }

  /** Returns the color number of the first occurrence of a text; `undefined` if the text has no color. */
  colorOf(text: string): number | undefined {
    const { active } = this.#terminal.buffer;
    for (let y = 0; y < active.length; y++) {
      const line = active.getLine(y)!;
      const x = line.translateToString(false).indexOf(text);
      if (x < 0) continue;
      const cell = line.getCell(x)!;
      return cell.isFgDefault() ? undefined : cell.getFgColor();
    }
    throw new Error(`'${text}' is not on the screen`);
  }
}
