import { Buffer } from "node:buffer";
import { parseDuration, RetryAfterError } from "@workqueue/core";

/** Longest line that is checked, in characters. Lines of the expected form are shorter. */
const MAX_LENGTH = 200;
const FORM = /^\s*retry-after:\s*(\S|\S.*\S)\s*$/i;
/** Longest delay: 2^31 seconds, in milliseconds, as for the `Retry-After` header of HTTP. */
const MAX_DELAY = 2 ** 31 * 1000;

/** Finds the last line such as `retry-after: 30s`, `retry-after: 30` or `retry-after: DATE` in a stream of bytes. */
export class RetryAfterLine {
  #rest = "";
  #delay = 0;

  /** Adds bytes of the stream. */
  write(chunk: Uint8Array): void {
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1"); // the form is ASCII
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!.slice(0, MAX_LENGTH + 1); // a line that is too long stays too long
    for (const line of lines) this.#delay = delayIn(line) ?? this.#delay;
  }

  /** Delay in the last line of this form, in milliseconds; 0 if there is no such line. */
  get delay(): number {
    return delayIn(this.#rest) ?? this.#delay;
  }
}

/** Returns the delay in a line, in milliseconds; `undefined` if the line doesn't have the expected form. */
function delayIn(line: string): number | undefined {
  const text = line.length > MAX_LENGTH ? undefined : FORM.exec(line)?.[1];
  if (text === undefined) return undefined;
  if (text.includes(" ")) return delayUntil(text);
  try {
    const delay = parseDuration(/^\d+(\.\d+)?$/.test(text) ? `${text}s` : text);
    return delay >= 0 ? Math.min(delay, MAX_DELAY) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the time until a date in a format of HTTP, in milliseconds; `undefined` if the text is no such date. */
function delayUntil(date: string): number | undefined {
  const headers = { get: (name: string) => name === "retry-after" ? date : null };
  return RetryAfterError.from({ status: 503, headers })?.delay;
}
