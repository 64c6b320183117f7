import type { MetricsProvider } from "../contracts/metrics.ts";

/**
 * What the queues and pools of one name have in common that send their measurements to one provider.
 *
 * A pool ends a little after its queue has nothing left. Only then is the provider told that the queue is gone: nothing is
 * measured after that.
 */
export class MeasuredName {
  /** How many handlers may run at once, over all pools. */
  concurrency = 0;
  readonly #provider: MetricsProvider;
  readonly #name: string;
  #pools = 0;
  /** How many queues have ended and are still to be called gone. */
  #ended = 0;

  private constructor(provider: MetricsProvider, name: string) {
    this.#provider = provider;
    this.#name = name;
  }

  static of(provider: MetricsProvider, name: string): MeasuredName {
    let names = measured.get(provider);
    if (names === undefined) measured.set(provider, names = new Map());
    let found = names.get(name);
    if (found === undefined) names.set(name, found = new MeasuredName(provider, name));
    return found;
  }

  poolBegins(): void {
    this.#pools++;
  }

  poolEnds(): void {
    this.#pools--;
    this.#sayGone();
  }

  queueEnds(): void {
    this.#ended++;
    this.#sayGone();
  }

  #sayGone(): void {
    if (this.#pools > 0) return;
    measured.get(this.#provider)?.delete(this.#name); // names may come and go; what is left of this one is known to nobody
    while (this.#ended > 0) {
      this.#ended--;
      this.#provider.gone?.(this.#name);
    }
  }
}

const measured = /* @__PURE__ */ new WeakMap<MetricsProvider, Map<string, MeasuredName>>();
