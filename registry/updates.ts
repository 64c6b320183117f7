import { BUILT_IN } from "../lib/base/brands.ts";
import { ConfigError, inspect } from "../lib/base/errors.ts";
import type { PartContext } from "./definition.ts";
import { isName, nodesOf, type PartNode } from "./tree.ts";

/** Update of an existing part to new options. */
export interface Update {
  /** Node with the new options. */
  readonly node: PartNode;
  readonly part: unknown;
  /** The new options. */
  readonly options: object;
  /** Returns the options with which the part was created or last updated. */
  oldOptions(): object;
}

/** Context in which updates are carried out. */
export interface Updating {
  /** Action that errors name. */
  readonly action: string;
  /** Context in which parts are built. */
  readonly context: PartContext;
}

/**
 * Reports whether updating the part at this node, or any part inside it, may throw. The `update` of a built-in
 * definition never throws.
 */
export function mayRefuse(node: PartNode): boolean {
  for (const inner of nodesOf(node)) {
    if (!isName(inner) && !Object.hasOwn(inner.definition.update ?? {}, BUILT_IN)) return true;
  }
  return false;
}

/** Updates that are carried out together, including nested updates of inner parts. */
interface Batch {
  /** Parts that templates have replaced. Each key is a replacement, and the value is the replaced part. */
  readonly replaced: Map<object, object>;
  /**
   * Updates that never throw. They run last, because they can't be undone: for example, lowering a burst discards
   * tokens.
   */
  readonly safe: { update: Update; updating: Updating }[];
}

let batch: Batch | undefined;

/**
 * Carries out all of the updates, or none. If an update throws, it is undone along with the earlier updates, because
 * some of its inner parts may have been updated already. If this function is called during the update of another part,
 * updates that never throw are postponed to the end of the outermost call.
 *
 * @throws {ConfigError} If an update throws. The error contains the location of the part.
 */
export function carryOut(updates: readonly Update[], updating: Updating): void {
  if (updates.length === 0) return;
  const outer = batch;
  batch ??= { replaced: new Map(), safe: [] };
  const begun: Update[] = [];
  try {
    for (const update of updates) {
      if (!mayRefuse(update.node)) {
        batch.safe.push({ update, updating });
        continue;
      }
      begun.unshift(update);
      carryOutOne(update, updating);
    }
    // The list may grow in this loop, because updating a per-group limiter also updates the limiters of its groups.
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
    if (cause instanceof ConfigError) throw cause; // the error already contains the location of the inner part
    const message = cause instanceof Error ? cause.message : `updating ${inspect(definition.type)} failed`;
    throw Object.assign(new ConfigError(action, [{ path, message }]), { cause });
  }
}

function undo({ node: { definition }, part, oldOptions }: Update, { context }: Updating): void {
  try {
    definition.update!(part, oldOptions() as never, context);
  } catch { // if `update` refuses the old options too, it has changed nothing
  }
}

/** Records that a part was replaced, in case the replacement is undone. */
export function noteReplaced(part: object, replacement: object): void {
  batch?.replaced.set(replacement, part);
}

/** Returns the part that the given part replaced in the current batch. */
export function replacedBy(part: object): object | undefined {
  return batch?.replaced.get(part);
}
