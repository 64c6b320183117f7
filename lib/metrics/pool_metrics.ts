import type { Counter, Gauge, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";
import { MeasuredName } from "./measured_name.ts";

/** Takes the measurements of one pool, as far as its provider has the methods. */
export class PoolMetrics {
  readonly active: Gauge | undefined;
  readonly failures: Counter | undefined;
  readonly givenUp: Counter | undefined;
  readonly #concurrency: SettableGauge | undefined;
  readonly #shared: MeasuredName;
  /** What is this pool's of the sum. */
  #share = 0;
  #hasEnded = false;

  constructor(provider: MetricsProvider, queue: string) {
    this.active = provider.active?.(queue);
    this.failures = provider.failures?.(queue);
    this.givenUp = provider.givenUp?.(queue);
    this.#concurrency = provider.concurrency?.(queue);
    this.#shared = MeasuredName.of(provider, queue);
    this.#shared.begin();
  }

  setConcurrency(concurrency: number): void {
    if (this.#hasEnded || concurrency === this.#share) return;
    this.#shared.concurrency += concurrency - this.#share;
    this.#share = concurrency;
    dropErrors(() => this.#concurrency?.set(this.#shared.concurrency));
  }

  /** The pool measures nothing any more. */
  end(): void {
    this.setConcurrency(0);
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    dropErrors(() => this.#shared.end());
  }
}

/** What a metric throws that concerns no item has nobody to go to, and must not keep a pool from ending. */
function dropErrors(action: () => void): void {
  try {
    action();
  } catch {
    // As said.
  }
}
