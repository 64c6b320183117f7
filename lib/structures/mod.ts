/**
 * Data structures that the packages of this repository share. **Unstable:** this entry point may change in any release.
 * Only packages of this repository should use this entry point, because each of them requires exactly this version of
 * the core.
 *
 * @example Usage
 * ```ts
 * import { NumberHeap } from "@workqueue/core/internal/structures";
 * import { assertEquals } from "@std/assert";
 *
 * const heap = new NumberHeap<string>();
 * heap.push("b", 2);
 * heap.push("a", 1);
 * assertEquals(heap.pop(), "a");
 * ```
 *
 * @module
 */

export type { GiveUpReason } from "../contracts/handler.ts";
export type * from "../contracts/item_event.ts";
export { ItemCallbacks } from "./item_callbacks.ts";
export { NumberHeap } from "./number_heap.ts";
export { RecordHeap } from "./record_heap.ts";
