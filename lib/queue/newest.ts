/** The name of what a layer asks the queue below it. It is for our own queues and no part of their interface. */
export const newest: unique symbol = Symbol("newest");

/** A queue that may know of a newer item. */
export interface TellsNewest<T> {
  /**
   * The newest item with the key of this one, if this very item is being worked on: whatever was added since is
   * newer, even if this one is added again after it, because it failed. Undefined if nobody works on this item.
   */
  [newest]?(item: T): T | undefined;
}
