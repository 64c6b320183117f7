/** Generator of config documents for tests: valid documents, and random changes that break them. */

import { disciplines, type Field, type Fields, limiters, throttles } from "@workqueue/core";
import { queueOptions } from "@workqueue/core/config";
import { randomNumbers } from "../queue_helpers.ts";

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

const LONG = "9".repeat(100_000);
const HOSTILE_KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "toJSON",
  "then",
  "type",
  "limiters",
  "",
  " ",
  "0",
  "-1",
  "a/b",
  "a~b",
  "~1",
  "\u0000",
  "\ud800",
  "\udfff\ud800",
  "é\u0301",
  LONG,
];
export const HOSTILE_VALUES: Json[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  0.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 53,
  2 ** 31,
  -(2 ** 63),
  "",
  "0",
  "-1ms",
  "1e3ms",
  "1h",
  "9007199254740993ns",
  "250 ms",
  "1msms",
  "+5ms",
  "-0s",
  "-.1ns",
  ".5s",
  "1h-2m",
  "30d",
  "2562047h48m",
  "\ud800",
  "__proto__",
  "constructor",
  "NaN",
  LONG,
  LONG + "ms",
  "1ms".repeat(33_333),
  [],
  {},
  [[]],
  [null],
  [{}],
];
/**
 * Values that have no JSON form but may occur in an object that a program builds. Each use creates a new value, because
 * the tests edit documents.
 */
const FOREIGN_VALUES: (() => unknown)[] = [
  () => NaN,
  () => Infinity,
  () => -Infinity,
  () => undefined,
  () => () => {},
  () => Symbol("value"),
  () => 10n ** 30n,
  () => new Date(0),
  () => new Map([["type", "bucket"]]),
  () => /bucket/,
  () => Object.create({ type: "bucket", rate: 1, burst: 1 }),
  () => Object.assign(Object.create(null), { type: "bucket", rate: 1, burst: 1 }),
  () => Object(5),
  () => Object("bucket"),
  () => new Array(5),
  () => Object.freeze([Object.freeze({})]),
];
const DURATIONS = [0, 1, 0.5, 250, 1e8, "1ms", "1.5s", "1h2m3s", "5us", "+10ms", "0"];
const NAMES = ["a", "b", "c", "default", "toString", "x/y", "x~y", "é", "0"];

/** Kinds of parts that an option can have as its value. */
type Words = "limiter" | "discipline" | "throttle";

/** Registry of any kind of parts. */
interface PartTypes {
  types(): string[];
  get(type: string): { readonly options: Fields<Words> } | undefined;
}

/** Reports whether an option must have other parts. */
function isOfParts({ kind, required }: Field<Words>): boolean {
  return required !== false && /^(limiter|discipline|throttle)s?$/.test(kind);
}

/** Generates documents from the options that a registry's limiters declare. The same seed gives the same document. */
export class DocumentMaker {
  readonly random: () => number;

  constructor(seed: number, readonly registry = limiters) {
    this.random = randomNumbers(seed);
  }

  below(n: number): number {
    return Math.floor(this.random() * n);
  }

  pick<V>(values: readonly V[]): V {
    return values[this.below(values.length)]!;
  }

  /** Returns a valid document. */
  document(): JsonObject {
    const document: JsonObject = {};
    if (this.random() < 0.1) document["$schema"] = "./schema.json";
    const names: string[] = [];
    if (this.random() < 0.9) {
      const section: JsonObject = document["limiters"] = {};
      for (let i = this.below(4); i > 0; i--) {
        const name = this.pick(NAMES);
        if (names.includes(name)) continue;
        section[name] = this.limiter(names, 2);
        names.push(name);
      }
    }
    if (this.random() < 0.5) document["throttles"] = { shared: this.throttle(2), alias: "shared" };
    if (this.random() < 0.8) {
      const section: JsonObject = document["queues"] = {};
      for (let i = this.below(3); i > 0; i--) section[this.pick(NAMES)] = this.options(queueOptions, names, 2);
    }
    return document;
  }

  limiter(names: readonly string[], depth: number): Json {
    return names.length > 0 && this.random() < 0.3 ? this.pick(names) : this.described(names, depth);
  }

  /** Returns a limiter config, never the name of a limiter. */
  described(names: readonly string[], depth: number): Json {
    const type = this.#typeIn(this.registry, depth);
    const options = this.options(this.registry.get(type)!.options, names, depth - 1);
    if (type === "exponential") options["maxDelay"] = "100h"; // at least as long as every base delay
    return { type, ...options };
  }

