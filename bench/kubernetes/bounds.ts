/** Figures of the page, and their bounds. */

import type { Scale } from "./rows.ts";

/** Unit in which a figure is printed. */
export type Unit = "ms" | "s" | "MB" | "count";

/** Row of the page. */
export interface Row {
  /** Name of the figure. */
  readonly figure: string;
  readonly title: (scale: Scale) => string;
  readonly unit: Unit;
  /** Largest value, by runtime. */
  readonly atMost?: Readonly<Record<string, number>>;
  /** Largest ratio to controller-runtime. */
  readonly ratio?: number;
}

function onEach(value: number): Readonly<Record<string, number>> {
  return { Deno: value, Bun: value, Node: value };
}

const count = (value: number) => value.toLocaleString("en");
const inOrder = "until everything is in order";

/** Rows of the page, in its order. */
export const ROWS: readonly Row[] = [
  {
    figure: "creates",
    title: ({ objects }) => `${count(objects)} creates → ${count(objects)} secrets`,
    unit: "s",
    ratio: 1.3,
  },
  { figure: "creates: cpu", title: () => "… processor time, with the start", unit: "s" },
  {
    figure: "creates: memory",
    title: () => "… peak of the memory",
    unit: "MB",
    atMost: { Deno: 110, Bun: 110, Node: 150 },
  },
  { figure: "creates: connections", title: () => "… connections", unit: "count" },
  { figure: "creates: writes", title: ({ objects }) => `… writes (${count(3 * objects)} needed)`, unit: "count" },
  { figure: "creates: reads", title: () => "… reads", unit: "count" },
  { figure: "creates: conflicts", title: () => "… conflicts (409)", unit: "count" },
  {
    figure: "closed: median",
    title: () => "connections closed every 3 s: change → secret, median",
    unit: "ms",
    atMost: onEach(200),
  },
  { figure: "closed: worst", title: () => "… longest", unit: "ms" },
  {
    figure: "cut",
    title: ({ away }) => `network cut for ${away / 1000} s: ${inOrder}`,
    unit: "s",
    atMost: onEach(2000),
  },
  {
    figure: "server down",
    title: ({ away }) => `API server down for ${away / 1000} s: from ready ${inOrder}`,
    unit: "s",
    atMost: onEach(2000),
  },
  { figure: "half-open", title: () => `half-open connections: ${inOrder}`, unit: "s", atMost: onEach(45_000) },
  { figure: "half-open amid writes", title: () => "… amid writes", unit: "s", atMost: onEach(45_000) },
  { figure: "sigterm", title: () => "SIGTERM with a backlog: until the exit", unit: "s", atMost: onEach(500) },
  { figure: "many", title: ({ many }) => `${count(many)} objects at the start`, unit: "s", ratio: 1.2 },
  { figure: "many: cpu", title: () => "… processor time", unit: "s", ratio: 1.5 },
  { figure: "many: memory", title: () => "… peak of the memory", unit: "MB", ratio: 2 },
  { figure: "many: writes", title: ({ many }) => `… writes (${count(3 * many)} needed)`, unit: "count" },
  { figure: "many: reads", title: () => "… reads", unit: "count" },
  { figure: "many: conflicts", title: () => "… conflicts (409)", unit: "count" },
  {
    figure: "restart: change",
    title: ({ many }) => `start again with ${count(many)} objects in order: until a change is copied`,
    unit: "s",
  },
  {
    figure: "restart",
    title: () => "… until each is reconciled",
    unit: "s",
    ratio: 2.5,
  },
  { figure: "restart: cpu", title: () => "… processor time", unit: "s" },
  { figure: "restart: memory", title: () => "… peak of the memory", unit: "MB" },
  { figure: "handover", title: () => "two replicas, `kill -9` of the leader: until the next does a change", unit: "s" },
];
