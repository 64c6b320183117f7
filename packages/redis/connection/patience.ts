import { clearTimeout, setImmediate, setTimeout } from "node:timers";

/** What is waited for, each equally long, with one timer for all of it. */
export class Patience {
  readonly #ms: number;
  /** When each is over, the earliest first. */
  readonly #ends = new Map<() => void, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Calls back when it has been waited for long enough, until the function returned is called. */
  add(onOver: () => void): () => void {
    this.#ends.set(onOver, performance.now() + this.#ms);
    if (this.#timer === undefined) this.#wait(this.#ms);
    return () => {
      this.#ends.delete(onOver);
      if (this.#ends.size === 0) this.#onEmpty?.();
    };
  }

  /** Resolves when nothing is waited for. Nothing must be added after. */
  async empty(): Promise<void> {
    if (this.#ends.size > 0) await new Promise<void>((resolve) => this.#onEmpty = resolve);
    clearTimeout(this.#timer);
  }

  #wait(ms: number): void {
    // After a pause of this process, the answers that have come meanwhile are read first.
    this.#timer = setTimeout(() => setImmediate(() => this.#look()), ms);
    this.#timer.unref(); // whatever can bring an answer keeps the process
  }

  #look(): void {
    this.#timer = undefined;
    for (const [onOver, end] of this.#ends) {
      const left = end - performance.now();
      if (left > 0) return this.#wait(left);
      onOver();
    }
  }
}
