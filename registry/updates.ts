import { ConfigError, inspect } from "../lib/base/errors.ts";
import type { BuildContext } from "./definition.ts";
import { isName, nodesOf, type PartNode } from "./tree.ts";

/** Update of an existing part to another tree. */
export interface Update {
  /** The tree to update to. */
  readonly node: PartNode;
  readonly part: unknown;
  /** The new options. */
  readonly options: object;
  /** Returns the options that it was created or last updated with. */
  oldOptions(): object;
}

/** Context in which updates are carried out. */
export interface Updating {
  /** The current action, for messages. */
  readonly action: string;
  readonly context: BuildContext;
  /** Reports whether the updates of a definition may throw. Without it, all of them may. */
  mayRefuse?(definition: PartNode["definition"]): boolean;
}

/** Reports whether updating a part of this node, or a part inside it, may throw. */
export function mayRefuse(node: PartNode, updating: Updating): boolean {
  if (updating.mayRefuse === undefined) return true;
  for (const inner of nodesOf(node)) if (!isName(inner) && updating.mayRefuse(inner.definition)) return true;
  return false;
}

/** Updates of parts and of their inner parts that are carried out together. */
interface Batch {
  /** Parts that replaced others within templates, and the parts that they replaced. */
  readonly replaced: Map<object, object>;
  /** Updates that never throw. They run last, because they can't be undone: a smaller burst loses tokens. */
  readonly safe: { update: Update; updating: Updating }[];
}

let batch: Batch | undefined;

/**
 * Carries out all of the updates, or none. If one throws, it is undone along with the earlier ones: it may consist of
 * several parts, some of them updated. If called within an update of another part, updates that never throw run after
 * that whole batch.
 *
 * @throws {ConfigError} If an update throws. The error names the place of the part.
 */
export function carryOut(updates: readonly Update[], updating: Updating): void {
  if (updates.length === 0) return;
  const outer = batch;
  batch ??= { replaced: new Map(), safe: [] };
  const begun: Update[] = [];
  try {
    for (const update of updates) {
      if (!mayRefuse(update.node, updating)) {
        batch.safe.push({ update, updating });
        continue;
      }
      begun.unshift(update);
      carryOutOne(update, updating);
    }
    // The list may grow in this loop: updates of the parts of groups.
    if (outer === undefined) { for (const { update, updating } of batch.safe) carryOutOne(update, updating); }
  } catch (error) {
    for (const update of begun) undo(update, updating);
    throw error;
  } finally {
    batch = outer;
  }
}

function carryOutOne({ node: { definition, path }, part, options }: Update, { action, context }: Updating): void {
  try {
    definition.update!(part, options as never, context);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause; // it names the inner place
    const message = cause instanceof Error ? cause.message : `updating ${inspect(definition.type)} failed`;
    throw Object.assign(new ConfigError(action, [{ path, message }]), { cause });
  }
}

function undo({ node: { definition }, part, oldOptions }: Update, { context }: Updating): void {
  try {
    definition.update!(part, oldOptions() as never, context);
  } catch { // an update that refuses all options has not changed anything
  }
}

/** Records that a part was replaced, in case that is undone. */
export function noteReplaced(part: object, replacement: object): void {
  batch?.replaced.set(replacement, part);
}

/** Returns the part that this one replaced in the current batch. */
export function replacedBy(part: object): object | undefined {
  return batch?.replaced.get(part);
}
