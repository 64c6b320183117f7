/**
 * Load documents: which items arrive when, how long attempts take, which attempts fail, and what else happens.
 *
 * @module
 */

import { ConfigError, type Duration } from "@workqueue/core";
import {
  buildOptions,
  ConfigReader,
  type Fields,
  type OptionsInput,
  type OptionsOf,
  optionsSchema,
  partContextOf,
  type PartKind,
  partSchemas,
  SCHEMA_DIALECT,
} from "@workqueue/core/internal/registry";
import { inspect, isPlainObject, suggest } from "@workqueue/core/internal";
import { isTrace, type Trace } from "../trace/read_trace.ts";
import { arrivalDefinitions } from "./arrivals.ts";
import { backendDefinitions } from "./backend.ts";
import { changeDefinitions } from "./changes.ts";
import { failureDefinitions } from "./failures.ts";
import { groupDefinitions } from "./group.ts";
import { keyspaceDefinitions } from "./keyspaces.ts";
import {
  arrivalKind,
  backendKind,
  changeKind,
  failureKind,
  groupKind,
  keyspaceKind,
  type LoadDefinition,
  type LoadParts,
  type LoadWord,
  workloadKind,
} from "./kinds.ts";
import { workloadDefinitions } from "./workloads.ts";

/** Options of a load document, each declared once. */
export const loadFields = {
  $schema: {
    kind: "string",
    required: false,
    description: "Path or URL of the JSON Schema of this document, for editors.",
  },
  queue: {
    kind: "string",
    required: false,
    description: "Name of the queue in the config. Default: the only queue of the config.",
  },
  duration: {
    kind: "duration",
    min: 1,
    required: false,
    description:
      "Time during which items arrive. The simulation goes on until the backlog is gone, but at most as long again. Default: until the last event of the trace, and then at least an hour for the backlog.",
  },
  warmUp: {
    kind: "duration",
    default: 0,
    description: "Time at the beginning whose arrivals are left out of the waits and the totals. Default: none.",
  },
  trace: {
    kind: "string",
    minLength: 1,
    required: false,
    description:
      "Path of a recorded trace, from the load's folder. Then arrivals, keys, groups, priorities and work come from the trace, and so do the failures that the trace has.",
  },
  arrivals: { kind: "arrivals", default: [], description: "Times at which items arrive. Several sources add up." },
  keys: { kind: "keyspace", required: false, description: "Keys of the items. Default: all are distinct." },
  groups: { kind: "groups", default: [], description: "Groups of keys. Default: keys have no group." },
  priorities: {
    kind: "weights",
    required: false,
    description: 'Priorities, and how often each occurs in proportion, such as { "0": 9, "50": 1 }. Default: 0.',
  },
  work: { kind: "workload", required: false, description: "Time that attempts take." },
  failures: { kind: "failures", default: [], description: "Reasons why attempts fail. The first that applies counts." },
  eventsWhileFailing: {
    kind: "duration",
    min: 1,
    required: false,
    description: "While a key is failing, it is added again, on average once in this time. Default: it is not.",
  },
  backend: {
    kind: "backend",
    required: false,
    description: "Backend that becomes slower the more attempts it works on. Default: one without limits.",
  },
  changes: { kind: "changes", default: [], description: "Changes at certain times." },
} as const satisfies Fields<LoadWord>;

/** A load document: what happens to a queue. */
export type LoadDocument = OptionsInput<typeof loadFields, { [Word in LoadWord]: LoadPartConfig }>;

/** Config of a part of a load document. The `type` determines the other options. */
export type LoadPartConfig = { readonly [option: string]: unknown };

/** A load that has been read and built. */
export interface Load extends LoadOptions {
  readonly duration: number;
  /** Time at which the simulation stops even if items are left, in milliseconds. */
  readonly end: number;
}

/** Options of a load that have been read and built. */
export type LoadOptions = OptionsOf<typeof loadFields, LoadParts>;

const sources = [
  source(arrivalKind, arrivalDefinitions),
  source(keyspaceKind, keyspaceDefinitions),
  source(workloadKind, workloadDefinitions),
  source(failureKind, failureDefinitions),
  source(groupKind, groupDefinitions),
  source(backendKind, backendDefinitions),
  source(changeKind, changeDefinitions),
] as const;

const ACTION = "read load";
/** Time for the backlog of a short trace, because another config may take much longer. In milliseconds. */
const HOUR = 3_600_000;

/** Files to which a load document refers. Their paths count from the folder of the document. */
export interface LoadFiles {
  /** Configs of the reloads. */
  readonly configs: readonly string[];
  /** Recorded trace; `undefined` if there is none. */
  readonly trace: string | undefined;
}

/**
 * Checks a load document. A trace, which refers to no files, is checked when it is simulated.
 *
 * @example Usage
 * ```ts
 * import { checkLoad } from "@workqueue/simulate";
 * import { assertEquals } from "@std/assert";
 *
 * const { configs } = checkLoad(`{
 *   "duration": "10m",
 *   "arrivals": [{ "type": "constant", "rate": 5 }],
 *   "work": { "type": "constant", "time": "100ms" },
 *   "changes": [{ "type": "reload", "at": "5m", "config": "new.json" }]
 * }`);
 * assertEquals(configs, ["new.json"]);
 * ```
 *
 * @param source JSON text, a parsed document, or the text of a trace.
 * @returns The files to which the document refers.
 * @throws {ConfigError} If the document is invalid. The error lists every problem.
 */
