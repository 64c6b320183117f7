import xterm from "@xterm/headless";
import type { Capture } from "./capture.ts";

/** Text in one style. */
export interface Span {
  /** The column in which it begins. */
  readonly column: number;
  readonly text: string;
  readonly style: Style;
}

/** How text is shown. */
export interface Style {
  /** One of the terminal's first eight colours, from 0 on; `undefined` for that of all text. */
  readonly color: number | undefined;
  readonly isBold: boolean;
  readonly isDim: boolean;
}

/** What was on the screen from some time on. */
export interface Frame {
  /** That time, in seconds. */
  readonly at: number;
  /** Its rows, from the top. */
  readonly rows: readonly (readonly Span[])[];
}

/** How many frames there are in a second at most. */
const RATE = 5;
const COLORS = 8;

/**
 * Shows what a program wrote on the screen of a terminal.
 *
 * @param capture What it wrote.
 * @returns The screens that differ from the one before, a few in a second.
 */
export async function framesOf({ size, writes }: Capture): Promise<Frame[]> {
  const terminal = new xterm.Terminal({ cols: size.columns, rows: size.rows, allowProposedApi: true });
  const frames: Frame[] = [];
  let last = "";
  for (const [i, { at, text }] of writes.entries()) {
    await new Promise<void>((resolve) => terminal.write(text, resolve));
    const slot = Math.floor(at * RATE);
    const next = writes[i + 1];
    if (next !== undefined && Math.floor(next.at * RATE) === slot) continue;
    if (next !== undefined && terminal.modes.synchronizedOutputMode) continue; // half of what is to be seen at once
    const rows = rowsOf(terminal);
    if (JSON.stringify(rows) === last) continue;
    last = JSON.stringify(rows);
    frames.push({ at: slot / RATE, rows });
  }
  terminal.dispose();
  return frames;
}

function rowsOf({ buffer: { active }, rows }: xterm.Terminal): Span[][] {
  return Array.from({ length: rows }, (_, y) => spansOf(active.getLine(active.baseY + y)!));
}

/** The text of a row. Spaces at the ends of a span are left out. */
function spansOf(line: xterm.IBufferLine): Span[] {
  const spans: Span[] = [];
  for (let column = 0; column < line.length; column++) {
    const cell = line.getCell(column)!;
    const text = cell.getChars() || " ".repeat(cell.getWidth());
    const style = styleOf(cell);
    const span = spans.at(-1);
    if (span !== undefined && isSame(span.style, style)) spans[spans.length - 1] = { ...span, text: span.text + text };
    else spans.push({ column, text, style });
  }
  return spans.map(({ column, text, style }) => {
    const indent = text.length - text.trimStart().length;
    return { column: column + indent, text: text.trim(), style };
  }).filter(({ text }) => text !== "");
}

function styleOf(cell: xterm.IBufferCell): Style {
  const hasColor = cell.isFgPalette() && cell.getFgColor() < COLORS;
  return { color: hasColor ? cell.getFgColor() : undefined, isBold: cell.isBold() !== 0, isDim: cell.isDim() !== 0 };
}

function isSame(a: Style, b: Style): boolean {
  return a.color === b.color && a.isBold === b.isBold && a.isDim === b.isDim;
}
