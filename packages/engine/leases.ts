import type { ErrorCode } from "@workqueue/core";
import type { CancelledKey, HandOuts } from "./engine.ts";

/** Part of a lease's interface that `Leases` uses. */
export interface TimedLease {
  readonly token: bigint;
  /** Whether an attempt has begun to work on the item. */
  readonly hasBegun: boolean;
  /** Called when the engine might hand out the item to another process. */
  lose(reason: Error): void;
  /** Called when the item was cancelled, perhaps several times. */
  cancel(reason: string): void;
  /** Called when the item was added again, perhaps several times. */
  addAgain(): void;
}

/** Returns the name of the process of an owner. */
export function processOf(owner: string): string {
  return owner.replace(/\.\d+$/, "");
}

/** Number of renewals in one lease duration. */
const RENEWALS = 3;

/** All leases of this process on one queue. The leases expire together, because one renewal covers all of them. */
export class Leases<L extends TimedLease> {
  readonly #engine: HandOuts;
  readonly #process: string;
  readonly #held = new Set<L>();
  /** Whether the leases must be told when their items are added again. */
  tellsAdds = false;
  /** Number in the owner's name. Increases when the owner loses its leases, so that an old name is never reused. */
  #generation = 0;
  /** Send time of the latest successful call that took or renewed leases. */
  #renewedAt = 0;
  #isRenewing = false;
  /**
   * Whether another renewal must follow the running one, because its reply may not have the latest changes, or the next
   * lease.
   */
  #mustRenew = false;
  #renewal: ReturnType<typeof setTimeout> | undefined = undefined;
  #end: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(engine: HandOuts, process: string) {
    this.#engine = engine;
    this.#process = process;
  }

  /** Name by which the engine knows the owner of the leases. */
  get owner(): string {
    return `${this.#process}.${this.#generation}`;
  }

  /** Returns the number of leases, not counting the given leases. */
  countWithout(leases: readonly L[]): number {
    return this.#held.size - leases.filter((lease) => this.#held.has(lease)).length;
  }

  get tokens(): string[] {
    return [...this.#held].map(({ token }) => `${token}`);
  }

  /** Adds leases from the reply to a call that was sent at `sentAt`. The lease duration starts at that time. */
  add(leases: readonly L[], sentAt: number): void {
    if (leases.length === 0) return;
    for (const lease of leases) this.#held.add(lease);
    this.#renewedAt = Math.max(this.#renewedAt, sentAt);
    if (this.#renewal === undefined) this.#renewLater();
    if (this.#end === undefined) this.#checkEnd();
    if (this.#mustRenew && !this.#isRenewing) this.#renew();
  }

  /**
   * Aborts all leases if they have expired according to this process's clock. Called before work begins, because timers
   * can be late.
   */
  check(): void {
    if (this.#left <= 0) this.#tellEnd();
  }

  /** Removes a lease that was finished, or whose finish request has an unknown result. */
  delete(lease: L): void {
    this.#held.delete(lease);
    if (this.#held.size === 0) this.#stop();
  }

  /** Called when the engine has taken all leases away. */
  loseAll(): void {
    this.#generation++;
    this.#lose([...this.#held], `The lease of ${this.#engine.settings.leaseDuration} ms was not renewed in time`);
  }

  /** Called with tokens that the engine no longer knows about, because it was reset to an earlier state. */
  lose(tokens: ReadonlySet<string>): void {
    const leases = [...this.#held].filter(({ token }) => tokens.has(`${token}`));
    this.#lose(leases, "The server has lost what it knew of the lease");
  }

  /** Aborts the leases of running attempts, because others may have got their permits. The engine keeps the leases. */
  losePermits(): void {
    tell(
      [...this.#held].filter(({ hasBegun }) => hasBegun),
      `The permit of the attempt was not renewed within ${this.#engine.settings.leaseDuration} ms, as the server did ` +
        "not answer, and others may have it now",
    );
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

  /** Tells the leases from now on when their items are added again. */
  tellAdds(): void {
    if (this.tellsAdds) return;
    this.tellsAdds = true;
    this.renew();
  }

  /**
   * Renews the leases now, because something has changed for one of their items, which may be on its way to this
   * process.
   */
  renew(): void {
    if (this.#isRenewing || this.#held.size === 0) this.#mustRenew = true;
    else this.#renew();
  }

  async #renew(): Promise<void> {
    const { owner } = this;
    const sentAt = performance.now();
    this.#isRenewing = true;
    this.#mustRenew = false;
    try {
      const news = await this.#engine.renew(owner, this.tellsAdds);
      if (owner === this.owner && this.#held.size > 0) {
        if (news === undefined) this.loseAll();
        else {
          this.#renewedAt = Math.max(this.#renewedAt, sentAt);
          this.#cancel(news.cancelled);
          this.#addAgain(news.addedAgain);
        }
      }
    } catch {
      // If renewals keep failing, the leases expire, and `finish` reports that.
    }
    this.#isRenewing = false;
    if (this.#held.size === 0) this.#renewal = undefined;
    else if (this.#mustRenew) this.#renew();
    else this.#renewLater();
  }

  #cancel(cancelled: readonly CancelledKey[]): void {
    if (cancelled.length === 0) return;
    const reasons = new Map(cancelled.map(({ token, reason }) => [token, reason]));
    for (const lease of this.#held) {
      const reason = reasons.get(`${lease.token}`);
      if (reason !== undefined) lease.cancel(reason);
    }
  }

  #addAgain(addedAgain: readonly string[]): void {
    if (addedAgain.length === 0) return;
    const tokens = new Set(addedAgain);
    for (const lease of this.#held) if (tokens.has(`${lease.token}`)) lease.addAgain();
  }

  #renewLater(): void {
    clearTimeout(this.#renewal);
    this.#renewal = setTimeout(() => this.#renew(), this.#engine.settings.leaseDuration / RENEWALS);
  }

  /**
   * Aborts the leases when they expire according to this process's clock, without asking the engine.
   */
  #checkEnd(): void {
    this.#end = undefined;
    if (this.#held.size === 0) return;
    const left = this.#left;
    if (left <= 0) this.#tellEnd();
    this.#end = setTimeout(() => this.#checkEnd(), left > 0 ? left : this.#engine.settings.leaseDuration);
  }

  /** Milliseconds until the leases expire, unless they are renewed. */
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
  Object.defineProperty(reason, "code", { value: code, enumerable: true }); // hides the inherited `code`
  for (const lease of leases) lease.lose(reason);
}
