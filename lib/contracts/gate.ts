import type { Clock } from "../base/clock.ts";
import type { WorkLease, WorkSource } from "./work_source.ts";

/** Pool with a throttle, as the gate that the throttle brings sees it. */
export interface GatedPool<T> {
  readonly source: WorkSource<T>;
  readonly settings: GateSettings<T>;
  /** Whether the pool waits for an item with `take` of its source. */
  readonly isWaiting: boolean;
  /** Whether `take` has said that no more items will come. */
  readonly isShutDown: boolean;
  /** Whether one more handler may start now. */
  readonly mayStart: boolean;
  /** Takes items as long as handlers may start. */
  fill(): void;
  /** Stops waiting for an item and for a permit, and hands back items for which no handler may start. */
  takeBack(): void;
}

/** Settings of a pool that its gate reads. */
export interface GateSettings<T> {
  readonly clock: Clock;
  /** Returns what an attempt at an item costs; `undefined` if each attempt costs 1. */
  readonly cost: ((item: T) => number) | undefined;
  /** Reports whether an error of a handler means that the backend is overloaded. */
  readonly isOverload: ((error: unknown) => boolean) | undefined;
}

/** Gate between a pool and its source, which lets an item through when a throttle grants a permit. */
export interface Gate<T> {
  /** Whether the pool stands in the line of the throttle. */
  readonly isInLine: boolean;
  /** Whether the pool must wait for an item with `take`, because `tryTake` has returned none. */
  readonly needsItem: boolean;
  /** Number of permits that would probably be granted now. */
  readonly free: number;
  /** Returns an item that may begin now. If there is none, and the pool need not wait, the gate calls `fill` later. */
  tryTake(): WorkLease<T> | undefined;
  /** Keeps an item that the pool has waited for, until a permit is granted. */
  keep(lease: WorkLease<T>): void;
  /** Leaves the line. Returns the kept item, which the pool hands back. */
  takeBack(): WorkLease<T> | undefined;
  /** Returns the permit of the attempt that begins now; `undefined` if it begins without one. */
  takePermit(): GatePermit<T> | undefined;
  /** Books the cost of an attempt that begins without a permit, so that later attempts start correspondingly later. */
  chargeAhead(): void;
  /** Returns the permit of a running attempt, which may have had one of another gate, or none. */
  adopt(permit: GatePermit<T> | undefined): GatePermit<T> | undefined;
  /** Ends the use of the throttle. */
  end(): void;
}

/** Permit of an attempt. */
export interface GatePermit<T> {
  /** Books the cost of an attempt at an item. Throws if the cost is invalid. */
  begin(item: T): void;
  /**
   * Adds `cost` to the cost of the attempt. A negative `cost` is given back, but never more than the attempt has taken.
   */
  charge(cost: number): void;
  /** Notes that the attempt failed. Throws if `isOverload` of the pool throws. */
  fail(error: unknown, hasTimedOut: boolean): void;
  /** Ends the permit as unused: the attempt can't begin, or doesn't count. Does nothing if the permit has ended. */
  putBack(): void;
  /** Ends the permit. Does nothing if it has ended, for example at the timeout of the attempt. */
  end(): void;
}

/** Opens the gate of a throttle for a pool. */
export type OpenGate = <T>(throttle: object, pool: GatedPool<T>) => Gate<T>;
