import type { KubeObject } from "../kube_object.ts";

type Labels = Readonly<Record<string, string>>;
type Test = (values: Labels) => boolean;

/** A requirement with a set of values, such as `tier notin (a, b)`. */
const IN_SET = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/;
/** A requirement with one value, such as `tier=a`. */
const EQUAL = /^([^=!\s]+)\s*(==?|!=)\s*(\S*)$/;

/**
 * Returns a function that reports whether a label selector selects labels. The server selects what it lists and
 * watches; this function judges objects that the server returned without a selector.
 */
export function labelTest(selector: string): Test {
  const tests = selector.split(/,(?![^(]*\))/).map((part) => part.trim()).filter((part) => part !== "").map(testOf);
  return (labels) => tests.every((test) => test(labels));
}

function testOf(requirement: string): Test {
  const inSet = IN_SET.exec(requirement);
  if (inSet) {
    const values = inSet[3]!.split(",").map((value) => value.trim());
    const isIn = inSet[2] === "in";
    return (labels) => (inSet[1]! in labels && values.includes(labels[inSet[1]!]!)) === isIn;
  }
  const equal = EQUAL.exec(requirement);
  if (equal) return (labels) => (labels[equal[1]!] === equal[3]) === (equal[2] !== "!=");
  if (requirement.startsWith("!")) return (labels) => !(requirement.slice(1).trim() in labels);
  return (labels) => requirement in labels;
}

/** Returns a function that reports whether a field selector, such as `status.phase=Running`, selects an object. */
export function fieldTest(selector: string): (object: KubeObject) => boolean {
  const requirements = selector.split(",").map((part) => EQUAL.exec(part.trim())).filter((found) => found !== null);
  return (object) =>
    requirements.every(([, path, operator, value]) => (fieldOf(object, path!) === value) === (operator !== "!="));
}

function fieldOf(object: KubeObject, path: string): string {
  let value: unknown = object;
  for (const name of path.split(".")) value = (value as Record<string, unknown> | undefined)?.[name];
  return String(value ?? "");
}
