import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { loadConfigFile, loadDocumentFile, readConfigFile } from "@workqueue/config-file";
import {
  checkLoad,
  compare,
  comparisonText,
  type Condition,
  isTrace,
  type LoadDocument,
  parseCondition,
  search,
  simulate,
  type SimulateOptions,
  type SimulationReport,
  svgOf,
  textOf,
} from "@workqueue/simulate";
import { loadPlugins } from "../config/plugins.ts";
import { EXIT } from "../system/exit_codes.ts";
import { stderr, stdout } from "../system/standard_streams.ts";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { writeTo } from "../system/write_to.ts";
import type { SimulateFlags } from "./config_flags.ts";
import { print } from "./print.ts";

const DEFAULT_WIDTH = 80;
/** Extension of traces. */
const TRACE = ".jsonl";

/**
 * Runs `workqueue simulate`: simulates one config, compares several, or searches for a number in one.
 *
 * @param paths Paths of the configs.
 * @param flags The options.
 * @returns The exit code.
 * @throws {UsageError} If a file or an option is invalid, a plugin can't be loaded, or the output can't be written.
 */
export async function simulateCommand(paths: readonly string[], flags: SimulateFlags): Promise<number> {
  const registries = await loadPlugins(flags.plugin);
  try {
    const conditions = (flags.failIf ?? []).map(parseCondition);
    const twice = paths.find((path, i) => paths.indexOf(path) < i);
    if (twice !== undefined) throw new UsageError(`Cannot simulate: config '${twice}' is given twice`);
    const configs = Object.fromEntries(paths.map((path) => [nameOf(path, paths), readChecked(path, registries)]));
    const load = readLoad(flags.load);
    const { queue, seed } = flags;
    const options = { ...registries, queue, seed, ...filesOf(load, flags, registries) };
    const width = stdout.columns || DEFAULT_WIDTH;
    if (flags.vary !== undefined) return await searchIn(configs, load, options, conditions, flags);
    if (paths.length > 1) return await compareAll(configs, load, options, conditions, flags);
    const report = await simulate(Object.values(configs)[0]!, load, options);
    await print(flags.json ? `${JSON.stringify(report, undefined, 2)}\n` : textOf(report, width));
    if (flags.svg !== undefined) draw(flags.svg, report);
    return await judge(conditions, [report], flags);
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

/** Reads a load document or a trace. */
function readLoad(path: string): string | LoadDocument {
  if (!path.endsWith(TRACE)) return loadDocumentFile(path, "load document", checked);
  const text = readText(path, "load");
  if (!isTrace(text)) {
    throw new UsageError(`Cannot read load '${path}': it is not a trace, although it ends in ${TRACE}`);
  }
  return text;
}

function readText(path: string, word: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`Cannot read ${word} '${path}': ${describeSystemError(error, "file")}`);
  }
}

/** Checks a load document, so that its problems are reported with their lines. */
function checked(document: object): LoadDocument {
  checkLoad(document);
  return document as LoadDocument;
}

/** Reads a config after checking it, so that its problems are reported with their lines. */
function readChecked(path: string, registries: SimulateOptions): object {
  loadConfigFile(path, registries);
  return readConfigFile(path);
}

/** Returns the name of a config in comparisons: its file name or, if two have the same, its path. */
function nameOf(path: string, paths: readonly string[]): string {
  const name = basename(path);
  return paths.filter((other) => basename(other) === name).length > 1 ? path : name;
}

/** Reads the files to which a load refers. Their paths count from the folder of the load. */
function filesOf(
  load: string | LoadDocument,
  flags: SimulateFlags,
  registries: SimulateOptions,
): Pick<SimulateOptions, "configs" | "trace"> {
  const { configs: paths, trace } = checkLoad(load);
  const pathOf = (path: string) => resolve(dirname(flags.load), path);
  const configs = Object.fromEntries(paths.map((path) => [path, readChecked(pathOf(path), registries)]));
  return trace === undefined ? { configs } : { configs, trace: readText(pathOf(trace), "trace") };
}

async function compareAll(
  configs: Readonly<Record<string, object>>,
  load: string | LoadDocument,
  options: SimulateOptions,
  conditions: readonly Condition[],
  flags: SimulateFlags,
): Promise<number> {
  const comparison = await compare(configs, load, { ...options, runs: flags.runs, by: flags.by });
  await print(flags.json ? `${JSON.stringify(comparison, undefined, 2)}\n` : comparisonText(comparison));
  if (flags.svg !== undefined) draw(flags.svg, comparison.reports[0]!);
  return await judge(conditions, comparison.reports, flags, comparison.names);
}

async function searchIn(
  configs: Readonly<Record<string, object>>,
  load: string | LoadDocument,
  options: SimulateOptions,
  conditions: readonly Condition[],
  { vary, json, svg }: SimulateFlags,
): Promise<number> {
  const [config, ...others] = Object.values(configs);
  if (others.length > 0) throw new UsageError("Cannot search: --vary takes one config");
  if (json || svg !== undefined) {
    throw new UsageError("Cannot search: --vary has no report; leave out --json and --svg");
  }
  if (conditions.length === 0) throw new UsageError("Cannot search: --vary needs a bound, given with --fail-if");
  const { value, text } = await search(config!, load, conditions, vary!, options);
  await print(`${text}\n`);
  return value === undefined ? EXIT.incomplete : EXIT.succeeded;
}

function draw(path: string, report: SimulationReport): void {
  try {
    writeFileSync(path, svgOf(report));
  } catch (error) {
    throw new UsageError(`Cannot write image '${path}': ${describeSystemError(error, "directory")}`);
  }
}

/** Prints the conditions that are true: on standard error if standard output is JSON. Returns the exit code. */
async function judge(
  conditions: readonly Condition[],
  reports: readonly SimulationReport[],
  { json }: SimulateFlags,
  names: readonly string[] = [],
): Promise<number> {
  let exitCode: number = EXIT.succeeded;
  for (const [i, report] of reports.entries()) {
    for (const condition of conditions) {
      if (!condition.holds(report)) continue;
      const name = names[i] === undefined ? "" : `${names[i]}: `;
      const line = `failed: ${name}${condition.text}: it is ${condition.valueIn(report)}\n`;
      await (json ? writeTo(stderr, line).catch(() => {}) : print(line)); // the exit code says it as well
      exitCode = EXIT.incomplete;
    }
  }
  return exitCode;
}
