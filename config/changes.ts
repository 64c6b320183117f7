import { escapePointer, own } from "../lib/base/objects.ts";
import type { Field, Fields } from "../registry/fields.ts";
import { UNLIMITED } from "../registry/option_kinds.ts";
import { isName, isSameTree, isSameValue, type OptionsTree, type PartNode, type PartTree } from "../registry/tree.ts";
import { type DocumentTree, limiterPath, queuePath, throttlePath } from "./document.ts";
import { queueOptions } from "./queue_options.ts";
import type { ConfigChange } from "./work_queue_config.ts";

/**
 * Lists the differences between two documents: limiters first, then throttles, then queues. Each of the lists begins
 * with changes and additions, in the order of the new document, and ends with removals.
 *
 * @param removed For each queue that is missing from the old document, its options in the last document that contained
 * it. Pools of such a queue that are still running follow the new document.
 */
export function changesOf(
  old: DocumentTree,
  now: DocumentTree,
  removed: ReadonlyMap<string, OptionsTree> = new Map(),
): ConfigChange[] {
  return [
    ...namesIn(old.limiterNames, now.limiterNames).flatMap((name) =>
      compareParts(limiterPath(name), old.limiters.get(name), now.limiters.get(name)).changes
    ),
    ...namesIn(old.throttleNames, now.throttleNames).flatMap((name) =>
      compareParts(throttlePath(name), old.throttles.get(name), now.throttles.get(name)).changes
    ),
    ...namesIn(old.queues.keys(), now.queues.keys()).flatMap((name) =>
      compareQueues(queuePath(name), old.queues.get(name), now.queues.get(name), removed.get(name))
    ),
  ];
}

function namesIn(old: Iterable<string>, now: Iterable<string>): string[] {
  return [...new Set([...now, ...old])];
}

function compareQueues(
  path: string,
  old: OptionsTree | undefined,
  now: OptionsTree | undefined,
  removed: OptionsTree | undefined,
): ConfigChange[] {
  if (old === undefined || now === undefined) {
    const [before, after] = [old, now].map((options) => options && optionsData(options, queueOptions));
    if (now === undefined || removed === undefined) return [changeOf(path, before, after, "nextStart")];
    const later = compareOptions(path, removed, now).filter(({ inForce }) => inForce === "nextStart");
    return [changeOf(path, before, after, "now"), ...later];
  }
  return compareOptions(path, old, now);
}

function compareOptions(path: string, old: OptionsTree, now: OptionsTree): ConfigChange[] {
  return Object.entries(queueOptions).flatMap(([option, field]) => {
    const changes = compareOption(path, option, field, old, now).flatMap(({ changes }) => changes);
    const isLater = field.inForce === "nextStart" ||
      ("stays" in field && Object.hasOwn(old.plain, option) !== Object.hasOwn(now.plain, option));
    return isLater ? changes.map((change) => changeOf(change.path, change.old, change.new, "nextStart")) : changes;
  });
}

/** Result of comparing two values of an option, or two parts at the same place. */
interface Comparison {
  readonly changes: readonly ConfigChange[];
  /** Whether the enclosing part must change, because the data differs or a part is replaced. */
  readonly isOther: boolean;
}

/** Compares two parts. Parts with the same definition are compared option by option. */
function compareParts(path: string, old: PartTree | undefined, now: PartTree | undefined): Comparison {
  if (old === undefined || now === undefined || isName(old) || isName(now) || old.definition !== now.definition) {
    if (old !== undefined && now !== undefined && isSameTree(old, now)) return { changes: [], isOther: false };
    const [before, after] = [old, now].map((part) => part && partData(part));
    const isReplaced = old !== undefined && !isName(old) && now !== undefined;
    return { changes: [changeOf(path, before, after, "now", isReplaced)], isOther: true };
  }
  const { options, update } = now.definition;
  const compared = Object.entries(options).flatMap(([option, field]) => compareOption(path, option, field, old, now));
  const isMadeAnew = update === undefined && compared.some(({ isOther }) => isOther);
  const changes = compared.flatMap(({ changes, isOther }) =>
    isMadeAnew && isOther ? changes.map((change): ConfigChange => ({ ...change, startsAfresh: true })) : changes
  );
  return { changes, isOther: isMadeAnew };
}

/**
 * Compares the values of an option in two documents. For an option that takes parts, returns one comparison for each
 * part. For an option that is plain data, returns one comparison if the values differ, and none otherwise.
 */
function compareOption(
  around: string,
  option: string,
  field: Field<string>,
  old: OptionsTree,
  now: OptionsTree,
): Comparison[] {
  const path = `${around}/${escapePointer(option)}`;
  const [template, newTemplate] = [old, now].map(({ templates }) => own(templates, option) as PartNode | undefined);
  if (template !== undefined || newTemplate !== undefined) {
    const { changes } = compareParts(path, template, newTemplate);
    return [{ changes, isOther: changes.length > 0 }];
  }
  const [parts, newParts] = [old, now].map(({ parts }) => own(parts, option) as PartTree | PartTree[] | undefined);
  if (Array.isArray(parts) || Array.isArray(newParts)) {
    const [some = [], others = []] = [parts, newParts] as PartTree[][];
    return Array.from(
      { length: Math.max(some.length, others.length) },
      (_, i) => compareParts(`${path}/${i}`, some[i], others[i]),
    );
  }
  if (parts !== undefined || newParts !== undefined) return [compareParts(path, parts, newParts)];
  const [value, newValue] = [old, now].map(({ plain }) => own(plain, option));
  if (isSameValue(value, newValue)) return [];
  const change = changeOf(path, dataOf(field, value), dataOf(field, newValue), "now", field.startsAfresh);
  return [{ changes: [change], isOther: true }];
}

/** Returns a part as written in a document, with defaults filled in. */
function partData(part: PartTree): unknown {
  if (isName(part)) return part.name;
  const { kind, definition } = part;
  const options = optionsData(part, definition.options);
  const hasType = kind.onlyType === undefined && kind.defaultType !== definition.type;
  return hasType ? { type: definition.type, ...options } : options;
}

function optionsData({ plain, parts, templates }: OptionsTree, fields: Fields<string>): Record<string, unknown> {
  const read: Record<string, unknown> = { ...plain, ...parts, ...templates };
  const given = Object.entries(fields).filter(([option]) => Object.hasOwn(read, option));
  return Object.fromEntries(given.map(([option, field]) => {
    const value = read[option];
    if (Object.hasOwn(plain, option)) return [option, dataOf(field, value)];
    return [option, Array.isArray(value) ? value.map(partData) : partData(value as PartTree)];
  }));
}

/** Returns the value of a plain option as written in a document, if JSON can express it. */
function dataOf({ kind }: Field<string>, value: unknown): unknown {
  if (value === Infinity && kind === "duration") return UNLIMITED;
  return value instanceof Map ? Object.fromEntries(value) : value;
}

function changeOf(
  path: string,
  old: unknown,
  now: unknown,
  inForce: ConfigChange["inForce"],
  startsAfresh = false,
): ConfigChange {
  return {
    path,
    ...(old !== undefined && { old }),
    ...(now !== undefined && { new: now }),
    inForce,
    ...(startsAfresh && { startsAfresh }),
  };
}
