import { escapePointer } from "../registry/objects.ts";

/** Where a limiter with a name is described: a JSON Pointer. */
export function limiterPath(name: string): string {
  return `/limiters/${escapePointer(name)}`;
}

/** Where a queue is described: a JSON Pointer. */
export function queuePath(name: string): string {
  return `/queues/${escapePointer(name)}`;
}
