import {
  A_FUNCTION,
  A_METRICS_PROVIDER,
  A_POSITIVE_INTEGER,
  argumentError,
  hasMethods,
  invalidArgument,
  requireRules,
  type Rule,
  timeoutRule,
} from "@workqueue/core/internal";
import type { CacheOptions } from "../cache/contract.ts";
import { fieldTerms, labelTest } from "../cache/selectors.ts";
import type { KubeObject } from "../kube_object.ts";
import type { ControllerOptions, ManagerOptions } from "./contract.ts";

type RulesOf<K extends PropertyKey> = Readonly<Record<K, Rule>>;

const A_TEXT: Rule = [(value: unknown) => typeof value === "string" && value !== "", "must be a non-empty string"];
const A_PORT: Rule = [
  (value: unknown) => Number.isInteger(value) && (value as number) > 0 && (value as number) < 65_536,
  "must be a port from 1 to 65535",
];
const A_CLIENT: Rule = [(value: unknown) => hasMethods(value, "request", "watch"), "must be a Client"];
const AN_OBJECT: Rule = [(value: unknown) => typeof value === "object" && value !== null, "must be an object"];
const A_CACHE: Rule = [(value: unknown) => hasMethods(value, "get", "subscribe"), "must be made by manager.cache()"];
const A_LIMITER: Rule = [
  (value: unknown) => hasMethods(value, "when", "forget", "numRequeues"),
  "must be made by a create…Limiter",
];
const NAMESPACES: Rule = [
  (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every((name) => name && typeof name === "string"),
  "must be a list of at least one name",
];
const FUNCTIONS: Rule = [
  (value: unknown) =>
    typeof value === "object" && value !== null && Object.values(value).every((one) => typeof one === "function"),
  "must be an object of functions",
];
const CACHES: Rule = [
  (value: unknown) => Array.isArray(value) && value.every((one) => A_CACHE[0](one as never)),
  `must be a list of caches, ${A_CACHE[1].slice("must be ".length)}`,
];
const WATCHED: Rule = [
  (value: unknown) =>
    Array.isArray(value) &&
    value.every((one) => A_CACHE[0](one?.cache as never) && typeof one.keys === "function"),
  "must be a list of objects with a 'cache' and a function 'keys'",
];

const OF_MANAGER: RulesOf<keyof ManagerOptions> = {
  name: A_TEXT,
  client: A_CLIENT,
  lease: AN_OBJECT,
  port: A_PORT,
  host: A_TEXT,
  metrics: A_METRICS_PROVIDER,
  onError: A_FUNCTION,
  syncTimeout: timeoutRule(),
  shutdownGrace: timeoutRule(),
};
const OF_CACHE: RulesOf<keyof CacheOptions<KubeObject>> = {
  namespaces: NAMESPACES,
  labelSelector: [
    (value: unknown) => isParsed(labelTest, value),
    'must be a label selector, such as "app=web,!canary"',
  ],
  fieldSelector: [
    (value: unknown) => isParsed(fieldTerms, value),
    'must be a field selector, such as "metadata.name=a"',
  ],
  indexes: FUNCTIONS,
  transform: A_FUNCTION,
  resync: timeoutRule(),
};
const OF_CONTROLLER: RulesOf<keyof ControllerOptions<KubeObject>> = {
  reconcile: A_FUNCTION,
  finalizer: A_TEXT,
  cleanup: A_FUNCTION,
  owns: CACHES,
  watches: WATCHED,
  changed: A_FUNCTION,
  name: A_TEXT,
  concurrency: A_POSITIVE_INTEGER,
  timeout: timeoutRule(),
  limiter: A_LIMITER,
};

function isParsed(parse: (text: string) => unknown, value: unknown): boolean {
  if (typeof value !== "string" || value === "") return false;
  try {
    parse(value);
    return true;
  } catch {
    return false;
  }
}

/** Checks the options of a manager. */
export function requireManagerOptions(options: ManagerOptions): void {
  requireRules("create manager", options, OF_MANAGER);
  if (options.name === undefined) throw invalidArgument("create manager", "name", A_TEXT[1], options.name);
}

/** Checks the arguments of `Manager.cache`. */
export function requireCacheOptions(apiVersion: string, kind: string, options: object): void {
  const action = "create cache";
  for (const [name, value] of Object.entries({ apiVersion, kind })) {
    if (!A_TEXT[0](value as never)) throw invalidArgument(action, name, A_TEXT[1], value);
  }
  requireRules(action, options, OF_CACHE);
}

/** Checks the arguments of `Manager.control`. */
export function requireControllerOptions(cache: unknown, options: ControllerOptions<never>): void {
  const action = "create controller";
  if (!A_CACHE[0](cache as never)) throw invalidArgument(action, "cache", A_CACHE[1], cache);
  requireRules(action, options, OF_CONTROLLER);
  const { reconcile, finalizer, cleanup } = options;
  if (reconcile === undefined) throw invalidArgument(action, "reconcile", A_FUNCTION[1], reconcile);
  if ((finalizer === undefined) !== (cleanup === undefined)) {
    throw argumentError(action, "'finalizer' and 'cleanup' need each other", TypeError);
  }
}
