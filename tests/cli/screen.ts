/** A terminal as people see it: what is written to it becomes rows. */

import xterm from "@xterm/headless";

/** The screen of a terminal, with what has scrolled off above it. */
export class Screen {
  readonly #terminal: xterm.Terminal;

  constructor(columns: number, rows: number) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
  }

  /** Resolves when it is shown. */
  write(output: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(output, resolve));
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** Everything that is there, without empty rows at the end. A line that is wider than the screen is one line. */
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

  /** What is on the screen and has not scrolled off. */
  get rows(): string[] {
    const { active } = this.#terminal.buffer;
    return Array.from(
      { length: this.#terminal.rows },
      (_, y) => active.getLine(active.baseY + y)!.translateToString(true),
    );
  }

  /** The color of the first place where a text stands, as the number that programs give it; `undefined` for none. */
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