export function checkLoad(source: string | object): LoadFiles {
  if (isTrace(source)) return { configs: [], trace: undefined };
  const { changes, trace } = readLoadOptions(source);
  return { configs: changes.flatMap(({ action }) => action.type === "reload" ? action.config : []), trace };
}

/**
 * Reads and checks a load document.
 *
 * @param source JSON text, or a parsed document.
 * @param duration The duration to use instead of the document's duration.
 * @throws {ConfigError} If the document is invalid. The error lists every problem.
 */
export function readLoadOptions(source: string | object, duration?: Duration): LoadOptions {
  const reader = new ConfigReader(ACTION, ...sources);
  const parsed = typeof source === "string" ? parse(source) : source;
  if (!isPlainObject(parsed)) {
    throw new ConfigError(ACTION, [{ path: "", message: "the load must be an object" }]);
  }
  const document = duration === undefined ? parsed : { ...parsed, duration };
  const tree = reader.readOptions(loadFields, document, "");
  checkTogether(document, tree.plain, reader);
  reader.throwIssues();
  return buildOptions(tree, { action: ACTION, context: partContextOf({}) }) as LoadOptions;
}

/** Returns a load with its duration. By default, a load lasts until the last event of its trace. */
export function loadOf(options: LoadOptions, trace?: Trace): Load {
  const duration = options.duration ?? Math.floor(trace?.duration ?? 0) + 1;
  const rest = options.duration === undefined ? Math.max(duration, HOUR) : duration;
  return { ...options, duration, end: duration + rest };
}

/** Returns a JSON Schema (draft 2020-12) for load documents. */
export function loadSchema(): Record<string, unknown> {
  const kinds = sources.map(({ kind }) => kind as PartKind);
  return {
    $schema: SCHEMA_DIALECT,
    title: "Load of a work queue, for a simulation",
    ...optionsSchema(loadFields, kinds),
    $defs: Object.assign({}, ...sources.map(({ kind, list }) => partSchemas(kind as PartKind, list as never))),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError(ACTION, [{ path: "", message: `the text is not JSON: ${(error as Error).message}` }]);
  }
}

/** Options that a trace replaces. */
const FROM_TRACE = ["arrivals", "keys", "groups", "priorities", "work"];

/** Checks what the declarations of single options can't express. */
function checkTogether(
  document: Readonly<Record<string, unknown>>,
  plain: Readonly<Record<string, unknown>>,
  reader: ConfigReader,
): void {
  const has = (option: string) => document[option] !== undefined;
  if (!has("duration") && !has("trace")) {
    reader.fail("/duration", "missing required option 'duration' (time during which items arrive)");
  }
  if (has("trace")) {
    for (const option of FROM_TRACE.filter(has)) reader.fail(`/${option}`, `'${option}' comes from the trace`);
  } else {
    const { arrivals } = document;
    const isEmpty = arrivals === undefined || (Array.isArray(arrivals) && arrivals.length === 0);
    if (isEmpty) reader.fail("/arrivals", "'arrivals' must have at least one source, unless there is a trace");
    if (!has("work")) reader.fail("/work", "missing required option 'work' (time that attempts take)");
    checkGroups(document, reader);
  }
  if (!has("backend")) checkCapacities(document, reader);
  const priorities = plain["priorities"] as ReadonlyMap<string, number> | undefined;
  for (const name of priorities?.keys() ?? []) {
    if (name.trim() === "" || !Number.isFinite(Number(name))) {
      reader.fail(`/priorities/${name}`, `a priority must be a finite number, got '${name}'`);
    }
  }
}

/** Refuses failures of groups that the load doesn't have. */
function checkGroups(document: Readonly<Record<string, unknown>>, reader: ConfigReader): void {
  const known = [...namesIn(document["groups"], "name"), ...namesIn(document["arrivals"], "group")];
  const { failures } = document;
  for (const [i, part] of (Array.isArray(failures) ? failures : []).entries()) {
    const group: unknown = part?.["group"];
    if (typeof group !== "string" || known.includes(group)) continue;
    reader.fail(`/failures/${i}/group`, `the load has no group ${inspect(group)}${suggest(group, known)}`);
  }
}

/** Refuses changes of the capacity of a backend that the load doesn't have. */
function checkCapacities({ changes }: Readonly<Record<string, unknown>>, reader: ConfigReader): void {
  for (const [i, part] of (Array.isArray(changes) ? changes : []).entries()) {
    if (part?.["type"] === "capacity") {
      reader.fail(`/changes/${i}`, "the load has no 'backend' whose capacity can change");
    }
  }
}

function namesIn(parts: unknown, option: string): string[] {
  return (Array.isArray(parts) ? parts : []).map((part) => part?.[option]).filter((name) => typeof name === "string");
}

function source<Word extends LoadWord>(
  kind: PartKind<Word, LoadParts[Word]>,
  list: readonly LoadDefinition<Word, never>[],
) {
  const byType = new Map(list.map((definition) => [definition.type, definition]));
  const definitions = {
    get: (type: string) => byType.get(type) as LoadDefinition<Word> | undefined,
    types: () => [...byType.keys()],
  };
  return { kind, list, definitions };
}
