import { ConfigError, inspect } from "../lib/base/errors.ts";
import type { BuildContext } from "./definition.ts";
import { isName, nodesOf, type PartNode } from "./tree.ts";

/** A part that is to do what another tree says. */
export interface Update {
  /** What it is to do. */
  readonly node: PartNode;
  readonly part: unknown;
  /** The options for that. */
  readonly options: object;
  /** The options that it was made of, or updated with last. */
  oldOptions(): object;
}

/** What updates are carried out with. */
export interface Updating {
  /** What is being done, for messages. */
  readonly action: string;
  readonly context: BuildContext;
  /** Whether the updates of a definition may throw; by default all of them may. */
  mayRefuse?(definition: PartNode["definition"]): boolean;
}

/** Whether bringing a part of this node up to date may throw, or a part inside of it. */
export function mayRefuse(node: PartNode, updating: Updating): boolean {
  if (updating.mayRefuse === undefined) return true;
  for (const inner of nodesOf(node)) if (!isName(inner) && updating.mayRefuse(inner.definition)) return true;
  return false;
}

/** The updates of parts, and of parts inside of these, that are being carried out together. */
interface Batch {
  /** Parts that were made anew within templates, and what each replaced. */
  readonly replaced: Map<object, object>;
  /**
   * Updates that never throw. They wait until no other can throw, as they cannot be undone: a smaller burst loses
   * tokens.
   */
  readonly safe: { update: Update; updating: Updating }[];
}

let batch: Batch | undefined;

/**
 * Carries out all of the updates, or none: those before one that throws are undone. That one as well, as it may be made
 * of several parts of which some are updated. Within an update of another part, those that never throw wait for all of
 * that.
 *
 * @throws {ConfigError} If an update throws, with the place of its part.
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
    // More may come meanwhile: those inside of the parts of a group.
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
    if (cause instanceof ConfigError) throw cause; // it names the place within
    const message = cause instanceof Error ? cause.message : `updating ${inspect(definition.type)} failed`;
    throw Object.assign(new ConfigError(action, [{ path, message }]), { cause });
  }
}

function undo({ node: { definition }, part, oldOptions }: Update, { context }: Updating): void {
  try {
    definition.update!(part, oldOptions() as never, context);
  } catch { // one that refuses all options has not changed for these either
  }
}

/** Notes that a part was made anew, in case that is undone. */
export function noteReplaced(part: object, replacement: object): void {
  batch?.replaced.set(replacement, part);
}

/** The part that this one replaced just now. */
export function replacedBy(part: object): object | undefined {
  return batch?.replaced.get(part);
}
