import {
  BigValueColorMode,
  BigValueGraphMode,
  type Dashboard,
  LegendDisplayMode,
  MappingType,
  type Panel as GrafanaPanel,
  SortOrder,
  SpecialValueMatch,
  ThresholdsMode,
  TooltipDisplayMode,
  type VariableModel,
  VariableRefresh,
  VariableSort,
} from "@grafana/schema";
import type { Options as StatOptions } from "@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen";
import type { Options as GraphOptions } from "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen";
import { metricFamilies } from "@workqueue/core/metrics";
import {
  MAX_AGE,
  MAX_FAILED_SHARE,
  MAX_RUN,
  MAX_SLOPE,
  SLOPE_OVER,
} from "../../packages/dashboard/watch/alert_limits.ts";

interface Panel {
  readonly title: string;
  /** Meaning of the panel, and the recommended action. */
  readonly description: string;
  /** Unit of the values, as Grafana names it. */
  readonly unit: string;
  /** Queries, keyed by the label that follows the queue's name in the legend. A verdict panel has one query. */
  readonly queries: Readonly<Record<string, string>>;
}

interface VerdictPanel extends Panel {
  /** Lowest values at which the panel turns orange and red. */
  readonly limits: readonly [orange: number, red: number];
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
const slope = (metric: string) => `sum by (name) (deriv(${chosen(metric)}[${SLOPE_OVER / 60_000}m]))`;
const quantile = (q: number, metric: string) =>
  `histogram_quantile(${q}, sum by (name, le) (rate(${chosen(`${metric}_bucket`)}[$__rate_interval])))`;
/**
 * Returns a query for a value, or for 0 if there is no value yet. Has no result if no program reports the queues,
 * because a 0 would look healthy.
 */
const orZero = (value: string) => `${value} or 0 * max(${chosen(of.depth)})`;
/** Returns a query for the largest value. */
const worst = (values: string) => orZero(`max(${values})`);

const VERDICTS: readonly VerdictPanel[] = [
  {
    title: "Backlog grows by",
    description:
      "Items per second by which the ready and blocked items grow. If above 0 for long, add workers or add less.",
    unit: "suffix: /s",
    queries: { "": worst(slope(of.depth)) },
    limits: [MAX_SLOPE, 10 * MAX_SLOPE],
  },
  {
    title: "Oldest ready",
    description: "Time since the oldest ready item became ready.",
    unit: "s",
    queries: { "": worst(max(of.oldestReady)) },
    limits: [60, MAX_AGE / 1000],
  },
  {
    title: "Attempts that fail",
    description: "Share of attempts that fail. If most fail, a backend is probably down: pause the throttle.",
    unit: "percentunit",
    queries: { "": worst(`${rate(of.failures)} / (${rate(`${of.workDuration}_count`)} > 0)`) },
    limits: [0.1, MAX_FAILED_SHARE],
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
    limits: [60, MAX_RUN / 1000],
  },
  {
    title: "Given up",
    description: "Items given up in the selected time range. They are not retried unless they are added again.",
    unit: "short",
    queries: { "": orZero(`sum(increase(${chosen(of.givenUp)}[$__range])) > 0`) },
    limits: [1, 100],
  },
];

const GRAPHS: readonly Panel[] = [
  {
    title: "Ready, blocked, delayed, active",
    description:
      "Ready: can be handed out now. Blocked: the group is at a limit or paused. Delayed: the delay of a retry or of a rate " +
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
      ...verdict(panel),
      gridPos: { x: i * VERDICT.width, y: 0, w: VERDICT.width, h: VERDICT.height },
    })),
    ...GRAPHS.map((panel, i) => ({
      ...graph(panel),
      gridPos: {
        x: (i % 2) * GRAPH.width,
        y: VERDICT.height + Math.floor(i / 2) * GRAPH.height,
        w: GRAPH.width,
        h: GRAPH.height,
      },
    })),
  ].map((panel, i) => ({ id: i + 1, ...panel }));
  const dashboard: Dashboard = {
    uid: "workqueue",
    title: "Work queues",
    tags: ["workqueue"],
    schemaVersion: 39,
    editable: true,
    refresh: "10s",
    time: { from: "now-1h", to: "now" },
    templating: { list: [datasourceVariable(), nameVariable()] },
    panels,
  };
  return JSON.stringify(dashboard, undefined, 2) + "\n";
}

const STAT: Partial<StatOptions> = {
  colorMode: BigValueColorMode.Background,
  graphMode: BigValueGraphMode.Area,
  reduceOptions: { calcs: ["lastNotNull"] },
};
const LINES: GraphOptions = {
  legend: {
    displayMode: LegendDisplayMode.Table,
    placement: "bottom",
    showLegend: true,
    calcs: ["lastNotNull", "max"],
  },
  tooltip: { mode: TooltipDisplayMode.Multi, sort: SortOrder.Descending },
};
const NO_DATA = "no data";

function verdict(panel: VerdictPanel): GrafanaPanel {
  const { title, unit, limits: [orange, red] } = panel;
  return {
    ...common(panel, () => title),
    type: "stat",
    fieldConfig: {
      defaults: {
        unit,
        noValue: NO_DATA,
        mappings: [{ // Grafana would otherwise show a missing value in the color of the lowest threshold, green
          type: MappingType.SpecialValue,
          options: { match: SpecialValueMatch.NullAndNan, result: { text: NO_DATA, color: "purple" } },
        }],
        thresholds: {
          mode: ThresholdsMode.Absolute,
          steps: [
            { color: "green", value: null },
            { color: "orange", value: orange },
            { color: "red", value: red },
          ],
        },
      },
      overrides: [],
    },
    options: { ...STAT },
  };
}

function graph(panel: Panel): GrafanaPanel {
  return {
    ...common(panel, (label) => `{{name}}: ${label}`),
    type: "timeseries",
    fieldConfig: { defaults: { unit: panel.unit, min: 0, noValue: NO_DATA }, overrides: [] },
    options: { ...LINES },
  };
}

function common({ title, description, queries }: Panel, legendOf: (label: string) => string) {
  return {
    title,
    description,
    datasource: DATASOURCE,
    targets: Object.entries(queries).map(([label, expr], i) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + i),
      datasource: DATASOURCE,
      expr,
      legendFormat: legendOf(label),
    })),
  };
}

function datasourceVariable(): VariableModel {
  return {
    name: "datasource",
    label: "Prometheus",
    type: "datasource",
    query: "prometheus",
    refresh: VariableRefresh.onDashboardLoad,
  };
}

function nameVariable(): VariableModel {
  return {
    name: "name",
    label: "Queue",
    type: "query",
    datasource: DATASOURCE,
    query: { query: `label_values(${of.depth}, name)`, refId: "name" },
    refresh: VariableRefresh.onTimeRangeChanged,
    sort: VariableSort.alphabeticalAsc,
    multi: true,
    includeAll: true,
    allValue: ".*",
    current: { text: "All", value: "$__all" },
  };
}
