import type { queueOptions } from "@workqueue/core";
import { STANDARD_INPUT } from "../items/input.ts";
import { append, PLUGIN_HELP } from "./option_values.ts";
import type { RunEnvironment } from "./run_environment.ts";
import {
  automaticStderr,
  parseBackoff,
  parseColumnSeparator,
  parseConcurrency,
  parseExitCodes,
  parseJitter,
  parseOutput,
  parseOutputFile,
  parsePlaceholder,
  parsePort,
  parseRate,
  parseResults,
  parseRetries,
  parseScope,
  parseSeparator,
  parseStderr,
  parseTimeout,
  parseWhen,
} from "./run_values.ts";

/** Declaration of a flag. The flag's name is its key in {@linkcode RUN_FLAGS}. */
export type FlagDeclaration = FlagSyntax & FlagTarget;

interface FlagSyntax {
  /** Short name, of one letter. */
  readonly short?: `-${string}`;
  /** Another short name, of one letter, for a flag that takes a value. */
  readonly alias?: `-${string}`;
  /** Name of the value in the help: `<n>` if the value is required, `[port]` if it is optional. */
  readonly takes?: `<${string}>` | `[${string}]`;
  /** Description in the help. */
  readonly help: string;
  /**
   * Parses the value. `before` is the parsed value of the flag's previous occurrence on the command line. The result
   * can be a function that returns the value.
   *
   * @throws {InvalidArgumentError} If the value is invalid.
   */
  parse?(text: string, before?: unknown): unknown;
  /** Value of the flag if the command line contains the flag without a value. */
  readonly value?: unknown;
  /** Value of the flag if it is absent from the command line, or a function that returns this value. */
  readonly default?: unknown;
  /** Default to show in the help. If omitted, the help shows no default. */
  readonly shownDefault?: string;
  /** Reason why the flag can't be used with a queue in a file. If omitted, the flag can be used. */
  readonly notInFile?: string;
}

/** Destination of a flag's value. The default of a queue option applies only if the config doesn't set the option. */
type FlagTarget =
  | { readonly field: string; readonly queueOption?: never }
  | { readonly queueOption: keyof typeof queueOptions; readonly field?: never };

const DEFAULT_BACKOFF = "100ms..30s";
const DEFAULT_RETRIES = 5;

/**
 * Flags of `workqueue run`, each declared once, in the order of the help. A flag sets either a field of the plan
 * (`field`) or an option of the config's queue (`queueOption`).
 */
