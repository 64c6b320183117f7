import {
  A_FUNCTION,
  A_METRICS_PROVIDER,
  A_POSITIVE_INTEGER,
  argumentError,
  hasMethods,
  requireRule,
  requireRules,
  type Rule,
  timeoutRule,
} from "@workqueue/core/internal";
import type { CacheOptions } from "../cache/contract.ts";
import { fieldTerms, labelTest } from "../cache/selectors.ts";
import type { KubeObject } from "../kube_object.ts";
import { A_TEXT } from "../rules.ts";
import type { ControllerOptions, ManagerOptions, Watched } from "./contract.ts";

type RulesOf<K extends PropertyKey> = Readonly<Record<K, Rule>>;

const [A_DURATION, MADE_BY] = [timeoutRule(), "made by manager.cache()"];
const A_CACHE: Rule = [isCache, `must be ${MADE_BY}`];

const OF_MANAGER: RulesOf<keyof ManagerOptions> = {
  name: A_TEXT,
  client: [(value: unknown) => hasMethods(value, "request", "watch"), "must be a Client"],
  lease: [isObject, "must be an object"],
  port: [
    (value: number) => Number.isInteger(value) && value > 0 && value < 65_536,
    "must be a port from 1 to 65535",
  ],
  metrics: A_METRICS_PROVIDER,
  onError: A_FUNCTION,
  syncTimeout: A_DURATION,
  shutdownGrace: A_DURATION,
};
const OF_CACHE: RulesOf<keyof CacheOptions<KubeObject>> = {
  namespaces: [(value: unknown) => isList(value, A_TEXT[0]) && value.length > 0, "must be a list of at least one name"],
  labelSelector: [parsesAs(labelTest), 'must be a label selector, such as "app=web,!canary"'],
  fieldSelector: [parsesAs(fieldTerms), 'must be a field selector, such as "metadata.name=a"'],
  indexes: [
    (value: unknown) => isObject(value) && isList(Object.values(value), A_FUNCTION[0]),
    "must be an object of functions",
  ],
  transform: A_FUNCTION,
  resync: A_DURATION,
};
const OF_CONTROLLER: RulesOf<keyof ControllerOptions<KubeObject>> = {
  reconcile: A_FUNCTION,
  finalizer: [
    (value: unknown) => typeof value === "string" && /^[a-z0-9.-]+\/[\w.-]+$/i.test(value),
    'must be a name with a domain, such as "example.com/bucket"',
  ],
  cleanup: A_FUNCTION,
  owns: [(value: unknown) => isList(value, isCache), `must be a list of caches, ${MADE_BY}`],
  watches: [
    (value: unknown) => isList(value, (one: Watched<KubeObject>) => hasMethods(one, "keys") && isCache(one.cache)),
    "must be a list of objects with a 'cache' and a function 'keys'",
  ],
  changed: A_FUNCTION,
  name: A_TEXT,
  concurrency: A_POSITIVE_INTEGER,
  timeout: A_DURATION,
  limiter: [
    (value: unknown) => hasMethods(value, "when", "forget", "numRequeues"),
    "must be made by a create…Limiter",
  ],
};

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isList(value: unknown, isItem: (item: never) => boolean): value is unknown[] {
  return Array.isArray(value) && value.every((item) => isItem(item as never));
}

function isCache(value: unknown): boolean {
  return hasMethods(value, "get", "subscribe");
}

function parsesAs(parse: (text: string) => unknown): (value: unknown) => boolean {
  return (value) => {
    try {
      return value !== "" && parse(value as string) !== undefined;
    } catch {
      return false;
    }
  };
}

/** Checks the options of a manager. */
export function requireManagerOptions(options: ManagerOptions): void {
  requireRules("create manager", options, OF_MANAGER);
  requireRule("create manager", "name", options.name, A_TEXT);
}

/** Checks the arguments of `Manager.cache`. */
export function requireCacheOptions(apiVersion: string, kind: string, options: object): void {
  for (const [name, value] of Object.entries({ apiVersion, kind })) requireRule("create cache", name, value, A_TEXT);
  requireRules("create cache", options, OF_CACHE);
}

/** Checks the arguments of `Manager.control`. */
export function requireControllerOptions(cache: unknown, options: ControllerOptions<never>): void {
  const action = "create controller";
  requireRule(action, "cache", cache, A_CACHE);
  requireRules(action, options, OF_CONTROLLER);
  requireRule(action, "reconcile", options.reconcile, A_FUNCTION);
  if ((options.finalizer === undefined) !== (options.cleanup === undefined)) {
    throw argumentError(action, "'finalizer' and 'cleanup' need each other", TypeError);
  }
}
