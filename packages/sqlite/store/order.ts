import type { Item } from "./item.ts";

/** Group with blocked keys, and the time at which it may have more ready keys. */
export interface BlockedGroup {
  readonly group: string;
  readonly blocked: number;
  readonly reason: "paused" | "probing" | "limit" | "rate";
  readonly changesAt: number | undefined;
}

/** Order in which the ready keys of a queue are handed out. */
export interface Order {
  /** Whether a key goes further ahead the longer it waits, compared to keys of other priorities. */
  readonly ages: boolean;
  /** Number of keys that can be handed out now. */
  readonly ready: number;
  /**
   * Makes a key ready that is in no line.
   *
   * @param place The time when it became ready.
   */
  add(item: Item, place: number): void;
  /** Reports whether the group of a key in the line of the order is blocked. */
  blocks(item: Item): boolean;
  /** Removes a key from the line of the order. */
  remove(item: Item): void;
  /** Called after the priority of a ready key was raised. */
  raised(item: Item, before: number): void;
  /** Called when the work on a key has ended, before its holder is removed. */
  ended(item: Item): void;
  /** Reports whether a key that is in no line of the order may be handed out. */
  admits(item: Item): boolean;
  /** Called when a key is handed out that was in no line of the order. */
  admit(item: Item): void;
  /** Called for each key that is processing when the order is put in force. */
  adopt(item: Item): void;
  /** Returns the group of a key; `undefined` if the order has no groups. */
  groupOf(key: string): string | undefined;
  /** Unblocks keys whose time has come. */
  advance(time: number): void;
  /** Returns the next time at which blocked keys become ready; `undefined` if there is none. */
  nextChange(): number | undefined;
  pauseGroup(name: string, until: number): void;
  resumeGroup(name: string): void;
  /** Returns groups with blocked keys, in any order. */
  blockedGroups(count: number): BlockedGroup[];
  /** Writes the changes. */
  flush(): void;
  /** Removes the next keys from their lines. The notes about them are in the items. */
  take(count: number): Taken[];
  /** Returns the rows of the next keys. */
  list(count: number): Readonly<Item>[];
}

/** Key that was taken, and the time when it became ready. */
export interface Taken {
  readonly item: Item;
  readonly place: number;
}
