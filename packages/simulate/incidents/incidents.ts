/** An incident: a load and two configs in a folder, of which one is better. */
export interface Incident {
  readonly folder: string;
  readonly title: string;
  /** Name of the better config, and of the other. */
  readonly better: string;
  readonly worse: string;
  /** Figure that shows it. */
  readonly by: string;
  /** Reason, in a sentence. */
  readonly why: string;
}

/** All incidents. */
export const incidents: readonly Incident[] = [
  {
    folder: "outage",
    title: "The backend is down for five minutes",
    better: "short-delays",
    worse: "long-delays",
    by: "recovery",
    why: "With a longest delay of 1,000 s, items that failed early in the outage wait long after it has ended.",
  },
  {
    folder: "retry-storm",
    title: "Retries keep a recovered backend busy",
    better: "patient",
    worse: "eager",
    by: "recovery",
    why:
      "Two hundred workers and short delays send more attempts than the backend can do in time, so all of them time out.",
  },
  {
    folder: "poison-key",
    title: "One key in a hundred always fails",
    better: "bounded",
    worse: "endless",
    by: "unfinished",
    why: "Without a maximum number of retries, keys that always fail stay forever, and cost more and more attempts.",
  },
  {
    folder: "hot-tenant",
    title: "One tenant imports all its data at once",
    better: "fair",
    worse: "fifo",
    by: "p99 total of group small",
    why: "First in, first out puts the small tenant behind 3,000 items of the big one; fairness takes turns.",
  },
  {
    folder: "thundering-herd",
    title: "A thousand items retry at the same moment",
    better: "spread-out",
    worse: "in-step",
    by: "attempts",
    why: "Equal delays make all items return together, and the backend refuses most of them each time.",
  },
  {
    folder: "events-during-backoff",
    title: "Events arrive for keys that are failing",
    better: "replace",
    worse: "keep",
    by: "attempts",
    why:
      "With keep, an event starts an attempt now and the delayed retry still follows; with replace there is one of them.",
  },
  {
    folder: "deploy-under-load",
    title: "A deploy during an outage forgets all delays",
    better: "throttled",
    worse: "unlimited",
    by: "requests",
    why: "The new process tries all unfinished items at once; a throttle spreads them.",
  },
  {
    folder: "slow-consumer",
    title: "Traffic doubles",
    better: "eight-workers",
    worse: "four-workers",
    by: "p99 wait",
    why: "Four workers can do 20 items a second at most, fewer than arrive.",
  },
  {
    folder: "cron-burst",
    title: "A cron job adds thousands of items each hour",
    better: "by-priority",
    worse: "fifo",
    by: "p99 wait of priority 50",
    why: "Requests that somebody waits for go ahead of the cron job's items.",
  },
  {
    folder: "misconfigured-bucket",
    title: "A bucket allows fewer attempts than items arrive",
    better: "sixty-a-minute",
    worse: "thirty-a-minute",
    by: "p99 wait",
    why: "From the morning until the evening, more than thirty items arrive each minute.",
  },
  {
    folder: "hanging-backend",
    title: "Some attempts never end",
    better: "timeout",
    worse: "no-timeout",
    by: "unfinished",
    why: "Without a timeout, each attempt that hangs takes a worker for good.",
  },
  {
    folder: "slow-tenant",
    title: "The attempts of one tenant are slow",
    better: "bounded",
    worse: "shared",
    by: "p99 wait of group fast",
    why: "Slow attempts occupy all workers unless each group may use only some of them.",
  },
];
