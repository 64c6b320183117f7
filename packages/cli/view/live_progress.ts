import { Buffer } from "node:buffer";
import type { Tally } from "../run/tally.ts";
import type { OutputStream } from "../system/standard_streams.ts";
import { Places } from "./columns.ts";
import { liveText } from "./live_text.ts";
import { LiveRows, type Size } from "./live_rows.ts";
import { Recent } from "./recent.ts";
import { colored, plain, type Style } from "./style.ts";
import { tagLines } from "./tagged_lines.ts";
import { writeTo } from "../system/write_to.ts";

/** Time between two frames, and so the longest delay of output, in milliseconds. */
const FRAME = 100;
/** Most bytes of output that wait for a frame. A child with more output waits until they are written. */
const MAX_PENDING = 65_536;
const MAX_ROWS = 4;
/** Assumed size of a terminal that doesn't tell its size. */
const COLUMNS = 80;
const ROWS = 24;
const LINE_FEED = 0x0a;

/** Bytes to write to a stream. */
type Part = readonly [stream: OutputStream, bytes: Uint8Array];

/** Shows progress as rows at the bottom of a terminal, with the children's output above them. */
export class LiveProgress {
  readonly #tally: () => Tally;
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  readonly #style: Style;
  readonly #recent = new Recent();
  readonly #places = new Places();
  readonly #rows = new LiveRows();
  readonly #timer: ReturnType<typeof setInterval>;
  #pending: Part[] = [];
  #pendingSize = 0;
  /** Resolves when the last frame is written; `undefined` if no frame is being written. */
  #drawing: Promise<void> | undefined = undefined;
  #error: unknown = undefined;
  #hasEnded = false;

  /**
   * Begins to show progress.
   *
   * @param tally Returns how far the run has come.
   * @param stdout The stream for the children's output: the same stream as `stderr`, if it is the same terminal.
   * @param stderr The terminal.
   * @param hasColors Whether colors are used.
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

  /** Writes output, above the rows if it goes to a terminal. */
  async write(output: Uint8Array): Promise<void> {
    await (this.#stdout.isTTY ? this.#add(this.#stdout, output) : writeTo(this.#stdout, output));
  }

  /** Shows lines above the rows, each with its item before it. */
  async writeError(item: string, lines: Uint8Array): Promise<void> {
    await this.#add(this.#stderr, Buffer.from(tagLines(item, lines, this.#style)));
  }

  /** Prints a line above the rows at once. */
  note(line: string): void {
    this.#pending.push([this.#stderr, Buffer.from(line + "\n")]);
    void this.#draw();
  }

  /** Erases the rows. */
  end(): void {
    clearInterval(this.#timer);
    this.#hasEnded = true;
    void this.#draw();
  }

  /** Adds bytes to the next frame. Resolves when more can be added. */
  async #add(stream: OutputStream, bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#pending.push([stream, bytes]);
    if (bytes.at(-1) !== LINE_FEED) this.#pending.push([stream, Buffer.from("\n")]); // the rows begin on a new line
    this.#pendingSize += bytes.length;
    while (this.#pendingSize >= MAX_PENDING) await (this.#drawing ?? this.#draw());
    if (this.#hasEnded) await this.#draw();
    if (this.#error !== undefined) throw this.#error;
  }

  /** Writes a frame: pending output, and the rows below. Resolves when it is written or cannot be. */
  #draw(): Promise<void> {
    const size = { columns: this.#stderr.columns || COLUMNS, rows: this.#stderr.rows || ROWS };
    const change = this.#rows.change(this.#hasEnded ? [] : this.#text(size), size, this.#pending.length > 0);
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

  #text({ columns, rows }: Size): string[] {
    const tally = this.#tally();
    this.#recent.add(tally);
    return liveText(tally, this.#recent, {
      columns: Math.max(1, columns - 1), // in the last column, some terminals wrap and others do not
      rows: Math.min(Math.max(1, rows - 1), MAX_ROWS),
      style: this.#style,
      places: this.#places,
    });
  }
}

/** Writes parts in order, joining consecutive parts for one stream. Resolves when all are written. */
async function writeInOrder(parts: readonly Part[]): Promise<void> {
  const writes: { stream: OutputStream; bytes: Uint8Array[] }[] = [];
  for (const [stream, bytes] of parts) {
    const last = writes.at(-1);
    if (last?.stream === stream) last.bytes.push(bytes);
    else writes.push({ stream, bytes: [bytes] });
  }
  await Promise.all(writes.map(({ stream, bytes }) => writeTo(stream, Buffer.concat(bytes))));
}
