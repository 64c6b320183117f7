/** Source of random numbers from 0 (inclusive) to 1 (exclusive), such as `Math.random`. */
export type Random = () => number;
