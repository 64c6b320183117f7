/** A source of random numbers from 0 up to, and not including, 1, as `Math.random` is. */
export type Random = () => number;
