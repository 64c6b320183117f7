import type { Readable } from "node:stream";
import { adaptMetrics, type LoadConfigOptions } from "@workqueue/core";
import { RunConfig } from "../config/run_config.ts";
import { Backlog } from "../items/backlog.ts";
import { CommandTemplate, type Fields } from "../items/command_template.ts";
import { isBroken } from "../items/broken_arguments.ts";
import { type Input, openInput, openItems } from "../items/input.ts";
import { columnFields } from "../items/line_columns.ts";
import { type CreateOutput, loadOutput } from "../output/load_output.ts";
import type { Results } from "../output/results.ts";
import { type EarlierReport, readEarlierReport } from "../report/earlier_report.ts";
import { hashOf, type ReportHeader } from "../report/records.ts";
import type { UsedFile } from "../report/output_file.ts";
import { openReport, type Report } from "../report/report.ts";
import type { LoadRecorder } from "../run/load_recorder.ts";
import type { SharedQueue } from "../run/shared_source.ts";
import { RunMetrics } from "../run/statistics.ts";
import { stderr } from "../system/standard_streams.ts";
import { UsageError } from "../system/usage_error.ts";
import { VERSION } from "../version.ts";
import type { DashboardServer } from "../view/dashboard_server.ts";
import { loadProgress, type ShowProgress } from "../view/progress.ts";
import type { RunPlan } from "./run_plan.ts";

/** Everything that a run reads. Each part is open and has been checked as far as possible. */
export interface PreparedItems {
  /** Current config. */
  readonly config: RunConfig;
  /** Metrics of the queue. */
  readonly metrics: RunMetrics;
  /** Template of the command. */
  readonly template: CommandTemplate;
  /** List of items. */
  readonly input: Input;
  /** Lines read ahead. Initially empty. */
  readonly backlog: Backlog;
  /** Report to resume; `undefined` if there is none. */
  readonly earlier: EarlierReport | undefined;
  /** Returns the header of a report for the command and the current config. */
  header(): ReportHeader;
}

/** Everything that a run uses. */
export interface PreparedRun extends PreparedItems {
  /** Dashboard server; `undefined` if the dashboard is not served. */
  readonly server: DashboardServer | undefined;
  /** Report, open for writing; `undefined` if there is none. */
  readonly report: Report | undefined;
  /** Recorder of the load; `undefined` if the load is not recorded. */
  readonly recorder: LoadRecorder | undefined;
  /** Directory in which output is saved; `undefined` if output is not saved. */
  readonly results: Results | undefined;
  /** Starts the output of the run. */
  readonly createOutput: CreateOutput;
  /** Starts the display of progress. */
  readonly showProgress: ShowProgress;
  /** Queue that processes share, through which the items go; `undefined` if they go through a queue in memory. */
  readonly shared?: SharedQueue;
}

/**
 * Opens everything that a run reads. Writes nothing.
 *
 * @param plan The plan.
 * @param standardInput The stream for the input `-`.
 * @returns The opened resources.
 * @throws {UsageError} If a plugin, the config, the earlier report or the input can't be read or doesn't fit the plan.
 */
export async function prepareItems(plan: RunPlan, standardInput: Readable): Promise<PreparedItems> {
  const metrics = adaptMetrics(new RunMetrics());
  const load: LoadConfigOptions = { metrics, ...await loadPlugins(plan.plugins) };
  const config = await RunConfig.open({
    path: plan.config,
    queue: plan.queue,
    builtInQueue: plan.builtInQueue,
    options: plan.queueOptions,
    defaults: plan.queueDefaults,
    jitter: plan.jitter,
    load,
  });
  if (plan.retryAfterScope === "group" && config.separator === undefined) {
    throw new UsageError(
      "Cannot delay groups: --retry-after-scope group needs --group-by, or a discipline with a separator in the config",
    );
  }
  const broken = plan.command.find(isBroken);
  if (broken !== undefined) throw new UsageError(`Cannot run the command: its argument '${broken}' is not UTF-8`);
  const template = new CommandTemplate(plan.command, {
    fields: await fieldsOf(plan),
    replaces: plan.replaces,
    appends: plan.appends,
  });
  const header = () => headerOf(plan, config);
  const earlier = plan.report?.resumes ? await readEarlierReport(plan.report.path, header()) : undefined;
  const input = plan.items === undefined ? openInput(plan.input, standardInput) : openItems(plan.items);
  const backlog = new Backlog({ isDistinct: plan.isDistinct, done: earlier?.done });
  return { config, metrics, template, input, backlog, earlier, header };
}

