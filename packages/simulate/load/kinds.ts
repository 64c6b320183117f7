/**
 * Kinds of parts of a load document, and the interfaces of the parts.
 *
 * @module
 */

import type { RetryScope } from "@workqueue/core";
import type { Fields, PartDefinition, PartKind } from "@workqueue/core/internal/registry";
import type { RandomNumbers } from "../random/random_numbers.ts";

/** Times at which items arrive. */
export interface Arrivals {
  /** Group of all items; `undefined` if groups are drawn. */
  readonly group: string | undefined;
  /** Priority of all items; `undefined` if priorities are drawn. */
  readonly priority: number | undefined;
  /** Iterates over the times of the arrivals before `end`, in milliseconds from the start, in ascending order. */
  times(random: RandomNumbers, end: number): Iterator<number, unknown>;
}

/** Source of the keys of arriving items. */
export interface Keyspace {
  /** Returns a key, without its group. `arrival` is the number of the arrival, from 0. */
  next(arrival: number, random: RandomNumbers): string;
}

/** Time that attempts take, as long as nothing slows them down. */
export interface Workload {
  /** Returns the time of one attempt in milliseconds. */
  time(random: RandomNumbers): number;
}

/** An attempt that is about to begin. */
export interface SimulatedAttempt {
  readonly key: string;
  /** Group of the key; `""` if there are no groups. */
  readonly group: string;
  /** Number of the arrival that led to the attempt, from 0. */
  readonly arrival: number;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Time at which the attempt begins, in milliseconds from the start. */
  readonly at: number;
  /** Seed of the simulation. */
  readonly seed: number;
}

/** Outcome of an attempt that fails. */
export interface Failing {
  /** Name of the failure in reports. */
  readonly reason: string;
  /** Milliseconds after which the attempt fails; `undefined` for the time of its work, `Infinity` for never. */
  readonly after: number | undefined;
  /** Delay of a `RetryAfterError` in milliseconds; `undefined` for another error. */
  readonly retryAfter: number | undefined;
  /** Scope of the `RetryAfterError`: what must wait. */
  readonly scope: RetryScope | undefined;
  /** Whether the item is given up at once. */
  readonly isTerminal: boolean;
}

/** Reason why some attempts fail. */
export interface Failure {
  /** Period in which attempts fail, for the report; `undefined` if there is no such period. */
  readonly outage?: Outage;
  /** Returns how the attempt fails; `undefined` if this is no reason for it to fail. */
  failing(attempt: SimulatedAttempt): Failing | undefined;
}

/** Period in which attempts fail, in milliseconds from the start. */
export interface Outage {
  readonly from: number;
  readonly to: number;
}

/** Group of keys, such as a tenant. */
export interface Group {
  readonly name: string;
  /** Weight of the group among all arrivals. */
  readonly share: number;
  /** Factor by which attempts take longer than the load's work. */
  readonly slowness: number;
}

/** Backend that all attempts share. */
export interface Backend {
  /** Number of attempts that the backend works on at full speed. */
  readonly capacity: number;
  /** Number of attempts from which on the backend refuses further ones. */
  readonly limit: number;
  /** Number of attempts that the backend accepts in each minute; `undefined` for any number. */
  readonly quota: number | undefined;
  /** Time after which the backend refuses an attempt, in milliseconds. */
  readonly refusesAfter: number;
  /** Whether the backend stops working on an attempt whose caller has given up. */
  readonly stops: boolean;
  /** Delay of the `RetryAfterError` of a refused attempt in milliseconds; `undefined` for another error. */
  readonly retryAfter: number | undefined;
  /** Scope of the `RetryAfterError`: what must wait. */
  readonly scope: RetryScope | undefined;
}

/** Change at a certain time. */
export interface Change {
  /** Time of the change, in milliseconds from the start. */
  readonly at: number;
  readonly action:
    | { readonly type: "reload"; readonly config: string }
    | { readonly type: "pause"; readonly for: number }
    | { readonly type: "deploy"; readonly for: number; readonly relist: boolean }
    | { readonly type: "concurrency"; readonly concurrency: number }
    | { readonly type: "capacity"; readonly capacity: number; readonly limit: number | undefined };
}

/** Word for a kind of part of a load document. */
export type LoadWord = "arrival" | "keyspace" | "workload" | "failure" | "group" | "backend" | "change";

/** Types of the parts, by the words for their kinds. */
export interface LoadParts extends Record<LoadWord, unknown> {
  arrival: Arrivals;
  keyspace: Keyspace;
  workload: Workload;
  failure: Failure;
  group: Group;
  backend: Backend;
  change: Change;
}

/** Definition of a type of part of a load document. */
export type LoadDefinition<Word extends LoadWord, F extends Fields = Fields> = PartDefinition<
  Word,
  LoadParts[Word],
  string,
  F
>;

function kind<Word extends LoadWord>(word: Word, name: string, onlyType?: Word): PartKind<Word, LoadParts[Word]> {
  const is = (value: unknown): value is LoadParts[Word] => typeof value === "object" && value !== null;
  return { word, name, hasNames: false, is, ...(onlyType === undefined ? {} : { onlyType }) };
}

export const arrivalKind: PartKind<"arrival", Arrivals> = kind("arrival", "source of arrivals");
export const keyspaceKind: PartKind<"keyspace", Keyspace> = kind("keyspace", "keyspace");
export const workloadKind: PartKind<"workload", Workload> = kind("workload", "workload");
export const failureKind: PartKind<"failure", Failure> = kind("failure", "failure");
export const changeKind: PartKind<"change", Change> = kind("change", "change");
export const groupKind: PartKind<"group", Group> = kind("group", "group", "group");
export const backendKind: PartKind<"backend", Backend> = kind("backend", "backend", "backend");
