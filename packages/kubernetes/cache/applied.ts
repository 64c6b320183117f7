import { createHash } from "node:crypto";
import type { KubeObject } from "../kube_object.ts";

/** Set of fields, as the server writes it: steps to fields, and `{}` behind the last one. */
type Fields = Readonly<Record<string, unknown>>;

/** Entry of `managedFields`. */
interface Entry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Fields;
}

/**
 * Values that this program applied and that the objects still have, so that applying them again would change nothing.
 *
 * They are known in two ways. The server notes in `managedFields` which fields a program applied, and takes a field
 * from it as soon as somebody else changes it. So the values of these fields in the object are those that were applied,
 * also by an earlier process. If the server changed an applied value, for example by adding a default inside it, only
 * the process that applied the value knows it, and only as long as the cached object is the one in the server's answer.
 */
export class AppliedValues {
  readonly #manager: string;
  readonly #apiVersion: string;
  /** Digests of values, by the objects of the cache. Each version of an object is a different JavaScript object. */
  readonly #digests = new WeakMap<KubeObject, string>();

  constructor(manager: string, apiVersion: string) {
    this.#manager = manager;
    this.#apiVersion = apiVersion;
  }

  /** Reports whether applying a value to an object would change nothing. */
  has(body: KubeObject, object: KubeObject): boolean {
    return this.#digests.get(object) === digestOf(contentOf(body));
  }

  /** Notes the value that was applied, and the object in the answer. */
  add(body: KubeObject, answer: KubeObject): void {
    this.#digests.set(answer, digestOf(contentOf(body)));
  }

  /**
   * Notes the values that this program has applied to an object, according to the server, for the cached form of the
   * object.
   */
  observe(object: KubeObject, cached: KubeObject): void {
    const entries = (object.metadata.managedFields ?? []) as readonly Entry[];
    const own = entries.find(({ manager, operation, apiVersion, subresource }) =>
      manager === this.#manager && operation === "Apply" && apiVersion === this.#apiVersion && !subresource
    );
    if (own === undefined) return;
    const part = partOf(object, own.fieldsV1 ?? {}) as object;
    this.#digests.set(cached, digestOf({ metadata: {}, ...part }));
  }
}

/** Returns the fields of a value that get a manager when it is applied. */
function contentOf(
  { apiVersion: _, kind: __, metadata: { name: ___, namespace: ____, ...metadata }, ...content }: KubeObject,
): object {
  return { ...content, metadata };
}

/**
 * Returns the part of a value that is in a set of fields. A missing field, and a list whose items are not those of the
 * set, become `null`, so that the part equals no value that somebody wants.
 */
function partOf(value: unknown, fields: Fields): unknown {
  const { ".": _, ...inner } = fields;
  const steps = Object.entries(inner) as [string, Fields][];
  if (steps.length === 0 || typeof value !== "object" || value === null) return value ?? null;
  if (!Array.isArray(value)) {
    return Object.fromEntries(steps.map(([step, fields]) => {
      const name = step.slice("f:".length);
      return [name, Object.hasOwn(value, name) ? partOf((value as Fields)[name], fields) : null];
    }));
  }
  const items = value.flatMap((item) =>
    steps.filter(([step]) => isItem(step, item)).map(([, fields]) => partOf(item, fields))
  );
  return items.length === steps.length ? items : null;
}

/** Reports whether a step leads to an item: to a value (`v:`), or to the item with some keys (`k:`). */
function isItem(step: string, item: unknown): boolean {
  const wanted = JSON.parse(step.slice(2));
  if (step.startsWith("v:")) return item === wanted;
  return step.startsWith("k:") && Object.entries(wanted).every(([key, value]) => (item as Fields)[key] === value);
}

/** Returns a digest of a value. The order of fields doesn't count. */
function digestOf(value: unknown): string {
  const sorted = (_: string, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1))
      : inner;
  return createHash("sha256").update(JSON.stringify(value, sorted)).digest("base64");
}
