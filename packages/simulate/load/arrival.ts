/** An item that arrives. */
export interface Arrival {
  /** Number of the arrival, from 0. */
  readonly number: number;
  /** Time in milliseconds from the start. */
  readonly at: number;
  readonly key: string;
  readonly group: string;
  readonly priority: number;
}
