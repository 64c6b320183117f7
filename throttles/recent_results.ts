/** Number of parts of the window. The oldest part is forgotten as a whole. */
const PARTS = 10;

interface Part {
  readonly from: number;
  attempts: number;
  failures: number;
}

/** Numbers of attempts and of failures in a time that ends now. */
export class RecentResults {
  /** Length of the time, in milliseconds. */
  window: number;
  #parts: Part[] = [];

  constructor(window: number) {
    this.window = window;
  }

  add(now: number, hasSucceeded: boolean): void {
    let part = this.#parts.at(-1);
    if (part === undefined || now - part.from >= this.window / PARTS) {
      this.#parts.push(part = { from: now, attempts: 0, failures: 0 });
    }
    part.attempts++;
    if (!hasSucceeded) part.failures++;
  }

  /** Returns the numbers in the time that ends at `now`. */
  at(now: number): { attempts: number; failures: number } {
    while (this.#parts.length > 0 && now - this.#parts[0]!.from >= this.window) this.#parts.shift();
    let [attempts, failures] = [0, 0];
    for (const part of this.#parts) {
      attempts += part.attempts;
      failures += part.failures;
    }
    return { attempts, failures };
  }

  clear(): void {
    this.#parts = [];
  }
}
