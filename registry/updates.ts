import { ConfigError, inspect } from "../lib/base/errors.ts";
import type { BuildContext } from "./context.ts";
import type { PartNode } from "./tree.ts";

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
  /** How likely it is that the updates of a definition throw. The likelier ones come first, so that little has to be undone. */
  riskOf?(definition: PartNode["definition"]): number;
}

/** While updates are carried out: what was made anew within templates, and what it replaced. */
let replaced: Map<object, object> | undefined;

/**
 * Carries out all of the updates, or none: those before one that throws are undone. That one as well, as it may be made of
 * several parts of which some are updated.
 *
 * @throws {ConfigError} If an update throws, with the place of its part.
 */
export function carryOut(updates: readonly Update[], updating: Updating): void {
  if (updates.length === 0) return;
  const outer = replaced;
  replaced ??= new Map();
  const riskOf = ({ node }: Update) => updating.riskOf?.(node.definition) ?? 0;
  const ordered = [...updates].sort((one, other) => riskOf(other) - riskOf(one));
  const begun: Update[] = [];
  try {
    for (const update of ordered) {
      begun.unshift(update);
      carryOutOne(update, updating);
    }
  } catch (error) {
    for (const update of begun) undo(update, updating);
    throw error;
  } finally {
    replaced = outer;
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
  replaced?.set(replacement, part);
}

/** The part that this one replaced just now. */
export function replacedBy(part: object): object | undefined {
  return replaced?.get(part);
}
