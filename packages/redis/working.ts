import type { HeldLease } from "./lease.ts";

/**
 * What this process works on. It may be handed a key again whose lease it has lost, while its old handler goes on: that
 * new lease has to wait for the end of the old work, as within a process no two ever work on the same key.
 */
export class Working<T> {
  readonly #current = new Map<string, HeldLease<T>>();
  readonly #next = new Map<string, HeldLease<T>>();

  get size(): number {
    return this.#current.size + this.#next.size;
  }

  /** Whether the work on a lease may begin now. If not, `end` of the old one gives it. */
  begin(lease: HeldLease<T>): boolean {
    const line = this.#current.has(lease.key) ? this.#next : this.#current;
    line.set(lease.key, lease);
    return line === this.#current;
  }

  /** The work on a lease has ended. Returns the lease that has waited for that. */
  end(lease: HeldLease<T>): HeldLease<T> | undefined {
    const { key } = lease;
    if (this.#next.get(key) === lease) this.#next.delete(key);
    if (this.#current.get(key) !== lease) return undefined;
    this.#current.delete(key);
    const next = this.#next.get(key);
    if (next !== undefined) this.#current.set(key, next);
    this.#next.delete(key);
    return next;
  }

  /** The leases that wait for the end of other work. */
  get waiting(): HeldLease<T>[] {
    return [...this.#next.values()];
  }
}
