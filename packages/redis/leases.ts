import type { ErrorCode } from "@workqueue/core";
import type { Engine } from "./engine.ts";

/** A lease, as far as its time is concerned. */
export interface TimedLease {
  readonly token: bigint;
  /** Others may have the right to the item from now on. */
  lose(reason: Error): void;
}

/** So many renewals are tried in the time of a lease. */
const RENEWALS = 3;

/** All leases that this process has of a queue. They last together, as one renewal is for all of them. */
export class Leases<L extends TimedLease> {
  readonly #engine: Engine;
  readonly #process: string;
  readonly #held = new Set<L>();
  /** An owner who has lost its leases is never heard of again. */
  #generation = 0;
  /** When the latest renewal was sent that was answered. */
  #renewedAt = 0;
  #renewal: ReturnType<typeof setTimeout> | undefined = undefined;
  #end: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(engine: Engine, process: string) {
    this.#engine = engine;
    this.#process = process;
  }

  /** Under which name the leases are held. */
  get owner(): string {
    return `${this.#process}.${this.#generation}`;
  }

  /** How many there are beside these. */
  countWithout(leases: readonly L[]): number {
    return this.#held.size - leases.filter((lease) => this.#held.has(lease)).length;
  }

  get tokens(): string[] {
    return [...this.#held].map(({ token }) => `${token}`);
  }

  /** Takes in leases that came with the answer to a call that was sent at `sentAt`. Their time counts from then. */
  add(leases: readonly L[], sentAt: number): void {
    if (leases.length === 0) return;
    for (const lease of leases) this.#held.add(lease);
    this.#renewedAt = Math.max(this.#renewedAt, sentAt);
    if (this.#renewal === undefined) this.#renewLater();
    if (this.#end === undefined) this.#checkEnd();
  }

  /**
   * Aborts all leases if their time is over by the clock of this process. Called before work begins, as timers can be
   * late.
   */
  check(): void {
    if (this.#left <= 0) this.#tellEnd();
  }

  /** A lease is finished, or it is not known any more whether it is. */
  delete(lease: L): void {
    this.#held.delete(lease);
    if (this.#held.size === 0) this.#stop();
  }

  /** The server has taken everything away. */
  loseAll(): void {
    this.#generation++;
    this.#lose([...this.#held], `The lease of ${this.#engine.settings.leaseDuration} ms was not renewed in time`);
  }

  /** The server does not know these tokens: it has come back with what it knew some time before. */
  lose(tokens: ReadonlySet<string>): void {
    const leases = [...this.#held].filter(({ token }) => tokens.has(`${token}`));
    this.#lose(leases, "The server has lost what it knew of the lease");
  }

  #lose(leases: readonly L[], message: string): void {
    for (const lease of leases) this.delete(lease);
    tell(leases, `${message}, and others may have the item now`);
  }

  #stop(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#end);
    this.#renewal = this.#end = undefined;
  }

  async #renew(): Promise<void> {
    const { owner } = this;
    const sentAt = performance.now();
    try {
      const isThere = await this.#engine.renew(owner);
      if (owner === this.owner && this.#held.size > 0) {
        if (isThere) this.#renewedAt = Math.max(this.#renewedAt, sentAt);
        else this.loseAll();
      }
    } catch {
      // The leases end if that goes on, and whoever finishes one is told.
    }
    if (this.#held.size > 0) this.#renewLater();
    else this.#renewal = undefined;
  }

  #renewLater(): void {
    clearTimeout(this.#renewal);
    this.#renewal = setTimeout(() => this.#renew(), this.#engine.settings.leaseDuration / RENEWALS);
  }

  /** By the clock of this process the leases may be over, whatever the server says once it can be asked. */
  #checkEnd(): void {
    this.#end = undefined;
    if (this.#held.size === 0) return;
    const left = this.#left;
    if (left <= 0) this.#tellEnd();
    this.#end = setTimeout(() => this.#checkEnd(), left > 0 ? left : this.#engine.settings.leaseDuration);
  }

  /** In how many milliseconds the leases end, unless they are renewed. */
  get #left(): number {
    return this.#renewedAt + this.#engine.settings.leaseDuration - performance.now();
  }

  #tellEnd(): void {
    tell(
      this.#held,
      `The lease of ${this.#engine.settings.leaseDuration} ms was not renewed, as the server did not answer`,
    );
  }
}

function tell(leases: Iterable<TimedLease>, message: string): void {
  const reason = new DOMException(message, "AbortError");
  const code: ErrorCode = "WQ_LEASE_LOST";
  Object.defineProperty(reason, "code", { value: code, enumerable: true }); // covers the number that the class has
  for (const lease of leases) lease.lose(reason);
}
