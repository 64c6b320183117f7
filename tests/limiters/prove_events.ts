import { courseOf, OUTAGE_LIMITERS } from "./outage.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const MODES = ["keep", "replace", "fold"] as const;

/** Lengths of outages, and the most events per second in each, so that the whole takes minutes. */
const OUTAGES = [
  { duration: SECOND, maxRate: 1000 },
  { duration: 10 * SECOND, maxRate: 1000 },
  { duration: MINUTE, maxRate: 1000 },
  { duration: 10 * MINUTE, maxRate: 100 },
  { duration: HOUR, maxRate: 10 },
];
const RATES = [0.1, 1, 10, 100, 1000];
const LASTS = [0, 50];

/** Figures over all outages of a limiter. */
interface Figures {
  /** Time between the first success without events and with them, in milliseconds. */
  late: number;
  /** The same, as a share of what rule 17 allows. */
  lateShare: number;
  /** Attempts with events for each attempt without events. */
  attempts: number;
  /** Failures counted with events and not without. */
  counted: number;
  /** Outages in which a key with `maxRetries: 8` was given up with events and not without. */
  givenUp: number;
}

/**
 * Compares outages with events and without them, and prints a table (rule 17): each built-in limiter, inside of
 * `ignore-early` and as it is, with each way to add what is delayed. Reports whether `ignore-early` keeps its bounds.
 */
export async function proveEvents(): Promise<boolean> {
  const isLong = (limiter: typeof OUTAGE_LIMITERS[number]) => limiter === OUTAGE_LIMITERS[0];
  let isProven = true;
  console.log(
    "\n| limiter | ignore-early | adds | success later by | share of bound | attempts | counted | given up |",
  );
  console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const limiter of OUTAGE_LIMITERS) {
    const outages = OUTAGES.map(({ duration, maxRate }) => {
      return { duration, maxRate: isLong(limiter) && duration === HOUR ? 1000 : maxRate };
    });
    for (const isIgnoring of [false, true]) {
      for (const addWhileDelayed of MODES) {
        const tried = isIgnoring ? { type: "ignore-early", limiter } as const : limiter;
        const worst: Figures = { late: 0, lateShare: 0, attempts: 0, counted: 0, givenUp: 0 };
        for (const { duration, maxRate } of outages) {
          for (const lasts of LASTS) {
            const outage = { limiter: tried, addWhileDelayed, duration, lasts, hasLaterEvents: false };
            const without = await courseOf({ ...outage, interval: Infinity });
            const withoutRetries = await courseOf({ ...outage, interval: Infinity, maxRetries: 8 });
            for (const rate of RATES.filter((rate) => rate <= (isIgnoring ? maxRate : Math.min(maxRate, 10)))) {
              const course = await courseOf({ ...outage, interval: SECOND / rate });
              const late = course.endedAt! - without.endedAt!;
              // Each retry may be up to 1 ms late, because timers are set for whole milliseconds.
              const allowed = without.attempts.length * (lasts + 1);
              worst.late = Math.max(worst.late, late);
              worst.lateShare = Math.max(worst.lateShare, late / allowed);
              worst.attempts = Math.max(worst.attempts, course.attempts.length / without.attempts.length);
              worst.counted = Math.max(worst.counted, course.highest - without.highest);
              if (withoutRetries.endedAt === undefined) continue;
              const withRetries = await courseOf({ ...outage, interval: SECOND / rate, maxRetries: 8 });
              if (withRetries.endedAt === undefined) worst.givenUp++;
            }
          }
        }
        if (isIgnoring && (worst.lateShare > 1 || worst.counted > 0 || worst.givenUp > 0)) isProven = false;
        if (addWhileDelayed === "fold" && worst.attempts > 1) isProven = false;
        const name = JSON.stringify(limiter).replaceAll('"', "");
        console.log(
          `| ${name} | ${isIgnoring ? "yes" : "no"} | ${addWhileDelayed} | ${Math.round(worst.late)} ms | ` +
            `${worst.lateShare.toFixed(2)} | × ${worst.attempts.toFixed(1)} | +${worst.counted} | ${worst.givenUp} |`,
        );
      }
    }
  }
  return isProven;
}
