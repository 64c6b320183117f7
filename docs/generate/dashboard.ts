import { metricFamilies } from "@workqueue/core/metrics";

interface Panel {
  readonly title: string;
  /** Meaning of the panel, and the recommended action. */
  readonly description: string;
  /** Unit of the values, as Grafana names it. */
  readonly unit: string;
  /** Queries, keyed by the label that follows the queue's name in the legend. A verdict panel has one query. */
  readonly queries: Readonly<Record<string, string>>;
  /** Lowest values at which a verdict panel turns orange and red. */
  readonly limits?: readonly [orange: number, red: number];
}

/**
 * Metrics of the selected queues, and values derived from these metrics. Queues with the same name in several processes
 * are treated as one queue.
 */
const of = Object.fromEntries(
  Object.entries(metricFamilies).map(([method, { name }]) => [method, name]),
) as Readonly<Record<keyof typeof metricFamilies, string>>;
const chosen = (metric: string) => `${metric}{name=~"$name"}`;
const sum = (metric: string) => `sum by (name) (${chosen(metric)})`;
const max = (metric: string) => `max by (name) (${chosen(metric)})`;
const rate = (metric: string) => `sum by (name) (rate(${chosen(metric)}[$__rate_interval]))`;
const slope = (metric: string) => `sum by (name) (deriv(${chosen(metric)}[$__rate_interval]))`;
const quantile = (q: number, metric: string) =>
  `histogram_quantile(${q}, sum by (name, le) (rate(${chosen(`${metric}_bucket`)}[$__rate_interval])))`;
/** Returns a query for the largest value, or for 0 if there are no values yet. */
const worst = (values: string) => `max(${values}) or vector(0)`;

const VERDICTS: readonly Panel[] = [
  {
    title: "Backlog grows by",
    description:
      "Items per second by which the ready, blocked and delayed items grow. If above 0 for long, add workers or add less.",
    unit: "suffix: /s",
    queries: { "": worst(`${slope(of.depth)} + ${slope(of.delayed)} or ${slope(of.depth)}`) },
    limits: [0.1, 1],
  },
  {
    title: "Oldest ready",
    description: "Time since the oldest ready item became ready.",
    unit: "s",
    queries: { "": worst(max(of.oldestReady)) },
    limits: [60, 300],
  },
  {
    title: "Attempts that fail",
    description: "Share of attempts that fail. If most fail, a backend is probably down: pause the throttle.",
    unit: "percentunit",
    queries: { "": worst(`${rate(of.failures)} / (${rate(`${of.workDuration}_count`)} > 0)`) },
    limits: [0.1, 0.5],
  },
  {
    title: "Workers busy",
    description: "Share of the handlers that may run at once. At 100 %, ready items wait for workers.",
    unit: "percentunit",
    queries: { "": worst(`${sum(of.active)} / (${sum(of.concurrency)} > 0)`) },
    limits: [0.8, 1],
  },
  {
    title: "Longest running",
    description: "Time that the longest-processing item has been processing. A handler that hangs needs a timeout.",
    unit: "s",
    queries: { "": worst(max(of.longestRunningProcessor)) },
    limits: [60, 900],
  },
  {
    title: "Given up",
    description: "Items given up in the selected time range. They are not retried unless they are added again.",
    unit: "short",
    queries: { "": `sum(increase(${chosen(of.givenUp)}[$__range])) or vector(0)` },
    limits: [1, 100],
  },
];

