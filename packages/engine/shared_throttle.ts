import type { AttemptResult, OwnThrottle, Permit, Throttle, ThrottleSnapshot } from "@workqueue/core/hooks";
import { createGate, type Gate, type GateContext } from "./gate.ts";
import type { GatePlan } from "./throttle_store.ts";

/** Key of a token bucket's function that returns the bucket as a throttle. All copies of the core use the same key. */
const THROTTLE: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.throttle");

/**
 * Throttle of a config whose gates all processes share. An attempt needs a permit of the local throttle, which has the
 * state that only this process knows (a pause of a bucket, a breaker in an `all-of`), and then a permit of each gate.
 *
 * A permit of a gate is requested only when a pool has an item, and arrives later. So `acquire` refuses at first, and
 * `onChange` says when to ask again.
 */
export class SharedThrottle implements OwnThrottle {
  readonly #local: OwnThrottle;
  readonly #context: GateContext;
  #gates: readonly Gate[];
  /** Gates that no longer apply to new attempts, until the throttle is closed. */
  readonly #past = new Set<Gate>();
  readonly #permits = new Set<SharedPermit>();
  readonly #listeners = new Set<() => void>();
  /** Returns the number of items for which pools of this process need permits. */
  readonly #countItems: () => number;

  constructor(
    local: Throttle,
    plans: readonly GatePlan[],
    countItems: () => number,
    context: Omit<GateContext, "onChange">,
  ) {
    this.#local = (local as { [THROTTLE]?: () => OwnThrottle })[THROTTLE]?.() ?? local;
    this.#countItems = countItems;
    this.#context = { ...context, onChange: () => this.#changed() };
    this.#gates = plans.map((plan) => createGate(plan, this.#context));
  }

  get ignoresDurations(): boolean {
    return this.#local.ignoresDurations === true;
  }

  get free(): number {
    return Math.min(this.#local.free ?? Infinity, ...this.#gates.map(({ free }) => free));
  }

  /** Changes the gates. A gate that is new or used again counts the running attempts. */
  change(plans: readonly GatePlan[]): void {
    const before = new Map([...this.#gates, ...this.#past].map((gate) => [keyOf(gate.plan), gate]));
    this.#gates = plans.map((plan) => {
      const key = keyOf(plan);
      const known = before.get(key);
      before.delete(key);
      if (known !== undefined) this.#past.delete(known);
      known?.change(plan);
      return this.#adoptedBy(known ?? createGate(plan, this.#context));
    });
    for (const gate of before.values()) {
      gate.want(0);
      gate.keep(0);
      this.#past.add(gate);
    }
    this.#changed();
  }

  acquire(): Permit | number {
    const local = this.#local.acquire();
    if (typeof local === "number") {
      this.#cancel();
      return local;
    }
    let wanted = Math.max(this.#countItems(), 1);
    for (const gate of this.#gates) {
      if (!gate.hasStock()) {
        gate.want(wanted);
        local.end({ outcome: "unused", durationMs: 0 });
        return Infinity;
      }
      wanted = Math.min(wanted, gate.stock);
    }
    for (const gate of this.#gates) {
      gate.take();
      gate.want(0); // if the pool needs more, it asks again in this turn
    }
    return this.#permitOf(local, this.#gates);
  }

  adopt(): Permit {
    for (const gate of this.#gates) gate.adopt();
    return this.#permitOf(this.#local.adopt?.(), this.#gates);
  }

  leave(): void {
    this.#local.leave?.();
    this.#cancel();
  }

  charge(cost: number): void {
    this.#local.charge?.(cost);
    for (const gate of this.#gates) gate.charge(cost);
  }

  onChange(callback: () => void): () => void {
    const listener = () => callback();
    this.#listeners.add(listener);
    const end = this.#local.onChange?.(() => {
      for (const gate of this.#gates) gate.tell(); // it may have another limit
      listener();
    });
    return () => {
      this.#listeners.delete(listener);
      end?.();
    };
  }

  snapshot(): ThrottleSnapshot {
    return this.#local.snapshot?.() ?? { limit: Infinity, inUse: this.#permits.size, state: "" };
  }

  /** Whether no pool uses the throttle. */
  get isUnused(): boolean {
    return this.#permits.size + this.#listeners.size === 0;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#gates, ...this.#past].map((gate) => gate.close()));
  }

  /** Returns the gate, which then counts all running attempts. */
  #adoptedBy(gate: Gate): Gate {
    for (const permit of this.#permits) {
      if (permit.gates.includes(gate)) continue;
      gate.adopt();
      permit.gates.push(gate);
    }
    return gate;
  }

  #permitOf(local: Permit | undefined, gates: readonly Gate[]): Permit {
    const permit = new SharedPermit(local, [...gates], () => this.#permits.delete(permit));
    this.#permits.add(permit);
    return permit;
  }

  #cancel(): void {
    for (const gate of this.#gates) gate.want(0);
    this.#settle();
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
    this.#settle();
  }

  /** Gives back permits that no pool has taken. A permit is kept while a pool waits for a permit of the next gate. */
  #settle(): void {
    for (const [i, gate] of this.#gates.entries()) gate.keep(this.#gates[i + 1]?.wanted ?? 0);
  }
}

/** Returns the identity of a gate. A part of an `all-of` may change its type and keep its place. */
function keyOf({ kind, id }: GatePlan): string {
  return `${kind} ${id}`;
}

class SharedPermit implements Permit {
  readonly gates: Gate[];
  readonly #local: Permit | undefined;
  readonly #onEnd: () => void;

  constructor(local: Permit | undefined, gates: Gate[], onEnd: () => void) {
    this.#local = local;
    this.gates = gates;
    this.#onEnd = onEnd;
  }

  begin(cost: number): void {
    this.#local?.begin(cost);
    for (const gate of this.gates) gate.charge(cost - 1);
  }

  charge(cost: number): void {
    this.#local?.charge(cost);
    for (const gate of this.gates) gate.charge(cost);
  }

  end(result: AttemptResult): void {
    this.#onEnd();
    this.#local?.end(result);
    for (const gate of this.gates) gate.end(result.outcome === "unused");
  }
}
