/**
 * Selectors of objects by their labels and fields. The server selects the objects of lists and watches; caches judge
 * the objects of other answers.
 */

import type { KubeObject } from "../kube_object.ts";
import { groupOf } from "./owner.ts";

type Labels = Readonly<Record<string, string>>;

/** Requirement of a field selector. */
export interface FieldTerm {
  /** Path of the field, such as `status.phase`. */
  readonly path: string;
  readonly value: string;
  /** Whether the field must not have the value. */
  readonly isNegative: boolean;
}

const LABEL_TERM = /^(!?)\s*([^\s!=,()]+)\s*(?:(==?|!=)\s*([^\s,()=!]*)|(in|notin)\s*\(([^()]*)\))?$/;
const FIELD_TERM = /^([^=!]+)(==?|!=)([^=]*)$/;

/**
 * Returns the test of a label selector, such as `app=web,tier in (a, b),!canary`.
 *
 * @throws {Error} If the selector has another form.
 */
export function labelTest(selector: string): (labels: Labels) => boolean {
  const terms = selector.split(/,(?![^(]*\))/).map((term) => term.trim()).filter(Boolean).map(labelTerm);
  return (labels) => terms.every((meets) => meets(labels));
}

function labelTerm(term: string): (labels: Labels) => boolean {
  const [, not, key = "", operator, value, set, values = ""] = LABEL_TERM.exec(term) ?? [];
  if (!key || (not && (operator || set))) throw new Error(`unable to parse requirement: ${term}`);
  if (!operator && !set) return (labels) => key in labels !== (not === "!");
  const wanted = set ? values.split(",").map((one) => one.trim()) : [value!];
  const isNegative = operator === "!=" || set === "notin";
  return (labels) => (key in labels && wanted.includes(labels[key]!)) !== isNegative;
}

/**
 * Returns the requirements of a field selector, such as `metadata.name=web`.
 *
 * @throws {Error} If the selector has another form.
 */
export function fieldTerms(selector: string): FieldTerm[] {
  return selector.split(",").map((term) => term.trim()).filter(Boolean).map((term) => {
    const [, path = "", operator, value = ""] = FIELD_TERM.exec(term) ?? [];
    if (!operator) throw new Error(`invalid selector: '${selector}'; can't understand '${term}'`);
    return { path, value, isNegative: operator === "!=" };
  });
}

/**
 * Returns the test of a field selector. An absent field has the value `""` and, unless its kind is a custom one, the
 * zero value of its type.
 */
export function fieldTest(terms: readonly FieldTerm[]): (object: KubeObject) => boolean {
  return (object) =>
    terms.every(({ path, value, isNegative }) => {
      const found = fieldOf(object, path);
      const isMet = found === undefined ? zerosOf(object).includes(value) : String(found) === value;
      return isMet !== isNegative;
    });
}

function fieldOf(object: KubeObject, path: string): unknown {
  let value: unknown = object;
  for (const name of path.split(".")) value = (value as Record<string, unknown> | null | undefined)?.[name];
  return value ?? undefined;
}

/** Returns the texts that an absent field may have. */
function zerosOf({ apiVersion }: KubeObject): readonly string[] {
  const group = groupOf(apiVersion);
  return group.includes(".") && !group.endsWith(".k8s.io") ? [""] : ["", "false", "0"];
}
