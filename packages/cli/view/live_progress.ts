import { Buffer } from "node:buffer";
import type { Tally } from "../run/tally.ts";
import type { OutputStream } from "../system/standard_streams.ts";
import { Places, widthOf } from "./columns.ts";
import { liveText } from "./live_text.ts";
import { LiveRows, type Size } from "./live_rows.ts";
import { Recent } from "./recent.ts";
import { colored, plain, type Style } from "./style.ts";
import { tagLines } from "./tagged_lines.ts";
import { writeTo } from "../system/write_to.ts";

/** Interval between two frames, in milliseconds. Output is delayed by at most this interval. */
const FRAME = 100;
/**
 * Largest amount of output, in bytes, that is held until the next frame. A child with more output waits until the frame
 * is written.
 */
const MAX_PENDING = 65_536;
const MAX_ROWS = 5;
/** Assumed width of a terminal that doesn't report its size. */
const COLUMNS = 80;
/** Assumed height of a terminal that doesn't report its size. */
const ROWS = 24;
const LINE_FEED = 0x0a;

/** Bytes to write to a stream. */
type Part = readonly [stream: OutputStream, bytes: Uint8Array];

/** Shows progress in rows at the bottom of a terminal, with the children's output above them. */
export class LiveProgress {
  readonly #tally: () => Tally;
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  readonly #style: Style;
  readonly #recent = new Recent();
  readonly #places = new Places();
  readonly #rows = new LiveRows();
  readonly #timer: ReturnType<typeof setInterval>;
  #kept: string | undefined = undefined;
  #pending: Part[] = [];
  #pendingSize = 0;
  /** Resolves when the last frame is written; `undefined` if no frame is being written. */
  #drawing: Promise<void> | undefined = undefined;
  #error: unknown = undefined;
  /** Whether no rows are shown, because the display has ended or is suspended. */
  #isBare = false;

  /**
   * Starts showing progress.
   *
   * @param tally Returns the progress of the run.
   * @param stdout The stream for the children's output. If standard output and standard error are the same terminal,
   * pass the same stream for both.
   * @param stderr The terminal.
   * @param hasColors Whether to use colors.
   */
  constructor(tally: () => Tally, stdout: OutputStream, stderr: OutputStream, hasColors: boolean) {
    this.#tally = tally;
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#style = hasColors ? colored : plain;
    this.#timer = setInterval(() => {
      if (this.#drawing === undefined) void this.#draw();
    }, FRAME);
  }

  /**
   * Writes output, above the rows if standard output is a terminal.
   *
   * @throws {Error} If the output can't be written.
   */
  async write(output: Uint8Array): Promise<void> {
    await (this.#stdout.isTTY ? this.#add(this.#stdout, output) : writeTo(this.#stdout, output));
  }

  /**
   * Shows error output above the rows. Each line begins with its item.
   *
   * @throws {Error} If the output can't be written.
   */
  async writeError(item: string, lines: Uint8Array): Promise<void> {
    await this.#add(this.#stderr, Buffer.from(tagLines(item, lines, this.#style)));
  }

  /** Prints a line above the rows immediately. */
  note(line: string): void {
    this.#pending.push([this.#stderr, Buffer.from(line + "\n")]);
    void this.#draw();
  }

  /** Shows a line in the rows. If the line doesn't fit on the terminal, also prints the line above the rows. */
  keep(line: string): void {
    this.#kept = line;
    const { columns, rows } = this.#area();
    if (widthOf(line) > columns || rows < MAX_ROWS) this.note(line);
  }

  /** Erases the rows until `resume` is called. Resolves when they are erased. */
  async suspend(): Promise<void> {
    this.#isBare = true;
    await this.#draw();
    await this.#drawing;
  }

  /** Shows the rows again. */
  resume(): void {
    this.#isBare = false;
    void this.#draw();
  }

  /** Erases the rows and stops. */
  end(): void {
    clearInterval(this.#timer);
    this.#isBare = true;
    void this.#draw();
  }

  /** Adds bytes to the next frame. Resolves when more bytes can be added. */
  async #add(stream: OutputStream, bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#pending.push([stream, bytes]);
    if (bytes.at(-1) !== LINE_FEED) this.#pending.push([stream, Buffer.from("\n")]); // the rows begin on a new line
    this.#pendingSize += bytes.length;
    while (this.#pendingSize >= MAX_PENDING) await (this.#drawing ?? this.#draw());
    if (this.#isBare) await this.#draw();
    if (this.#error !== undefined) throw this.#error;
  }

  /**
   * Writes a frame: pending output and the rows below it. Resolves when the frame is written or the write has failed.
   */
  #draw(): Promise<void> {
    const size = this.#size();
    const change = this.#rows.change(this.#isBare ? [] : this.#text(), size, this.#pending.length > 0);
    if (change === undefined) return Promise.resolve();
    const [before, after] = change;
    const parts: Part[] = [[this.#stderr, Buffer.from(before)], ...this.#pending, [this.#stderr, Buffer.from(after)]];
    const drawing = writeInOrder(parts).catch((error) => this.#error ??= error).then(() => {
      if (this.#drawing === drawing) this.#drawing = undefined;
    });
    this.#pending = [];
    this.#pendingSize = 0;
    return this.#drawing = drawing;
  }

  #size(): Size {
    return { columns: this.#stderr.columns || COLUMNS, rows: this.#stderr.rows || ROWS };
  }

  /** Returns the size of the area for the rows. */
  #area(): Size {
    const { columns, rows } = this.#size();
    return {
      columns: Math.max(1, columns - 1), // some terminals wrap a row that fills the last column
      rows: Math.min(Math.max(1, rows - 1), MAX_ROWS),
    };
  }

  #text(): string[] {
    const tally = this.#tally();
    this.#recent.add(tally);
    const screen = { ...this.#area(), style: this.#style, places: this.#places };
    return liveText(tally, this.#recent, screen, this.#kept);
  }
}

/** Writes parts in order. Joins consecutive parts for the same stream. Resolves when all parts are written. */
async function writeInOrder(parts: readonly Part[]): Promise<void> {
  const writes: { stream: OutputStream; bytes: Uint8Array[] }[] = [];
  for (const [stream, bytes] of parts) {
    const last = writes.at(-1);
    if (last?.stream === stream) last.bytes.push(bytes);
    else writes.push({ stream, bytes: [bytes] });
  }
  await Promise.all(writes.map(({ stream, bytes }) => writeTo(stream, Buffer.concat(bytes))));
}
