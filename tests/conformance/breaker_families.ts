import type { Permit, Throttle } from "@workqueue/core";
import { createBreakerThrottle } from "@workqueue/core/throttles";
import { StepClock } from "./step_clock.ts";
import type { Trace } from "./trace.ts";

const STATES = ["closed", "open", "probing"] as const;
type State = typeof STATES[number];
const OPEN = STATES.indexOf("open");

/** Names of the deliberate differences. A trace begins with the index of the only one that it may contain. */
const EXCEPTIONS = ["", "rounded-share", "success-makes-room", "late-results-count", "window-parts"] as const;

interface Attempt {
  readonly permit: Permit;
  /** Number of changes of the state before the attempt. */
  readonly era: number;
}

/** Replay of a trace of a circuit breaker. */
class BreakerReplay {
  readonly #mode: number;
  readonly #ratio: number;
  readonly #minAttempts: number;
  readonly #window: number;
  readonly #throttle: Throttle;
  readonly #clock = new StepClock();
  readonly #attempts: Attempt[] = [];
  #state: State = "closed";
  /** Number of changes of the recorded state. */
  #era = 0;
  #results: { at: number; hasFailed: boolean; isLate: boolean }[] = [];

  constructor(readonly trace: Trace) {
    this.#mode = trace.next();
    this.#ratio = trace.next();
    this.#minAttempts = trace.next();
    this.#window = trace.next() / 1e6;
    this.#throttle = createBreakerThrottle({
      failureRatio: this.#ratio,
      minAttempts: this.#minAttempts,
      window: this.#window,
      openFor: trace.next() / 1e6,
      probes: trace.next(),
      clock: this.#clock,
    });
  }

  run(): void {
    for (let operation = this.trace.operation(); operation !== undefined; operation = this.trace.operation()) {
      const received = [...this.#perform(operation), this.#throttleState(), this.#wait()];
      const isAllowed = operation === "acquire" ? [this.trace.next()] : [];
      const [code, wait] = [this.trace.next(), this.trace.next()];
      // failsafe-go stays open until somebody asks, after the time has passed.
      const state = code === OPEN && wait === 0 ? "probing" : STATES[code]!;
      const recorded = [...isAllowed, state, wait];
      if (`${received}` !== `${recorded}`) {
        this.#explain(received, recorded);
        return; // from now on, the breakers are in different states
      }
      this.#noteState(state);
    }
  }

  /** Performs an operation. Returns its result, if it has one. */
  #perform(operation: string): number[] {
    switch (operation) {
      case "acquire":
        return [this.#acquire()];
      case "end":
        this.#end();
        return [];
      case "wait":
        this.#clock.step(this.trace.next());
        return [];
      default:
        throw new Error(`Cannot replay ${operation}`);
    }
  }

  #acquire(): number {
    const permit = this.#throttle.acquire();
    if (typeof permit === "number") return 0;
    permit.begin(1);
    this.#attempts.push({ permit, era: this.#era });
    return 1;
  }

  #end(): void {
    const { permit, era } = this.#attempts[this.trace.next()]!;
    const hasFailed = this.trace.next() === 1;
    this.#results.push({ at: this.#clock.now(), hasFailed, isLate: era !== this.#era });
    permit.end({ outcome: hasFailed ? "failed" : "succeeded", durationMs: 0 });
  }

  #throttleState(): State {
    const [word] = this.#throttle.snapshot!().state.split(/[ :]/);
    return STATES.find((state) => state === word)!;
  }

  /** Time in ns until the throttle lets probes through, and 0 if it isn't open. */
  #wait(): number {
    return this.#throttleState() === "open" ? Math.round(this.#throttle.acquire() as number * 1e6) : 0;
  }

  #noteState(state: State): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#era++;
    if (state !== "open") this.#results = [];
  }

  /** Counts the difference if it is the one that the trace may contain. */
  #explain(received: readonly unknown[], recorded: readonly unknown[]): void {
    const name = EXCEPTIONS[this.#mode]!;
    if (!this.#isExplained(name, received, recorded)) this.trace.fail("state", received, recorded);
    this.trace.except(name);
  }

  #isExplained(name: string, received: readonly unknown[], recorded: readonly unknown[]): boolean {
    const now = this.#clock.now();
    const share = (results: readonly { hasFailed: boolean }[]) =>
      results.filter(({ hasFailed }) => hasFailed).length / results.length;
    switch (name) {
      case "rounded-share": {
        const last = this.#results.filter(({ at }) => now - at < this.#window);
        return recorded[0] === "open" && share(last) < this.#ratio && share(last) >= this.#ratio - 0.005;
      }
      case "success-makes-room":
        return received[0] === 0 && recorded[0] === 1 && this.#results.some(({ hasFailed }) => !hasFailed);
      case "late-results-count":
        return this.#results.some(({ isLate }) => isLate);
      case "window-parts":
        return this.#results.some(({ at }) => now - at > 0.9 * this.#window && now - at <= this.#window);
      default:
        return false;
    }
  }
}

/** Replays a trace of a circuit breaker of failsafe-go on the breaker throttle. */
export function replayBreaker(trace: Trace): void {
  new BreakerReplay(trace).run();
}
