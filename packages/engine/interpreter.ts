import { ConfigError, type DisciplineDescription } from "@workqueue/core";
import { type DisciplinePlan, type OrderKind, planDiscipline } from "./discipline_plan.ts";
import type { PlannedPart } from "./planned_part.ts";

/**
 * Tables of an engine, with an entry for each kind of part that the engine evaluates. A kind without an entry is a type
 * error.
 */
export interface Interpreter {
  /** Name of the product, for messages. */
  readonly product: string;
  /** Kinds of orders that the engine has. */
  readonly orders: Readonly<Record<OrderKind, unknown>>;
}

/**
 * Creates the plan for a discipline of an engine.
 *
 * @throws {ConfigError} If the engine can't evaluate the discipline. The error lists every reason with its path.
 */
export function planDisciplineFor(
  engine: Interpreter,
  action: string,
  discipline: DisciplineDescription,
): DisciplinePlan {
  const plan = planDiscipline(action, discipline);
  requireKnown(action, engine.product, engine.orders, plan.parts);
  return plan;
}

/** Refuses parts for which an engine has no entry. Only code that was not type-checked gets this far. */
function requireKnown(action: string, product: string, table: object, parts: readonly PlannedPart[]): void {
  const issues = parts.filter(({ kind }) => !Object.hasOwn(table, kind)).map(({ kind, type, path }) => ({
    path,
    message: `${product} can't evaluate ${JSON.stringify(type)}: it has no entry for ${JSON.stringify(kind)}`,
  }));
  if (issues.length > 0) throw new ConfigError(action, issues);
}
