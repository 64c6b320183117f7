/**
 * Whether two documents say the same, by what was read: however it is written, `"5ms"` or `"0.005s"`.
 *
 * @module
 */

import { isName, type OptionsTree, type PartTree } from "./tree.ts";

/** An option that is a part, or a list of them. */
type Parts = PartTree | readonly PartTree[];

/** Whether two values of an option that is plain data are the same. */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (!(one instanceof Map && other instanceof Map)) return one === other;
  return one.size === other.size && [...one].every(([name, weight]) => other.get(name) === weight);
}

/** Whether two trees at the same place say the same: what is made of one would be as what is made of the other. */
export function isSameTree(one: PartTree, other: PartTree): boolean {
  if (isName(one) || isName(other)) return isName(one) && isName(other) && one.name === other.name;
  return one.definition === other.definition && isSameOptions(one, other, isSameTree);
}

/** Whether options are the same, where `isSamePart` says it of the parts among them. */
export function isSameOptions(
  one: OptionsTree,
  other: OptionsTree,
  isSamePart: (one: PartTree, other: PartTree) => boolean,
): boolean {
  const isSameList = (one: Parts, other: Parts) => {
    const [some, others] = [[one].flat(), [other].flat()];
    return some.length === others.length && some.every((part, i) => isSamePart(part, others[i]!));
  };
  return isSameRecord(one.plain, other.plain, isSameValue) &&
    isSameRecord(one.parts, other.parts, isSameList) &&
    isSameRecord(one.templates, other.templates, isSameTree);
}

function isSameRecord<V>(
  one: Readonly<Record<string, V>>,
  other: Readonly<Record<string, V>>,
  isSame: (one: V, other: V) => boolean,
): boolean {
  const options = Object.keys(one);
  return options.length === Object.keys(other).length &&
    options.every((option) => Object.hasOwn(other, option) && isSame(one[option]!, other[option]!));
}
