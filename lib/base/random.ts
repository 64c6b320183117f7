/** Source of random numbers from 0 to 1 (both inclusive), such as `Math.random`, which never returns 1. */
export type Random = () => number;
