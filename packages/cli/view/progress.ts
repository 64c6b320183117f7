import { createLogUpdate } from "log-update";
import type { Tally } from "../run/tally.ts";
import type { OutputStream } from "../system/standard_streams.ts";
import { formatSeconds } from "../system/text.ts";

/** Shows how far a run has come, on standard error. */
export interface Progress {
  /** Writes what a child printed to standard output. Resolves when it is written; rejects if it cannot be. */
  write(output: Uint8Array): Promise<void>;
  /** Prints a line to standard error. */
  note(line: string): void;
  /** Shows nothing more. */
  end(): void;
}

/** How often the live line changes, in milliseconds. */
const FRAME = 100;
/** The longest time between two plain lines, likewise. */
const MAX_PAUSE = 30_000;

/**
 * Shows progress: as a line that stays and changes where standard error is a terminal, and else as a line
 * now and then.
 *
 * @param tally Says how far the run has come.
 * @param stdout Where the children's output goes.
 * @param stderr Where progress goes.
 * @returns The progress, which is being shown.
 */
export function showProgress(tally: () => Tally, stdout: OutputStream, stderr: OutputStream): Progress {
  const isTerminal = stderr.isTTY && (stderr.columns ?? 0) > 0; // some have no width: nothing could be shown there
  return isTerminal ? new LiveProgress(tally, stdout, stderr) : new PlainProgress(tally, stdout, stderr);
}

class PlainProgress implements Progress {
  readonly #startedAt = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(readonly tally: () => Tally, readonly stdout: OutputStream, readonly stderr: OutputStream) {
    this.#showLater();
  }

  write(output: Uint8Array): Promise<void> {
    return writeTo(this.stdout, output);
  }

  note(line: string): void {
    this.stderr.write(line + "\n");
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  /** After one second, two, four and so on: a short run shows something, and a long one does not fill a log. */
  #showLater(): void {
    const elapsed = performance.now() - this.#startedAt;
    const pause = Math.min(Math.max(1000, elapsed), MAX_PAUSE);
    this.#timer = setTimeout(() => {
      this.note(describe(this.tally()));
      this.#showLater();
    }, pause);
  }
}

class LiveProgress implements Progress {
  readonly #line: ReturnType<typeof createLogUpdate>;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(readonly tally: () => Tally, readonly stdout: OutputStream, readonly stderr: OutputStream) {
    // The cursor stays: nobody would bring it back if the process were killed.
    this.#line = createLogUpdate(stderr as NodeJS.WritableStream, { showCursor: true });
    this.#timer = setInterval(() => this.#show(), FRAME);
  }

  async write(output: Uint8Array): Promise<void> {
    if (!this.stdout.isTTY) return await writeTo(this.stdout, output);
    this.#line.clear();
    const written = writeTo(this.stdout, output);
    if (output.at(-1) !== 0x0a) this.stdout.write("\n"); // the line below would be written into what came last
    this.#show();
    await written;
  }

  note(line: string): void {
    this.#line.clear();
    this.stderr.write(line + "\n");
    this.#show();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#line.clear();
  }

  #show(): void {
    this.#line(describe(this.tally()));
  }
}

function describe(tally: Tally): string {
  const { items, isReading, refused, inFlight, waiting, failing, retries, givenUp, seconds } = tally;
  const done = tally.succeeded + givenUp;
  const rate = done / seconds;
  return [
    `${done} of ${items}${isReading ? "+" : ""} done`,
    `${inFlight} in flight`,
    `${waiting} waiting`,
    `${failing} failing`,
    `${retries} retried`,
    `${givenUp} given up`,
    ...(refused > 0 ? [`${refused} refused`] : []),
    `${rate.toFixed(1)} items/s`,
    `${done > 0 && !isReading ? formatSeconds((items - done) / rate) : "?"} left`,
  ].join(", ");
}

function writeTo(stream: OutputStream, output: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(output, (error) => error === undefined ? resolve() : reject(error));
  });
}
