import type { Duration, MetricsProvider } from "@workqueue/core";
import { hasMethods, invalidArgument, requireDuration, requireRules, type Rule } from "@workqueue/core/arguments";
import { metricFamilies } from "@workqueue/core/metrics";
import { register as globalRegister } from "prom-client";
import { Family } from "./family.ts";
import { Lifetimes } from "./lifetimes.ts";
import { Buckets, Count, type Merge, type Series, Total } from "./series.ts";

const ACTION = "create Prometheus metrics";

/** A `Registry` of prom-client, in whichever of its formats: as much of it as is used here. */
export interface Register {
  /** Takes a metric in. */
  registerMetric(metric: never): void;
  /** Finds the metric of a name. */
  getSingleMetric(name: string): unknown;
}

/** Options of {@linkcode prometheusMetrics}. */
export interface PrometheusOptions {
  /**
   * How long the last values of a queue that is gone are still there to be scraped, from 0 on: longer than two scrapes are
   * apart. Default 5 minutes.
   */
  keepFor?: Duration;
}

const ANY: Rule = [() => true, ""]; // a duration, which is checked where it is read

/**
 * Makes the metrics of queues, and of the pools that work on them, in a register of
 * [prom-client](https://github.com/siimon/prom-client): names, labels, units and buckets are those of Kubernetes, so that
 * what is made for these shows them. `docs/operate.md` has the table, a dashboard and alerts.
 *
 * One provider is for any number of queues. Called again for a register, it gives the provider that is there, with the
 * options that it has. Queues of one name in one process share their series: counts add up, and so does what is set, but
 * for `workqueue_longest_running_processor_seconds` and `workqueue_oldest_ready_seconds`, of which the greatest is shown.
 *
 * The series of a queue are removed some time after it was shut down and emptied, see
 * {@linkcode PrometheusOptions.keepFor}; those of a new queue of that name go on where the old ones were. That is looked
 * at when somebody scrapes, and sets no timer.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { prometheusMetrics } from "@workqueue/prometheus";
 * import { assertStringIncludes } from "@std/assert";
 * import { register } from "prom-client";
 *
 * const metrics = prometheusMetrics();
 * createWorkQueue<string>({ name: "images", metrics }).add("cat.jpg");
 *
 * assertStringIncludes(await register.metrics(), `workqueue_depth{name="images"} 1`);
 * ```
 *
 * @param register Where the metrics are shown. Default prom-client's own `register`.
 * @param options How long the values of a queue that is gone are kept.
 * @returns What queues take as `metrics`.
 * @throws {TypeError} If `register` is none, or an option is unknown or of the wrong type.
 * @throws {RangeError} If `keepFor` is negative or not finite.
 * @throws {Error} If the register has a metric under one of the names that was not made here.
 */
export function prometheusMetrics(
  register: Register = globalRegister,
  options: PrometheusOptions = {},
): Required<MetricsProvider> {
  if (!hasMethods(register, "registerMetric", "getSingleMetric")) {
    throw invalidArgument(ACTION, "register", "must be a register of prom-client", register);
  }
  requireRules(ACTION, options, { keepFor: ANY });
  const keepFor = requireDuration(ACTION, "keepFor", options.keepFor ?? "5m");
  if (keepFor < 0) throw invalidArgument(ACTION, "keepFor", "must be a non-negative duration", keepFor);

  return providerIn(register) ?? createProvider(register, keepFor);
}

/** Where each of its families has the provider, so that another copy of this package finds it. */
const PROVIDER = Symbol.for("workqueue.prometheus");

type Provider = Required<MetricsProvider>;

/** The provider that made the metrics which a register has under our names. */
function providerIn(register: Register): Provider | undefined {
  let provider: Provider | undefined;
  for (const { name } of Object.values(metricFamilies)) {
    const metric = register.getSingleMetric(name) as { [PROVIDER]?: Provider } | undefined;
    if (metric === undefined) continue;
    provider = metric[PROVIDER];
    if (provider === undefined) {
      throw new Error(
        `Cannot ${ACTION} as 'register' has another metric "${name}" already: remove it, or give a register of its own`,
      );
    }
  }
  return provider;
}

function createProvider(register: Register, keepFor: number): Provider {
  const lifetimes = new Lifetimes(keepFor);
  const families: Family[] = [];
  const collect = () => {
    for (const queue of lifetimes.takeOver()) for (const family of families) family.remove(queue);
  };

  function createFamily<S extends Series>(method: keyof typeof metricFamilies, create: () => S, merge: Merge = "sum") {
    const family = new Family(metricFamilies[method], create, merge, collect);
    families.push(family);
    return family;
  }
  function counts(method: "depth" | "adds" | "retries" | "priorityDepth" | "active" | "failures" | "givenUp") {
    const family = createFamily(method, () => new Count());
    return (queue: string, priority?: string) =>
      family.of(priority === undefined ? { name: queue } : { name: queue, priority });
  }
  function totals(
    method: "unfinishedWork" | "longestRunningProcessor" | "waiting" | "oldestReady" | "concurrency",
    merge: Merge,
  ) {
    const family = createFamily(method, () => new Total(merge), merge);
    return (queue: string) => family.of({ name: queue }).part();
  }
  function buckets(method: "queueLatency" | "workDuration") {
    const family = createFamily(method, () => new Buckets(metricFamilies[method].buckets!));
    return (queue: string) => family.of({ name: queue });
  }

  const depth = counts("depth");
  const provider: Provider = {
    depth(queue) {
      lifetimes.began(queue);
      return depth(queue);
    },
    adds: counts("adds"),
    queueLatency: buckets("queueLatency"),
    workDuration: buckets("workDuration"),
    unfinishedWork: totals("unfinishedWork", "sum"),
    longestRunningProcessor: totals("longestRunningProcessor", "max"),
    retries: counts("retries"),
    priorityDepth: counts("priorityDepth"),
    waiting: totals("waiting", "sum"),
    oldestReady: totals("oldestReady", "max"),
    active: counts("active"),
    concurrency: totals("concurrency", "sum"),
    failures: counts("failures"),
    givenUp: counts("givenUp"),
    gone: (queue) => lifetimes.ended(queue),
  };
  for (const family of families) {
    // What prom-client's types ask for is more than what its registers use.
    register.registerMetric(Object.assign(family, { [PROVIDER]: provider }) as never);
  }
  return provider;
}