const GRAPHS: readonly Panel[] = [
  {
    title: "Ready, blocked, delayed, active",
    description:
      "Ready: can be handed out now. Blocked: the group is at its limit. Delayed: the delay of a retry or of a rate " +
      "limit has not passed. Active: running handlers, and the number that may run at once.",
    unit: "short",
    queries: {
      ready: `${sum(of.depth)} - ${sum(of.blocked)} or ${sum(of.depth)}`,
      blocked: sum(of.blocked),
      delayed: sum(of.delayed),
      active: sum(of.active),
      "may be active": sum(of.concurrency),
    },
  },
  {
    title: "In and out",
    description: "Items per second that are added and not folded (including retries), handed out, and done.",
    unit: "ops",
    queries: {
      added: rate(of.adds),
      "handed out": rate(`${of.queueLatency}_count`),
      done: rate(`${of.workDuration}_count`),
    },
  },
  {
    title: "Failures, retries, given up",
    description: "Per second: failed attempts, adds with a delay or through the limiter, and given-up items.",
    unit: "ops",
    queries: { failures: rate(of.failures), retries: rate(of.retries), "given up": rate(of.givenUp) },
  },
  {
    title: "Time in the queue",
    description: "Time from the add until the item is handed out, without delays.",
    unit: "s",
    queries: { "half within": quantile(0.5, of.queueLatency), "99 % within": quantile(0.99, of.queueLatency) },
  },
  {
    title: "Time at work",
    description: "Time from the hand-out of an item until it is done.",
    unit: "s",
    queries: { "half within": quantile(0.5, of.workDuration), "99 % within": quantile(0.99, of.workDuration) },
  },
  {
    title: "Oldest ready, longest running",
    description: "Longest time that an item has been ready, and longest time that an item has been processing.",
    unit: "s",
    queries: { "oldest ready": max(of.oldestReady), "longest running": max(of.longestRunningProcessor) },
  },
  {
    title: "Unfinished work",
    description:
      "Seconds that all processing items have been processing, in total. A handler that hangs adds one per second.",
    unit: "s",
    queries: { unfinished: sum(of.unfinishedWork) },
  },
  {
    title: "Ready, by priority",
    description: "Ready items of queues that name their priorities.",
    unit: "short",
    queries: { "{{priority}}": `sum by (name, priority) (${chosen(of.priorityDepth)})` },
  },
];

const DATASOURCE = { type: "prometheus", uid: "${datasource}" };
/** Size of a verdict panel. Grafana's grid is 24 units wide. */
const VERDICT = { width: 24 / VERDICTS.length, height: 4 };
const GRAPH = { width: 12, height: 8 };

/** Returns the dashboard in Grafana's import format. */
export function dashboard(): string {
  const panels = [
    ...VERDICTS.map((panel, i) => ({
      ...drawn(panel, "stat"),
      gridPos: { x: i * VERDICT.width, y: 0, w: VERDICT.width, h: VERDICT.height },
      options: { colorMode: "background", graphMode: "area", reduceOptions: { calcs: ["lastNotNull"] } },
    })),
    ...GRAPHS.map((panel, i) => ({
      ...drawn(panel, "timeseries"),
      gridPos: {
        x: (i % 2) * GRAPH.width,
        y: VERDICT.height + Math.floor(i / 2) * GRAPH.height,
        w: GRAPH.width,
        h: GRAPH.height,
      },
      options: { legend: { displayMode: "table", placement: "bottom", calcs: ["lastNotNull", "max"] } },
    })),
  ].map((panel, i) => ({ id: i + 1, ...panel }));
  return JSON.stringify(
    {
      uid: "workqueue",
      title: "Work queues",
      tags: ["workqueue"],
      schemaVersion: 39,
      editable: true,
      refresh: "10s",
      time: { from: "now-1h", to: "now" },
      templating: { list: [datasourceVariable(), nameVariable()] },
      panels,
    },
    undefined,
    2,
  ) + "\n";
}

function drawn({ title, description, unit, queries, limits }: Panel, type: "stat" | "timeseries") {
  const thresholds = limits && {
    mode: "absolute",
    steps: [{ color: "green", value: null }, { color: "orange", value: limits[0] }, { color: "red", value: limits[1] }],
  };
  return {
    title,
    description,
    type,
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, min: type === "stat" ? undefined : 0, thresholds }, overrides: [] },
    targets: Object.entries(queries).map(([what, expr], i) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + i),
      datasource: DATASOURCE,
      expr,
      legendFormat: type === "stat" ? title : `{{name}}: ${what}`,
    })),
  };
}

function datasourceVariable() {
  return { name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus", refresh: 1 };
}

function nameVariable() {
  const query = `label_values(${of.depth}, name)`;
  return {
    name: "name",
    label: "Queue",
    type: "query",
    datasource: DATASOURCE,
    definition: query,
    query: { query, refId: "name" },
    refresh: 2, // refreshes whenever the time range changes
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: ".*",
    current: { text: "All", value: "$__all" },
  };
}
