/** Types used by a discipline's function and definition. Each discipline's file also exports these types. */

export type { Clock } from "../lib/base/clock.ts";
export type { Duration } from "../lib/base/duration.ts";
export type { Random } from "../lib/base/random.ts";
export type { QueueDiscipline, ReadyEntry } from "../lib/contracts/discipline.ts";
export type { BrokenRule, BuildContext, PartContext, PartDefinition, PartKind } from "../registry/definition.ts";
export type { OptionDescription, PartDescription } from "../registry/description.ts";
export type * from "../registry/fields.ts";
export type { DisciplineDefinition, DisciplineDescription, DisciplineFields, DisciplineOptions } from "./definition.ts";
