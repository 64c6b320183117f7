import type { Arrival } from "../load/arrival.ts";
import { Distribution } from "./distribution.ts";

/** An item between its first arrival and its end. */
export interface OpenItem {
  /** The arrival that began it. */
  readonly arrival: Arrival;
  /** Number of attempts so far. */
  attempts: number;
  /** Time at which the latest attempt began, and the number of attempts that began at this time. */
  latest: { at: number; attempts: number };
  /** Whether an attempt is running. */
  isRunning: boolean;
  /** Whether the running attempt never ends by itself. */
  isHanging: boolean;
  /** Whether events of the key are being made while it fails. */
  hasEvents: boolean;
  /** Reason of the latest failure; `undefined` if the latest attempt hasn't failed. */
  failing: string | undefined;
  /** Arrival of the same key while the item was worked on: the item begins anew when this attempt succeeds. */
  again: Arrival | undefined;
  /** Indexes of the outages in whose backlogs the item is. */
  outages: number[] | undefined;
}

/** Creates an item that begins with an arrival. */
export function newItem(arrival: Arrival): OpenItem {
  return {
    arrival,
    attempts: 0,
    latest: { at: -1, attempts: 0 },
    isRunning: false,
    isHanging: false,
    hasEvents: false,
    failing: undefined,
    again: undefined,
    outages: undefined,
  };
}

/** Times of a class of items. */
export class ClassTimes {
  /** Times from ready to the start of an attempt. */
  readonly waits = new Distribution();
  /** Times from the arrival to the success. */
  readonly totals = new Distribution();
}

/** Times of all items, and of the items of each group and of each priority. */
export class Ledger {
  readonly all = new ClassTimes();
  readonly byGroup = new Map<string, ClassTimes>();
  readonly byPriority = new Map<number, ClassTimes>();

  readonly #warmUp: number;

  /** Creates a ledger that leaves out arrivals before `warmUp`. */
  constructor(groups: readonly string[], priorities: readonly number[], warmUp: number) {
    this.#warmUp = warmUp;
    for (const group of groups) this.byGroup.set(group, new ClassTimes());
    for (const priority of priorities) this.byPriority.set(priority, new ClassTimes());
  }

  waited(arrival: Arrival, ms: number): void {
    for (const times of this.#classesOf(arrival)) times.waits.add(ms);
  }

  ended(arrival: Arrival, ms: number): void {
    for (const times of this.#classesOf(arrival)) times.totals.add(ms);
  }

  #classesOf({ at, group, priority }: Arrival): ClassTimes[] {
    if (at < this.#warmUp) return [];
    const classes = [this.all];
    const ofGroup = this.byGroup.get(group);
    const ofPriority = this.byPriority.get(priority);
    if (ofGroup !== undefined) classes.push(ofGroup);
    if (ofPriority !== undefined) classes.push(ofPriority);
    return classes;
  }
}
