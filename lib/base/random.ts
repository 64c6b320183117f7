/** Source of random numbers from 0 to 1. The source may return both 0 and 1, although `Math.random` never returns 1. */
export type Random = () => number;