  /** Returns a type of part. At depth 0, it is a type whose parts need no other parts. */
  #typeIn(registry: PartTypes, depth: number): string {
    const needsOthers = (type: string) => Object.values(registry.get(type)!.options).some(isOfParts);
    return this.pick(registry.types().filter((type) => depth > 0 || !needsOthers(type)));
  }

  throttle(depth: number): Json {
    if (this.random() < 0.3) return { rate: this.random() * 10, burst: this.below(9) };
    const type = this.#typeIn(throttles, depth);
    const options = this.options(throttles.get(type)!.options, [], depth - 1);
    if ("max" in options) Object.assign(options, { min: 1, max: 50, initial: 2 });
    return { type, ...options };
  }

  discipline(depth: number): Json {
    const type = this.pick(disciplines.types());
    const { within, ...options } = this.options(disciplines.get(type)!.options, [], depth - 1);
    if (type === "priority") options["max"] = 100; // above every minimum
    return depth > 0 && within !== undefined ? { type, ...options, within } : { type, ...options };
  }

  options(fields: Fields<Words>, names: readonly string[], depth: number): JsonObject {
    const options: JsonObject = {};
    for (const [option, field] of Object.entries(fields)) {
      if (field.required !== false || this.random() < 0.6) options[option] = this.value(field, names, depth);
    }
    return options;
  }

  value(field: Field<Words>, names: readonly string[], depth: number): Json {
    switch (field.kind) {
      case "duration": {
        const { min, max = 1000, infinite } = field;
        if (infinite && this.random() < 0.2) return "unlimited";
        return this.pick(min === undefined ? DURATIONS : [min, "1ms", `${max}ms`, max]);
      }
      case "integer":
        return Math.min((field.min ?? 0) + this.below(10), field.max ?? Infinity);
      case "number":
        return Math.min((field.min ?? 0) + this.random() * 10, field.max ?? Infinity);
      case "limiter":
        return field.template ? this.described(names, depth) : this.limiter(names, depth);
      case "limiters":
        return Array.from({ length: (field.minItems ?? 1) + this.below(2) }, () => this.limiter(names, depth));
      case "discipline":
        return depth < 0 ? null : this.discipline(depth);
      case "disciplines":
        return [];
      case "throttle":
        return this.throttle(depth);
      case "throttles":
        return Array.from({ length: (field.minItems ?? 1) + this.below(2) }, () => this.throttle(depth));
      case "weights":
        return Object.fromEntries(NAMES.slice(0, this.below(3)).map((name) => [name, 1 + this.below(9)]));
      case "durations": {
        const { kind: _, minItems = 0, default: _default, ...each } = field;
        const duration = { ...each, kind: "duration" } as const;
        return Array.from({ length: minItems + this.below(3) }, () => this.value(duration, names, depth));
      }
      case "rate":
        return { rate: 1 + this.below(9), burst: 1 + this.below(9) };
      case "retryBudget":
        return { ratio: this.random(), minRate: this.below(9) };
      case "retention":
        return this.pick<Json>([1 + this.below(9), { max: 1 + this.below(9) }, { max: 3, maxAge: "1h" }]);
      case "boolean":
        return this.random() < 0.5;
      case "string":
        return "x".repeat(field.minLength ?? this.below(3));
      case "enum":
        return this.pick(field.values);
    }
  }

  hostile(): Json {
    return clone(this.pick(HOSTILE_VALUES));
  }

  /** Returns random JSON. */
  json(depth: number): Json {
    const kind = this.random();
    if (depth === 0 || kind < 0.4) return this.hostile();
    const length = this.below(4);
    if (kind < 0.6) return Array.from({ length }, () => this.json(depth - 1));
    const object: JsonObject = {};
    for (let i = 0; i < length; i++) set(object, this.key(), this.json(depth - 1));
    return object;
  }

  key(): string {
    return this.random() < 0.4
      ? this.pick(HOSTILE_KEYS)
      : this.pick([...NAMES, "limiters", "queues", "type", "limiter", "rate", "maxDelay", "burts", "Rate"]);
  }

  /** Changes a document in one place so that it is probably no longer valid. */
  edit(document: JsonObject, asText: boolean): void {
    const { parent, key } = this.pick(placesIn(document));
    switch (this.below(8)) {
      case 0:
        if (Array.isArray(parent)) parent.splice(Number(key), 1);
        else delete parent[key];
        break;
      case 1: // adds a copy under another key
        add(parent, this.key(), clone(parent[key as never]));
        break;
      case 2:
        set(parent, key, asText || this.random() < 0.7 ? this.hostile() : this.pick(FOREIGN_VALUES)() as Json);
        break;
      case 3: {
        const value = parent[key as never];
        if (Array.isArray(parent)) parent.splice(Number(key), 1);
        else delete parent[key];
        add(parent, this.key(), value);
        break;
      }
      case 4: { // copies another part of the document to this place
        const from = this.pick(placesIn(document));
        set(parent, key, clone(from.parent[from.key as never]));
        break;
      }
      case 5:
        add(parent, this.key(), this.json(2));
        break;
      case 6:
        // A text gets fewer levels of nesting than an object, because JSON.stringify is recursive.
        set(
          parent,
          key,
          this.nested(1 + this.below(!asText && this.random() < 0.15 ? 5000 : 50), parent[key as never]),
        );
        break;
      case 7:
        set(parent, key, this.pick([...NAMES, ...this.registry.types()]));
        break;
    }
  }

  /** Wraps a value in many levels of nesting. */
  nested(depth: number, value: Json): Json {
    const wraps: ((inner: Json) => Json)[] = [
      (inner) => [inner],
      (limiter) => ({ type: "max-wait", limiter, maxDelay: 1 }),
      (limiter) => ({ type: "max-of", limiters: [limiter] }),
      (inner) => ({ a: inner }),
    ];
    const wrap = this.pick(wraps);
    for (let i = 0; i < depth; i++) value = wrap(value);
    return value;
  }

  /** Returns the JSON text with a random error inserted. */
  corrupt(text: string): string {
    const at = this.below(text.length + 1);
    switch (this.below(5)) {
      case 0:
        return text.slice(0, at);
      case 1:
        return text.slice(0, at) + text.slice(at + 1 + this.below(3));
      case 2:
        return text.slice(0, at) + this.pick([..."{}[],:\"\\ \n\t\u0000\ufeff0-.eE'/*é", "\ud800", "null"]) +
          text.slice(at);
      case 3:
        return text.slice(at) + text.slice(0, at);
      default: { // duplicates keys, and inserts numbers that a double can't represent
        const number = this.pick(["1e999", "-1e999", "1".repeat(400), "0." + "0".repeat(400) + "1", "-0", "01", "+1"]);
        return text.replace(/\d+/, number).replace(/"(\w+)":/, '"$1":0,"$1":');
      }
    }
  }

  /** Returns an argument for `loadConfig`: a document, as an object or as text. */
  source(): string | object {
    if (this.random() < 0.05) {
      const json = this.json(4);
      if (typeof json === "object" && json !== null && this.random() < 0.5) return json;
      return this.random() < 0.01 ? "[".repeat(50_000) : JSON.stringify(json);
    }
    const document = this.document();
    const asText = this.random() < 0.3;
    for (let edits = 1 + this.below(3); edits > 0; edits--) this.edit(document, asText);
    if (!asText) return document;
    const text = JSON.stringify(document);
    return this.random() < 0.5 ? this.corrupt(text) : text;
  }
}

