/** Positions of keys, in the states of their records. */

/** Bits that hold the position. If the position is 0, the key is neither ready nor processing. */
export const POSITION = 7;
/** The key is in the order, or was refused by it. */
export const READY = 1;
/** The key was handed out and is not done. */
export const PROCESSING = 2;
/** The key is processing, and was added again. */
export const AGAIN = 3;
/** Bit of a ready or processing key that the order refused: the order doesn't know the key. */
export const REFUSED = 8;
