import type { Readable } from "node:stream";
import type { LoadConfigOptions } from "@workqueue/core";
import { RunConfig } from "../config/run_config.ts";
import { Backlog } from "../items/backlog.ts";
import { CommandTemplate } from "../items/command_template.ts";
import { type Input, openInput } from "../items/input.ts";
import { type EarlierReport, readEarlierReport } from "../report/earlier_report.ts";
import { hashOf, type ReportHeader } from "../report/records.ts";
import { openReport, type Report } from "../report/report.ts";
import { RunMetrics } from "../run/statistics.ts";
import { stderr } from "../system/standard_streams.ts";
import { VERSION } from "../version.ts";
import type { DashboardServer } from "../view/dashboard_server.ts";
import { loadProgress, type ShowProgress } from "../view/progress.ts";
import type { RunPlan } from "./run_plan.ts";

/** Everything that a run reads: open, and checked where it can be. */
export interface PreparedItems {
  /** The config in force. */
  readonly config: RunConfig;
  /** The metrics of its queue. */
  readonly metrics: RunMetrics;
  /** The command. */
  readonly template: CommandTemplate;
  /** The list of items. */
  readonly input: Input;
  /** The lines that were read ahead: none yet. */
  readonly backlog: Backlog;
  /** The report to go on with; `undefined` if there is none. */
  readonly earlier: EarlierReport | undefined;
  /** Returns what a report says about the command and the config in force. */
  header(): ReportHeader;
}

/** Everything that a run works with. */
export interface PreparedRun extends PreparedItems {
  /** The dashboard; `undefined` if it is not served. */
  readonly server: DashboardServer | undefined;
  /** The report, open for writing; `undefined` if none is written. */
  readonly report: Report | undefined;
  /** Begins to show progress. */
  readonly showProgress: ShowProgress;
}

/**
 * Opens what a run reads. Writes nothing.
 *
 * @param plan The plan.
 * @param standardInput The stream for an input of `-`.
 * @returns What was opened.
 * @throws {UsageError} If a plugin, the config, the earlier report or the input cannot be read, or is not what the plan
 * needs.
 */
export async function prepareItems(plan: RunPlan, standardInput: Readable): Promise<PreparedItems> {
  const metrics = new RunMetrics();
  const load: LoadConfigOptions = { metrics, ...await loadPlugins(plan.plugins) };
  const config = await RunConfig.open({
    path: plan.config,
    queue: plan.queue,
    options: plan.queueOptions,
    defaults: plan.queueDefaults,
    jitter: plan.jitter,
    load,
  });
  const readMembers = plan.isJson ? (await import("../items/json_members.ts")).readMembers : undefined;
  const template = new CommandTemplate(plan.command, { readMembers, appends: plan.appends });
  const header = () => headerOf(plan, config);
  const earlier = plan.report?.resumes ? await readEarlierReport(plan.report.path, header()) : undefined;
  const input = openInput(plan.input, standardInput);
  const backlog = new Backlog({ isDistinct: plan.isDistinct, done: earlier?.done });
  return { config, metrics, template, input, backlog, earlier, header };
}

/**
 * Opens what a run works with.
 *
 * @param plan The plan.
 * @param standardInput The stream for an input of `-`.
 * @returns What was opened.
 * @throws {UsageError} As for {@linkcode prepareItems}; or if the dashboard cannot be served, or the report cannot be
 * written.
 */
export async function prepareRun(plan: RunPlan, standardInput: Readable): Promise<PreparedRun> {
  const items = await prepareItems(plan, standardInput);
  if (plan.readsTerminal) stderr.write("Reading the list from the terminal: Ctrl-D ends it.\n");
  const server = plan.dashboardPort === undefined ? undefined : await openServer(plan.dashboardPort);
  const showProgress = await loadProgress(plan.progress);
  return { ...items, server, report: openReportOf(plan, items), showProgress };
}

/** Flags for retries, rates and the like are not part of it: a run may go on with others. */
function headerOf(plan: RunPlan, { document }: RunConfig): ReportHeader {
  const work = { command: plan.command, reading: plan.reading };
  return { workqueue: VERSION, hash: hashOf({ ...work, document }), ...work };
}

function openReportOf(plan: RunPlan, { header, earlier, input }: PreparedItems): Report | undefined {
  if (plan.report === undefined) return undefined;
  const { path, resumes } = plan.report;
  const [file] = plan.command;
  return openReport(path, {
    header: header(),
    resumes,
    earlier,
    used: [
      { name: "the input", file: input.fd },
      { name: "the config", file: plan.config },
      { name: "the command", file: file?.includes("/") ? file : undefined },
      { name: "the standard output", file: 1 },
      { name: "the standard error", file: 2 },
    ],
  });
}

async function openServer(port: number): Promise<DashboardServer> {
  const { DashboardServer } = await import("../view/dashboard_server.ts");
  return await DashboardServer.open(port);
}

async function loadPlugins(paths: readonly string[]): Promise<LoadConfigOptions> {
  return paths.length === 0 ? {} : await (await import("../config/plugins.ts")).loadPlugins(paths);
}
