import xterm from "@xterm/headless";
import type { Capture } from "./capture.ts";

/** Text in one style. */
export interface Span {
  /** Column in which the text begins. */
  readonly column: number;
  readonly text: string;
  readonly style: Style;
}

/** Style of text. */
export interface Style {
  /** Number of one of the terminal's first eight colors, from 0; `undefined` for the default color. */
  readonly color: number | undefined;
  readonly isBold: boolean;
  readonly isDim: boolean;
}

/** Content of the screen, and the time at which the screen changes to it. */
export interface Frame {
  /** Time of the frame, in seconds. */
  readonly at: number;
  /** Rows of the screen, from the top. */
  readonly rows: readonly (readonly Span[])[];
}

/** Maximum number of frames per second. */
const RATE = 5;
const COLORS = 8;

/**
 * Renders a program's output as a terminal would show it.
 *
 * @param capture The output.
 * @returns The distinct screens, at most a few per second.
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
    if (next !== undefined && terminal.modes.synchronizedOutputMode) continue; // the update of the screen is incomplete
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

/** Returns the spans of a row. Omits spaces at the start and end of a span. */
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