interface Place {
  readonly parent: JsonObject | Json[];
  readonly key: string;
}

/**
 * Returns the places in a document, up to a maximum depth and a maximum number. The bounds save time: more places would
 * not reveal more errors.
 */
function placesIn(document: JsonObject): Place[] {
  const places: Place[] = [];
  const walk = (parent: JsonObject | Json[], depth: number) => {
    for (const key of Object.keys(parent)) {
      places.push({ parent, key });
      const value = parent[key as never] as Json;
      if (isEditable(value) && depth < 6 && places.length < 100) walk(value, depth + 1);
    }
  };
  walk(document, 0);
  if (places.length === 0) set(document, "limiters", {});
  return places.length === 0 ? [{ parent: document, key: "limiters" }] : places;
}

export function isContainer(value: unknown): value is JsonObject | Json[] {
  return Array.isArray(value) || (typeof value === "object" && value !== null);
}

/** Reports whether a value is an array or object that can be edited, not one of `FOREIGN_VALUES`. */
function isEditable(value: unknown): value is JsonObject | Json[] {
  return isContainer(value) && !Object.isFrozen(value) &&
    (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype);
}

/** Sets a property of the object itself, even if it is named `__proto__`, as `JSON.parse` does. */
function set(parent: JsonObject | Json[], key: string, value: Json): void {
  if (Array.isArray(parent) && !/^\d{1,3}$/.test(key)) parent.push(value);
  else Object.defineProperty(parent, key, { value, configurable: true, enumerable: true, writable: true });
}

function add(parent: JsonObject | Json[], key: string, value: Json): void {
  if (Array.isArray(parent)) parent.push(value);
  else set(parent, key, value);
}

/** Returns a deep copy of part of a document. Values without a JSON form are shared with the original. */
function clone(value: Json, depth = 0): Json {
  if (!isEditable(value) || depth > 60) return value;
  if (Array.isArray(value)) return value.map((each) => clone(each, depth + 1));
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) set(copy, key, clone(value[key]!, depth + 1));
  return copy;
}
