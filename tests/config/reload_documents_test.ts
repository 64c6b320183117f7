/**
 * Tests of rule 16 with random documents. Reloading a document has the same result as loading it, and all changes are
 * reported.
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { type ConfigChange, ConfigError, loadConfig, type WorkQueueConfig } from "@workqueue/core";
import { DocumentMaker, type Json, type JsonObject } from "./document_maker.ts";

const DOCUMENTS = 400;

/** Returns the descriptions of all queues in a config, as data. */
function described(config: WorkQueueConfig): unknown {
  return structuredClone([config.limiterNames, config.queueNames.map((name) => config.describe(name))]);
}

/**
 * Returns a document with all defaults filled in. The defaults are taken from the changes that are reported when the
 * document replaces an empty document.
 */
function complete(document: object): JsonObject {
  const whole: JsonObject = { limiters: {}, throttles: {}, queues: {} };
  apply(loadConfig({}).reload(document), whole);
  return whole;
}

/** Applies reported changes to a document. */
function apply(changes: readonly ConfigChange[], document: JsonObject): void {
  const gone: [JsonObject | Json[], string][] = [];
  for (const change of changes) {
    const keys = change.path.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = keys.pop()!;
    const parent = keys.reduce((value, key) => (value as JsonObject)[key] as JsonObject, document);
    assertEquals(Object.hasOwn(parent, last) ? parent[last] : undefined, change.old as Json | undefined, change.path);
    if (!("new" in change)) gone.push([parent, last]);
    else parent[last] = structuredClone(change.new) as Json;
  }
  for (const [parent, key] of gone.reverse()) {
    if (Array.isArray(parent)) parent.pop();
    else delete parent[key];
  }
}

const byPath = (one: ConfigChange, other: ConfigChange) => one.path < other.path ? -1 : 1;

/**
 * Returns the reverse of the changes, without `startsAfresh`, which may have another value in the reverse direction.
 */
function swapped(changes: readonly ConfigChange[]): ConfigChange[] {
  return changes.map(({ path, inForce, ...values }) => ({
    path,
    ...("new" in values && { old: values.new }),
    ...("old" in values && { new: values.old }),
    inForce: /^\/queues\/[^/]*$/.test(path) && !("new" in values) ? "now" as const : inForce, // the part returns
  })).sort(byPath);
}

/** Returns two documents. The second document is unrelated, or is the first document with some parts changed. */
function pair(seed: number): [JsonObject, JsonObject] {
  const maker = new DocumentMaker(seed);
  const one = maker.document();
  if (seed % 2 === 0) return [one, maker.document()];
  const other = structuredClone(one);
  const random = maker.document();
  for (const section of ["limiters", "throttles", "queues"]) {
    const [into, from] = [other[section] ?? {}, random[section] ?? {}] as JsonObject[];
    for (const name of Object.keys(from!)) if (maker.random() < 0.5) into![name] = from![name]!;
    other[section] = into!;
  }
  return isValid(other) ? [one, other] : [one, random];
}

function isValid(document: unknown): boolean {
  try {
    loadConfig(document as object);
    return true;
  } catch {
    return false;
  }
}

Deno.test("rule 16: a reload has the same result as loading the document, whatever was in force before", () => {
  for (let seed = 1; seed <= DOCUMENTS; seed++) {
    const [one, other] = pair(seed);
    const config = loadConfig(one);
    config.reload(other);
    assertEquals(described(config), described(loadConfig(other)), `seed ${seed}`);
    config.reload(one);
    assertEquals(described(config), described(loadConfig(one)), `seed ${seed}`);
  }
});

Deno.test("rule 16: the reported changes are complete: they turn one document into the other", () => {
  let count = 0;
  for (let seed = 1; seed <= DOCUMENTS; seed++) {
    const [one, other] = pair(seed);
    const config = loadConfig(one);
    const whole = complete(one);
    const changes = config.reload(other);
    apply(changes, whole);
    assertEquals(whole, complete(other), `seed ${seed}`);
    assertEquals(config.reload(whole), [], `seed ${seed}: the document with its defaults`);
    const back = config.reload(one).map(({ startsAfresh: _, ...change }) => change).sort(byPath);
    assertEquals(back, swapped(changes), `seed ${seed}`);
    count += changes.length;
  }
  assert(count > DOCUMENTS);
});

Deno.test("rule 16: a document is rejected with the same problems as when it is loaded, and changes nothing", () => {
  let rejected = 0;
  for (let seed = 1; seed <= DOCUMENTS; seed++) {
    const maker = new DocumentMaker(seed);
    const config = loadConfig(maker.document());
    const before = described(config);
    const source = maker.source();
    if (isValid(source)) continue;
    const [reloading, loading] = [() => config.reload(source), () => loadConfig(source)].map((attempt) =>
      assertThrows(attempt, ConfigError)
    );
    assertEquals(reloading!.issues, loading!.issues, `seed ${seed}`);
    assertEquals(described(config), before, `seed ${seed}`);
    rejected++;
  }
  assert(rejected > DOCUMENTS / 4);
});
