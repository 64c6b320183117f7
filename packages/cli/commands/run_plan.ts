import type { QueueDocument } from "../config/run_config.ts";
import { pathPlaceholderIn } from "../items/command_template.ts";
import { STANDARD_INPUT } from "../items/input.ts";
import { operatorFaults, splitArguments } from "../items/item_arguments.ts";
import { namesColumn } from "../items/line_columns.ts";
import { queueFileOf } from "../remote/queue_file.ts";
import { UsageError } from "../system/usage_error.ts";
import type { RunEnvironment } from "./run_environment.ts";
import { type FlagDeclaration, type FlagFields, type FlagName, RUN_FLAGS, type RunFlags } from "./run_flags.ts";

/** All settings of a run, as plain data. The settings are decided before anything is opened. */
export interface RunPlan extends FlagFields {
  /** Command and its arguments. */
  readonly command: readonly string[];
  /** Items on the command line; `undefined` if the items are read from the input. */
  readonly items: readonly string[] | undefined;
  /**
   * Flags that decide how lines become items, such as `"--json"` or `"--colsep=,"`. A report can be resumed only with
   * the same flags.
   */
  readonly reading: readonly string[];
  /** Name of the only queue of the built-in config; `undefined` for `default`. */
  readonly builtInQueue?: string;
  /** Whether the list is typed at a terminal. */
  readonly readsTerminal: boolean;
  /** Queue options from flags. These options override the config. */
  readonly queueOptions: QueueDocument;
  /** Queue options that apply if neither a flag nor the config sets them. */
  readonly queueDefaults: QueueDocument;
}

/** Flags that {@linkcode RunPlan.reading} may contain, in the order in which reports list them. */
const READING_FLAGS = [
  "json",
  "null",
  "colsep",
  "no-dedupe",
  "replace",
  "no-append",
] as const satisfies readonly FlagName[];

/**
 * Decides all settings of a run. Opens, reads and writes nothing.
 *
 * @param args The command and its arguments, and possibly `:::` and items.
 * @param flags The given flags.
 * @param environment The facts about this process that determine defaults.
 * @returns The plan.
 * @throws {UsageError} If flags contradict each other or the command. The message lists every contradiction.
 */
export function planRun(args: readonly string[], flags: RunFlags, environment: RunEnvironment): RunPlan {
  const conflicts = conflictsOf(args, flags);
  if (conflicts.length === 1) throw new UsageError(conflicts[0]!);
  if (conflicts.length > 1) {
    throw new UsageError(
      `Cannot run: the command line has ${conflicts.length} problems:\n  ${conflicts.join("\n  ")}`,
    );
  }
  const { fields, queueOptions, queueDefaults } = settingsOf(flags, environment);
  const { command, items } = splitArguments(args);
  return {
    command,
    items,
    ...fields,
    separator: items === undefined ? fields.separator : "NUL",
    reading: READING_FLAGS.filter((name) => flags[name] !== undefined).map((name) => readingFlag(name, flags[name])),
    readsTerminal: items === undefined && fields.input === STANDARD_INPUT && environment.isInputTerminal,
    queueOptions,
    queueDefaults,
  };
}

function readingFlag(name: FlagName, value: unknown): string {
  const { takes }: FlagDeclaration = RUN_FLAGS[name];
  return takes === undefined ? `--${name}` : `--${name}=${value}`;
}

function conflictsOf(args: readonly string[], flags: RunFlags): string[] {
  const { command, items } = splitArguments(args);
  const conflicts = operatorFaults(args);
  if (items !== undefined && flags.input !== undefined) {
    conflicts.push(
      "Cannot use --input with ':::', after which the items follow; leave out one of them",
    );
  }
  if (flags.report !== undefined && flags.resume !== undefined) {
    conflicts.push("Cannot use --report with --resume, which appends to its own report; leave out --report");
  }
  if (flags.queue !== undefined && queueFileOf(flags.queue) !== undefined) {
    for (const [name, { notInFile }] of Object.entries<FlagDeclaration>(RUN_FLAGS)) {
      if (notInFile === undefined || flags[name as FlagName] === undefined) continue;
      conflicts.push(`Cannot use --${name} with a queue in a file: ${notInFile}`);
    }
  }
  if (flags.json && flags["group-by"] !== undefined) {
    conflicts.push("Cannot group JSON lines by a separator; leave out --json or --group-by");
  }
  if (outputModesOf(flags).size > 1) {
    conflicts.push(
      "Cannot print output both by line and by group; leave out --output line and --line-buffer, or --output group, " +
        "--group and --keep-order",
    );
  }
  if (flags.replace !== undefined && (flags.json || flags.colsep !== undefined)) {
    conflicts.push(
      "Cannot use -I with --json or --colsep, whose placeholders are names in braces; leave out one of them",
    );
  }
  if (flags.json && flags.colsep !== undefined) {
    conflicts.push("Cannot split JSON lines into columns; leave out --json or --colsep");
  }
  if (!flags.json && flags.colsep !== undefined && !namesColumn(command)) {
    conflicts.push("Cannot use --colsep: the command has no placeholder for a column, such as {1}");
  }
  const codes = flags["give-up-on"]?.filter((code) => flags["retry-after-on"]?.includes(code)) ?? [];
  if (codes.length > 0) {
    conflicts.push(
      `Cannot both give up and retry on exit code ${codes.join(", ")}; remove it from --give-up-on or --retry-after-on`,
    );
  }
  const placeholder = flags.json && pathPlaceholderIn(command);
  if (placeholder !== undefined) {
    conflicts.push(`Cannot fill ${placeholder}: a JSON line is not a path; use the name of a member, such as {name}`);
  }
  return conflicts;
}

/** Returns whether output is printed by line or by group according to the flags; both values if the flags disagree. */
function outputModesOf(flags: RunFlags): Set<"line" | "group"> {
  const modes = [flags.output, flags.group, flags["line-buffer"], flags["keep-order"]];
  return new Set(modes.filter((mode) => mode !== undefined).map((mode) => mode === "line" ? "line" : "group"));
}

/** Copies the value of each flag, or its default, to the destination that the flag's declaration specifies. */
function settingsOf(
  flags: RunFlags,
  environment: RunEnvironment,
): { fields: FlagFields; queueOptions: QueueDocument; queueDefaults: QueueDocument } {
  const resolve = (value: unknown): unknown => typeof value === "function" ? value(environment) : value;
  const fields: Record<string, unknown> = {};
  const queueOptions: Record<string, unknown> = {};
  const queueDefaults: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries<FlagDeclaration>(RUN_FLAGS)) {
    const given = resolve(flags[name as FlagName]);
    const otherwise = resolve(flag.default);
    if (flag.field !== undefined) {
      fields[flag.field] = given ?? fields[flag.field] ?? otherwise; // two flags can set the same field
    } else {
      if (given !== undefined) queueOptions[flag.queueOption] = given;
      if (otherwise !== undefined) queueDefaults[flag.queueOption] = otherwise;
    }
  }
  return { fields: fields as unknown as FlagFields, queueOptions, queueDefaults };
}
