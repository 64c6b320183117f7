import type { HeldLease } from "./lease.ts";

/**
 * Leases that this process works on. After a process has lost a lease, it may get the same key again while the old
 * handler is still running. The new lease then waits until the old work ends, because two handlers in one process must
 * never work on the same key.
 */
export class Working<T> {
  readonly #current = new Map<string, HeldLease<T>>();
  readonly #next = new Map<string, HeldLease<T>>();

  get size(): number {
    return this.#current.size + this.#next.size;
  }

  /**
   * Reports whether work on the lease may begin now. If not, `end` returns this lease when the current work on its key
   * ends.
   */
  begin(lease: HeldLease<T>): boolean {
    const line = this.#current.has(lease.key) ? this.#next : this.#current;
    line.set(lease.key, lease);
    return line === this.#current;
  }

  /** Ends the work on a lease. Returns the lease whose work on the same key can begin now, if a lease was waiting. */
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

  /** Leases that are waiting for other work on their key to end. */
  get waiting(): HeldLease<T>[] {
    return [...this.#next.values()];
  }
}
