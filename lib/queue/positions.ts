/** States of keys, in the states of their records: a position and flags. */

/** Bits that hold the position. If the position is 0, the key is neither ready, blocked nor processing. */
export const POSITION = 7;
/** The key is in the order, or was refused by it. */
export const READY = 1;
/** The key is a retry that is due and waits for budget. */
export const BLOCKED = 2;
/** The key is done, and leaves once the order has been told so. */
export const LEAVING = 4;
/** The key is done and was added again. It becomes ready once the order has been told of its end. */
export const RETURNING = 5;
/** The key was handed out and is not done. */
export const PROCESSING = 6;
/** The key is processing, and was added again. */
export const AGAIN = 7;

/** The order refused the key, which is ready or processing. The order doesn't know the key. */
export const REFUSED = 8;
/** Bits of a delay: the next three. */
export const DELAY = 112;
/** The key is delayed, independently of its position. */
export const DELAYED = 16;
/** The delay is that of a retry, which needs budget. */
export const RETRY_DELAYED = 32;
/** The key is delayed because its attempt failed, and adds are folded into that delay. */
export const FOLDING = 64;

/** The next attempt at the key is a retry, which needs budget. */
export const NEEDS_BUDGET = 128;
/** The next attempt at the key is neither a retry nor a first attempt. */
export const EXEMPT = 256;
/** The key is ready, and its next attempt is not a first attempt. */
export const REPEATED = 512;

/** The work on the key was cancelled during its hand-out. */
export const CANCELLED = 4096;

/** Failures of the key are remembered. The record keeps its item, if the item is not the key. */
export const REMEMBERED = 1024;
/** The last attempt at the key failed. */
export const FAILING = 2048;
