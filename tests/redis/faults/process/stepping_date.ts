/** Wall clock that steps. Import this module first, so that all others use the clock like the clock of the machine. */

/** Time of the machine, in milliseconds since 1970. */
export const realNow: () => number = Date.now;

let ahead = 0;
Date.now = () => realNow() + ahead;

/** Sets the wall clock ahead, or back if `ms` is negative. */
export function stepClock(ms: number): void {
  ahead += ms;
}
