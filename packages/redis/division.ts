import { crcOf } from "./connection/hash_slot.ts";

/** Division of a queue into partitions. */
export interface Division {
  readonly count: number;
  /** Text that ends the group of a key, if all keys of a group are in one partition; otherwise `null`. */
  readonly separator: string | null;
}

/** Division of a queue without partitions. */
export const UNDIVIDED: Division = { count: 1, separator: null };

/** Returns the division in the form in which the server has it. */
export function textOf({ count, separator }: Division): string {
  return JSON.stringify(separator === null ? [count] : [count, separator]);
}

export function divisionIn(text: string): Division {
  const [count, separator = null] = JSON.parse(text);
  return { count, separator };
}

/** Returns the names that the partitions of a queue have as queues on the server. */
export function namesOf(queue: string, { count }: Pick<Division, "count">): string[] {
  return count === 1 ? [queue] : Array.from({ length: count }, (_, i) => `${queue}#${i}`);
}

/** Returns the index of the partition of a key. */
export function indexOf({ count, separator }: Division, key: string): number {
  return indexOfGroup({ count }, separator === null ? key : key.split(separator, 1)[0]!);
}

/** Returns the index of the partition of a group: its CRC-16 modulo the number of partitions. */
export function indexOfGroup({ count }: Pick<Division, "count">, group: string): number {
  return crcOf(group) % count;
}

/** Divides entries among partitions. `indexOf` returns the partition of an entry. Node 20 has no `Map.groupBy`. */
export function byPartition<E>(entries: readonly E[], indexOf: (entry: E) => number): Map<number, E[]> {
  const parts = new Map<number, E[]>();
  for (const entry of entries) {
    const index = indexOf(entry);
    const part = parts.get(index);
    if (part === undefined) parts.set(index, [entry]);
    else part.push(entry);
  }
  return parts;
}
