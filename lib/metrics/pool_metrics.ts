import type { GiveUpReason } from "../contracts/handler.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import { type MeasuredName, measureName } from "./measured_name.ts";
import { type Meter, meterOf } from "./meter.ts";

/**
 * Measurements of one pool. Metrics for which the provider has no method are omitted. Only the constructor may throw:
 * it passes on any error that the provider throws when creating a metric.
 */
export class PoolMetrics {
  readonly active: Meter | undefined;
  readonly failures: Meter | undefined;
  readonly givenUp: Readonly<Record<GiveUpReason, Meter | undefined>>;
  readonly #concurrency: Meter | undefined;
  readonly #shared: MeasuredName;
  /** This pool's contribution to the shared concurrency. */
  #share = 0;
  #hasEnded = false;

  constructor(provider: MetricsProvider, queue: string) {
    this.active = meterOf(provider, "active", queue);
    this.failures = meterOf(provider, "failures", queue);
    const givenUp = (reason: GiveUpReason) => meterOf(provider, "givenUp", queue, reason);
    this.givenUp = { // created in advance, so that each series starts at 0 and its rate is correct
      maxRetries: givenUp("maxRetries"),
      terminal: givenUp("terminal"),
      shutdown: givenUp("shutdown"),
      stalled: givenUp("stalled"),
      limiter: givenUp("limiter"),
    };
    this.#concurrency = meterOf(provider, "concurrency", queue);
    this.#shared = measureName(provider, queue);
  }

  setConcurrency(concurrency: number): void {
    if (this.#hasEnded || concurrency === this.#share) return;
    this.#shared.concurrency += concurrency - this.#share;
    this.#share = concurrency;
    this.#concurrency?.set(this.#shared.concurrency);
  }

  /** Ends the pool's measurements. */
  end(): void {
    this.setConcurrency(0);
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#shared.end();
  }
}
