import { Buffer } from "node:buffer";
import type { Tally } from "../run/tally.ts";
import type { OutputStream } from "../system/standard_streams.ts";
import { prefixLines } from "../system/prefix_lines.ts";
import { formatSeconds, printable } from "../system/text.ts";
import { writeTo } from "../system/write_to.ts";
import { pauseOf, retriesWaiting, secondsLeft, waitingOf } from "./recent.ts";

/** Longest time between two lines, in milliseconds. */
const MAX_PAUSE = 30_000;
const LINE_FEED = 0x0a;

/** Shows progress in occasional lines, suitable for a log. */
export class PlainProgress {
  readonly #tally: () => Tally;
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  readonly #startedAt = performance.now();
  #last: string | undefined = undefined;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** Starts showing progress. If `isQuiet` is true, shows only notes. */
  constructor(tally: () => Tally, stdout: OutputStream, stderr: OutputStream, isQuiet: boolean) {
    this.#tally = tally;
    this.#stdout = stdout;
    this.#stderr = stderr;
    if (!isQuiet) this.#showLater();
  }

  /** Writes output unchanged. */
  write(output: Uint8Array): Promise<void> {
    return writeTo(this.#stdout, output);
  }

  /** Writes error output. Each line begins with its item. */
  writeError(item: string, lines: Uint8Array): Promise<void> {
    const tagged = prefixLines(lines, Buffer.from(`${item}\t`));
    const isWhole = lines.at(-1) === LINE_FEED;
    return writeTo(this.#stderr, isWhole ? tagged : Buffer.concat([tagged, Buffer.from("\n")]));
  }

  /** Prints a line. */
  note(line: string): void {
    this.#stderr.write(line + "\n");
  }

  /** Prints a line. */
  keep(line: string): void {
    this.note(line);
  }

  /** Does nothing: lines stay in the log. */
  suspend(): Promise<void> {
    return Promise.resolve();
  }

  /** Does nothing. */
  resume(): void {}

  /** Stops showing progress. */
  end(): void {
    clearTimeout(this.#timer);
  }

  /**
   * Shows a line after 1, 2, 4, 8, 16 and 32 seconds, and then every 30 seconds. Even a short run shows a line, and a
   * long run doesn't fill a log.
   */
  #showLater(): void {
    const elapsed = performance.now() - this.#startedAt;
    const pause = Math.min(Math.max(1000, elapsed), MAX_PAUSE);
    this.#timer = setTimeout(() => {
      const tally = this.#tally();
      const line = describe(tally);
      // An idle worker prints one line, and no more of the same.
      const isIdle = tally.waiting?.items === 0 && tally.running + tally.queued === 0;
      if (!isIdle || line !== this.#last) this.note(line);
      this.#last = line;
      this.#showLater();
    }, pause);
  }
}

function describe(tally: Tally): string {
  const { items, isReading, doneBefore, refused, running, queued, failing, retries, givenUp, seconds, lastFailure } =
    tally;
  const { throttleState, waiting } = tally;
  const done = doneBefore + tally.succeeded + givenUp;
  const rate = (done - doneBefore) / seconds;
  const counts = [
    waiting === undefined ? `${done} of ${items}${isReading ? "+" : ""} done` : `${done} done`,
    ...[
      [running, "running"],
      [queued, "queued"],
      [failing, "failing"],
      [retries, retries === 1 ? "retry" : "retries"],
      [givenUp, "given up"],
      [refused, "refused"],
    ].filter(([count]) => count !== 0).map((words) => words.join(" ")),
    retriesWaiting(tally),
    waitingOf(tally),
    ...running > 0 || waiting === undefined ? [`${rate.toFixed(1)} items/s`] : [],
    ...throttleState === undefined || pauseOf(tally) !== undefined ? [] : [`throttle ${throttleState}`],
    pauseOf(tally) ??
      (waiting === undefined
        ? `${rate > 0 && !isReading ? formatSeconds(secondsLeft(tally, items - done, rate)) : "?"} left`
        : undefined),
  ].filter((text) => text !== undefined).join(", ");
  return failing > 0 && lastFailure !== undefined ? `${counts}; last error: ${printable(lastFailure.reason)}` : counts;
}
