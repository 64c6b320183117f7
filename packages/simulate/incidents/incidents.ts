/** An incident: a folder with a load and two configs. One config handles the load better. */
export interface Incident {
  readonly folder: string;
  readonly title: string;
  /** Name of the better config, and of the other. */
  readonly better: string;
  readonly worse: string;
  /** Figure that shows the difference. */
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
    why:
      "Delays double with each failure. Without a low limit, they reach 3m25s, and items wait that long after the outage.",
  },
  {
    folder: "retry-storm",
    title: "Retries keep a recovered backend busy",
    better: "five-workers",
    worse: "fifty-workers",
    by: "recovery",
    why:
      "Fifty attempts at once take 3.3 s on average, longer than the timeout, and their retries keep the backend overloaded.",
  },
  {
    folder: "retry-budget",
    title: "Retries after an outage overload the backend",
    better: "budget",
    worse: "unlimited",
    by: "recovery",
    why:
      "Attempts that have timed out keep the backend busy, and each leads to a retry; with a budget, most retries are blocked until the backend answers.",
  },
  {
    folder: "poison-key",
    title: "One key in a hundred always fails",
    better: "bounded",
    worse: "endless",
    by: "p99 total",
    why: "Without a maximum number of retries, keys that always fail take more and more of the workers' time.",
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
    by: "p99 total",
    why: "Equal delays make all items return together, and the backend refuses all but 50 of them each time.",
  },
  {
    folder: "events-during-backoff",
    title: "Events arrive for keys that are failing",
    better: "ignoring",
    worse: "counting",
    by: "given up",
    why:
      "Each event starts an attempt that fails and is counted, so keys reach `maxRetries` long before the outage is over.",
  },
  {
    folder: "deploy-under-load",
    title: "A deploy after an outage forgets all delays",
    better: "throttled",
    worse: "unlimited",
    by: "recovery",
    why:
      "The new process tries all unfinished items at once, again and again in step, and most are refused; a throttle spreads them.",
  },
  {
    folder: "slow-consumer",
    title: "Traffic doubles",
    better: "eight-workers",
    worse: "four-workers",
    by: "p99 wait",
    why: "Four workers can do 19 items a second at most, fewer than arrive.",
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
  {
    folder: "capacity-jumps",
    title: "The capacity of the backend jumps",
    better: "adaptive",
    worse: "fixed",
    by: "p99 total",
    why:
      "A limit that suits the small capacity leaves most of the large one unused; an adaptive one follows the backend.",
  },
  {
    folder: "metastable-overload",
    title: "A short overload doesn't end by itself",
    better: "adaptive",
    worse: "unlimited",
    by: "p99 total",
    why:
      "Attempts that have timed out keep the backend busy, so that the next ones time out too; a throttle keeps it below that.",
  },
  {
    folder: "tenant-429",
    title: "One tenant is refused with Retry-After",
    better: "fair",
    worse: "fifo",
    by: "given up",
    why:
      "Without groups, each of the tenant's items is refused again and again; with groups, one probe waits for all of them.",
  },
  {
    folder: "llm-quota",
    title: "A quota of requests per minute",
    better: "throttled",
    worse: "unlimited",
    by: "given up",
    why:
      "Without a throttle, most of a batch is refused again and again; a bucket starts as many attempts as the quota allows.",
  },
  {
    folder: "paced-recovery",
    title: "A backlog brings a recovered backend down again",
    better: "ramp-up",
    worse: "at-once",
    by: "recovery",
    why:
      "After the outage the whole backlog starts at once, and times out; with `rampUp`, the number of attempts grows slowly.",
  },
  {
    folder: "breaker-flapping",
    title: "A breaker opens because of bad items",
    better: "calm",
    worse: "nervous",
    by: "p99 total",
    why: "One attempt in ten fails at any time, so a breaker that opens at ten per cent is open most of the time.",
  },
];
