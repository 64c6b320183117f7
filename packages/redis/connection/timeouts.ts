import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import type { Call } from "./call.ts";

/**
 * Calls with the same timeout, oldest first. One timer serves all calls. The calls form a linked list, because a `Map`
 * with such short-lived entries would burden the garbage collector.
 */
export class Timeouts {
  readonly #ms: number;
  readonly #onOver: (call: Call) => void;
  #first: Call | undefined;
  #last: Call | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Calls `onOver` with each call whose timeout has passed. `onOver` must delete the call. */
  constructor(ms: number, onOver: (call: Call) => void) {
    this.#ms = ms;
    this.#onOver = onOver;
  }

  *[Symbol.iterator](): Generator<Call> {
    for (let call = this.#first; call !== undefined; call = call.next) yield call;
  }

  add(call: Call): void {
    call.end = performance.now() + this.#ms;
    call.previous = this.#last;
    if (this.#last === undefined) this.#first = call;
    else this.#last.next = call;
    this.#last = call;
    if (this.#timer === undefined) this.#wait(this.#ms);
  }

  delete(call: Call): void {
    const { previous, next } = call;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    call.previous = call.next = undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #wait(ms: number): void {
    // If this process was paused, answers that arrived during the pause are read first.
    this.#timer = setTimeout(() => setImmediate(() => this.#look()), ms);
    this.#timer.unref(); // a connection that can still bring an answer keeps the process alive
  }

  #look(): void {
    this.#timer = undefined;
    const now = performance.now();
    while (this.#first !== undefined && this.#first.end <= now) this.#onOver(this.#first);
    if (this.#first !== undefined) this.#wait(this.#first.end - now);
  }
}