export const RUN_FLAGS = {
  input: {
    takes: "<file>",
    help: "file with one item per line; - is standard input",
    parse: String,
    default: STANDARD_INPUT,
    shownDefault: `"${STANDARD_INPUT}"`,
    field: "input",
  },
  null: {
    short: "-0",
    help: "items end with NUL instead of a line feed, as in the output of find -print0",
    value: "NUL",
    default: "line feed",
    field: "separator",
  },
  json: {
    help: "read each line as a JSON object, and replace {name} in the command with its member of that name",
    value: true,
    default: false,
    field: "isJson",
  },
  colsep: {
    takes: "<regexp>",
    help: "split each line into columns at this regular expression, and replace {1}, {2} … in the command",
    parse: parseColumnSeparator,
    field: "columnSeparator",
  },
  "no-dedupe": {
    help: "make each line an item, even if it equals another line",
    value: false,
    default: true,
    notInFile: "equal lines are one item there",
    field: "isDistinct",
  },
  replace: {
    short: "-I",
    takes: "<text>",
    help: "text that stands for the item in the command instead of {}, which is then text like any other",
    parse: parsePlaceholder,
    field: "replaces",
  },
  "no-append": {
    help: "don't append the item to a command without placeholders",
    value: false,
    default: true,
    field: "appends",
  },
  concurrency: {
    short: "-j",
    alias: "-P",
    takes: "<n>",
    help: "maximum number of commands that run at once, or a percentage of the processors, such as 50%",
    parse: parseConcurrency,
    default: ({ processors }: RunEnvironment) => processors,
    shownDefault: "number of processors",
    queueOption: "concurrency",
  },
  retries: {
    takes: "<n>",
    help: "maximum number of retries of an item",
    parse: parseRetries,
    default: DEFAULT_RETRIES,
    shownDefault: String(DEFAULT_RETRIES),
    queueOption: "maxRetries",
  },
  timeout: {
    takes: "<duration>",
    help: "kill an attempt that takes longer than this, such as 30s",
    parse: parseTimeout,
    queueOption: "timeout",
  },
  backoff: {
    takes: "<first..longest>",
    help: "first and longest delay of retries; the delay doubles with each failure",
    parse: parseBackoff,
    default: parseBackoff(DEFAULT_BACKOFF),
    shownDefault: DEFAULT_BACKOFF,
    queueOption: "limiter",
  },
  jitter: {
    takes: "<part>",
    help: "random part of each delay, from 0 to 1",
    parse: parseJitter,
    field: "jitter",
  },
  "give-up-on": {
    takes: "<codes>",
    help: "exit codes after which an item is not retried, such as 64,65",
    parse: parseExitCodes,
    default: [],
    field: "giveUpOn",
  },
  "retry-after-on": {
    takes: "<codes>",
    help: "exit codes after which a line retry-after: 30s on standard error sets the minimum delay of the retry",
    parse: parseExitCodes,
    default: [],
    field: "retryAfterOn",
  },
  "retry-after-scope": {
    takes: "<scope>",
    help: "item, group or run: what a line retry-after: delays, see --retry-after-on",
    parse: parseScope,
    default: "item",
    shownDefault: "item",
    field: "retryAfterScope",
  },
  rate: {
    takes: "<n/unit>",
    help: "maximum rate at which attempts start, such as 10/s, 100/m or 5/h",
    parse: parseRate,
    queueOption: "throttle",
  },
  "group-by": {
    takes: "<separator>",
    help:
      "let groups of items take turns; the group of an item is the text before the separator; for output, see --group",
    parse: parseSeparator,
    queueOption: "discipline",
  },
  halt: {
    takes: "<when>",
    help:
      "end early after N or N% given-up items: soon,fail=N or now,fail=N%; soon waits for running commands, now kills them",
    parse: parseWhen,
    field: "halt",
  },
  report: {
    takes: "<file>",
    help: "write the outcome of each item as a line of JSON to this file, which must be new or empty",
    parse: (text: string) => ({ path: parseOutputFile(text), resumes: false }),
    field: "report",
  },
  resume: {
    takes: "<file>",
    help: "continue this report: leave out items that have succeeded, and append to it",
    parse: (text: string) => ({ path: parseOutputFile(text), resumes: true }),
    field: "report",
  },
  record: {
    takes: "<file>",
    help: "write the load of the run as a trace, for workqueue simulate, to this file, which must be new or empty",
    parse: parseOutputFile,
    notInFile: "a trace needs a queue in memory",
    field: "record",
  },
  tag: {
    help: "print the item and a tab before each line of its output",
    value: true,
    default: false,
    field: "isTagged",
  },
  output: {
    takes: "<mode>",
    help:
      "line: print lines as soon as they are complete; group: print all output of an item's last attempt when the item has ended (--group-by is about turns, not output)",
    parse: parseOutput,
    default: "line",
    shownDefault: "line",
    field: "output",
  },
  group: {
    help: "the same as --output group (--group-by is about turns, not output)",
    value: "group",
    default: "line",
    field: "output",
  },
  "line-buffer": {
    help: "the same as --output line, the default",
    value: "line",
    default: "line",
    field: "output",
  },
  "keep-order": {
    short: "-k",
    help: "like --output group, but in the order of the input; runs at most 10,000 items ahead of the output",
    value: "input order",
    default: "line",
    notInFile: "other processes may run some of the items",
    field: "output",
  },
  stderr: {
    takes: "<mode>",
    help:
      "pass: print the commands' standard error, with the item and a tab before each line; auto: only on a terminal",
    parse: parseStderr,
    default: automaticStderr,
    shownDefault: "auto",
    field: "stderr",
  },
  results: {
    takes: "<dir>",
    help: "save the output of each item's last attempt in this directory, as 1/ITEM/stdout, stderr and seq",
    parse: parseResults,
    field: "results",
  },
  quiet: {
    help: "print no progress, and no summary if every item succeeds, for example for cron",
    value: "quiet",
    default: ({ canShowRows }: RunEnvironment) => canShowRows ? "rows" : "lines",
    field: "progress",
  },
  serve: {
    takes: "[port]",
    help: "serve the dashboard of the run to this machine, on the given port or any free one",
    parse: parsePort,
    value: 0,
    notInFile: "the dashboard needs a queue in memory",
    field: "dashboardPort",
  },
  "dry-run": {
    help: "print the commands without running them",
    value: true,
    default: false,
    notInFile: "the items in the file would be missing",
    field: "isDryRun",
  },
  config: {
    takes: "<file>",
    help: "config file with queues and limiters: .json, .jsonc, .yaml, .yml or .toml",
    parse: String,
    field: "config",
  },
  queue: {
    takes: "<queue>",
    help:
      "queue of the config to use; required if the config has several and none is named default; or a file that keeps the items, such as jobs.db or jobs.db#images",
    parse: String,
    field: "queue",
  },
  plugin: {
    takes: "<file>",
    help: PLUGIN_HELP,
    parse: append,
    default: [],
    field: "plugins",
  },
} as const satisfies Readonly<Record<string, FlagDeclaration>>;

type Flags = typeof RUN_FLAGS;

/** Name of a flag, without its dashes. */
export type FlagName = keyof Flags;

type ValueOf<Flag> =
  | (Flag extends { readonly parse: (text: string) => infer Value } ? Value : never)
  | (Flag extends { readonly value: infer Value } ? Value : never);

type DefaultOf<Flag> = Flag extends { readonly default: infer Value } ? Resolved<Value> : undefined;

type Resolved<Value> = Value extends (environment: RunEnvironment) => infer Result ? Result : Value;

/** Values of the given flags. */
export type RunFlags = { readonly [Name in FlagName]?: ValueOf<Flags[Name]> };

/** Fields of the plan that flags set. */
export type FlagFields = {
  readonly [Name in FlagName as Flags[Name] extends { readonly field: infer Field extends string } ? Field : never]:
    | Resolved<ValueOf<Flags[Name]>>
    | DefaultOf<Flags[Name]>;
};
