/** Selectors of objects by their labels and fields. */

import { type Stored, valueAt } from "./objects.ts";
import type { Resource } from "./resource.ts";
import { Failure } from "./status.ts";

/** Condition that an object meets or not. */
export type Condition = (object: Stored) => boolean;

const LABEL_TERM = /^(!?)\s*([^\s!=,()]+)\s*(?:(==?|!=)\s*([^\s,()=!]*)|(in|notin)\s*\(([^()]*)\))?$/;
const FIELD_TERM = /^([^=!]+)(==?|!=)([^=]*)$/;

/** Returns the condition of a label selector, such as `app=web,tier in (a, b),!canary`. */
export function labelCondition(selector: string): Condition {
  const terms = selector.split(/,(?![^(]*\))/).map((term) => term.trim()).filter(Boolean).map(labelTerm);
  return ({ metadata: { labels = {} } }) => terms.every((meets) => meets(labels));
}

function labelTerm(term: string): (labels: Readonly<Record<string, string>>) => boolean {
  const [, not, key = "", operator, value, set, values = ""] = LABEL_TERM.exec(term) ?? [];
  if (!key || (not && (operator || set))) throw new Failure(400, `unable to parse requirement: ${term}`);
  if (!operator && !set) return (labels) => key in labels !== (not === "!");
  const wanted = set ? values.split(",").map((one) => one.trim()) : [value!];
  const isNegative = operator === "!=" || set === "notin";
  return (labels) => (key in labels && wanted.includes(labels[key]!)) !== isNegative;
}

/** Returns the condition of a field selector, such as `metadata.name=web`. */
export function fieldCondition(selector: string, resource: Resource): Condition {
  const terms = selector.split(",").filter(Boolean).map((term) => {
    const [, path = "", operator, value] = FIELD_TERM.exec(term.trim()) ?? [];
    if (!operator) throw new Failure(400, `invalid selector: '${selector}'; can't understand '${term}'`);
    if (!["metadata.name", "metadata.namespace", ...resource.selectable].includes(path)) {
      throw new Failure(400, `field label not supported: ${path}`);
    }
    return (object: Stored) => (String(valueAt(object, path) ?? "") === value) !== (operator === "!=");
  });
  return (object) => terms.every((meets) => meets(object));
}