/**
 * Opens everything that a run uses.
 *
 * @param plan The plan.
 * @param standardInput The stream for the input `-`.
 * @param lost The signal that aborts when another process takes over the report; `undefined` if there is no report.
 * @returns The opened resources.
 * @throws {UsageError} If {@linkcode prepareItems} throws, the dashboard can't be served, the report or the trace can't
 * be written, or the report was taken over by another process.
 */
export async function prepareRun(
  plan: RunPlan,
  standardInput: Readable,
  lost: AbortSignal | undefined,
): Promise<PreparedRun> {
  const items = await prepareItems(plan, standardInput);
  for (const warning of items.template.warnings) stderr.write(`workqueue: Warning: ${warning}\n`);
  if (plan.readsTerminal) stderr.write("Reading the list from the terminal. Press Ctrl-D to end it.\n");
  const server = plan.dashboardPort === undefined ? undefined : await openServer(plan.dashboardPort);
  const createOutput = await loadOutput(plan.output);
  const results = plan.results === undefined ? undefined : await openResults(plan.results);
  const showProgress = await loadProgress(plan.progress);
  const used = usedFiles(plan, items);
  const trace = plan.record === undefined ? undefined : await openTrace(plan.record, items, used);
  lost?.throwIfAborted(); // opening the report would truncate the other process's output
  const report = openReportOf(plan, items, [...used, { name: "the trace", file: trace?.file }]);
  return { ...items, server, report, recorder: trace?.recorder, results, createOutput, showProgress };
}

/** Returns the fields of lines that the command's placeholders can name; `undefined` for plain lines. */
async function fieldsOf(plan: RunPlan): Promise<Fields | undefined> {
  if (plan.isJson) return (await import("../items/json_members.ts")).jsonMembers;
  return plan.columnSeparator === undefined ? undefined : columnFields(plan.columnSeparator);
}

/**
 * Returns the header of a report. Flags such as `--retries` and `--rate` are excluded because a resumed run may change
 * them.
 */
function headerOf(plan: RunPlan, { document }: RunConfig): ReportHeader {
  const work = { command: plan.command, reading: plan.reading };
  return { workqueue: VERSION, hash: hashOf({ ...work, document }), ...work };
}

/** Returns the files that a report or a trace must not overwrite. */
function usedFiles({ config, command: [file] }: RunPlan, { input }: PreparedItems): UsedFile[] {
  return [
    { name: "the input", file: input.fd },
    { name: "the config", file: config },
    { name: "the command", file: file?.includes("/") ? file : undefined },
    { name: "standard output", file: 1 },
    { name: "standard error", file: 2 },
  ];
}

function openReportOf(
  plan: RunPlan,
  { header, earlier }: PreparedItems,
  used: readonly UsedFile[],
): Report | undefined {
  if (plan.report === undefined) return undefined;
  const { path, resumes } = plan.report;
  return openReport(path, { header: header(), resumes, earlier, used });
}

/** Opens the file of a trace before the recorder is loaded, so that a wrong path is reported soon. */
async function openTrace(
  path: string,
  { config }: PreparedItems,
  used: readonly UsedFile[],
): Promise<{ file: number; recorder: LoadRecorder }> {
  const { TraceFile } = await import("../report/trace_file.ts");
  const { loadRecorder } = await import("../run/load_recorder.ts");
  const file = TraceFile.open(path, used);
  return { file: file.fd, recorder: await loadRecorder(file, config.separator) };
}

async function openServer(port: number): Promise<DashboardServer> {
  const { DashboardServer } = await import("../view/dashboard_server.ts");
  return await DashboardServer.open(port);
}

async function openResults(path: string): Promise<Results> {
  const { Results } = await import("../output/results.ts");
  return Results.open(path);
}

async function loadPlugins(paths: readonly string[]): Promise<LoadConfigOptions> {
  return paths.length === 0 ? {} : await (await import("../config/plugins.ts")).loadPlugins(paths);
}
