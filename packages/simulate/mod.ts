/**
 * Simulation of work queues: shows how a config behaves under a load before production does.
 *
 * {@linkcode simulate} runs the real queue, limiters, discipline and pool of a config with a virtual clock. The load
 * says which items arrive when, how long attempts take, which attempts fail, and what else happens.
 *
 * @module
 */

import "./core_version.ts"; // imported first, to report a wrong core version before it causes another error

export {
  checkLoad,
  type LoadDocument,
  loadFields,
  type LoadFiles,
  type LoadPartConfig,
  loadSchema,
} from "./load/load.ts";
export { compare, type ComparedFigure, type CompareOptions, type Comparison } from "./compare/compare.ts";
export { type Found, search } from "./compare/search.ts";
export { type Condition, parseCondition } from "./report/condition.ts";
export { type Figure, figures } from "./report/figures.ts";
export { svgOf } from "./report/svg.ts";
export { comparisonText, textOf } from "./report/text.ts";
export type { ClassReport, Moment, SimulationReport } from "./report/report.ts";
export type { Times } from "./run/distribution.ts";
export type { Attempts, OutageReport } from "./run/outages.ts";
export type { Counts } from "./run/simulation.ts";
export { simulate, type SimulateOptions } from "./simulate.ts";
export { isTrace } from "./trace/read_trace.ts";
export { type LoadRecording, recordLoad, type RecordLoadOptions } from "./trace/record_load.ts";
// Exported because the types above refer to these types, directly or indirectly.
export type * from "@workqueue/core";
export type * from "@workqueue/core/internal/registry";
export type { LoadWord } from "./load/kinds.ts";
