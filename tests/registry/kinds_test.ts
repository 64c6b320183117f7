/** Tests of a registry with parts other than limiters. No code in `registry/` may be specific to limiters. */

import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { type PartDefinition, type PartKind, requireDefinition } from "../../registry/definition.ts";
import type { Fields } from "../../registry/fields.ts";
import { booleanKind } from "../../registry/option_kinds.ts";
import { createInCode, onePart, partList } from "../../registry/options_in_code.ts";
import { Registry } from "../../registry/registry.ts";
import { partSchemas, SCHEMA_DIALECT } from "../../registry/schema.ts";
import { HandClock, issuesOf } from "../helpers.ts";

/** Toy part that sorts strings. */
interface Discipline {
  sort(items: string[]): string[];
}

const disciplineKind: PartKind<"discipline", Discipline> = {
  word: "discipline",
  name: "toy discipline",
  hasNames: false,
  is: (value): value is Discipline => typeof (value as Discipline | undefined)?.sort === "function",
};

class DisciplineRegistry extends Registry<"discipline", Discipline> {
  protected readonly kind = disciplineKind;
}

function defineDiscipline<const Type extends string, const F extends Fields<"discipline">>(
  definition: PartDefinition<"discipline", Discipline, Type, F>,
) {
  requireDefinition(disciplineKind, definition);
  return definition;
}

const alphabetical = defineDiscipline({
  type: "alphabetical",
  description: "From A to Z.",
  options: { reverse: { kind: "boolean", default: false, description: "From Z to A." } },
  create: ({ reverse }) => ({ sort: (items) => reverse ? items.toSorted().reverse() : items.toSorted() }),
});

const grouped = defineDiscipline({
  type: "grouped",
  description: "By length, and by another discipline within one length.",
  options: {
    within: { kind: "discipline", description: "The order of what has the same length." },
    before: { kind: "disciplines", required: false, description: "What is done before." },
  },
  create: ({ within, before = [] }) => ({
    sort: (items) => {
      const sorted = before.reduce((items, discipline) => discipline.sort(items), items);
      return within.sort(sorted).toSorted((a, b) => a.length - b.length);
    },
  }),
});

const registry = new DisciplineRegistry().register(alphabetical).register(grouped);

Deno.test("another kind of part: its types are registered and built, also nested in each other", () => {
  const config = { type: "grouped", within: { type: "alphabetical", reverse: true }, before: [] };
  assertEquals(registry.build(config).sort(["b", "aa", "c", "bb"]), ["c", "b", "bb", "aa"]);
  assertEquals(registry.types(), ["alphabetical", "grouped"]);
  assertStrictEquals(registry.get("grouped")?.create, grouped.create as unknown);
});

Deno.test("another kind of part: an extended registry has the same class, and knows the registered types", () => {
  const more = registry.extend().use((registry) => {
    registry.register({ ...alphabetical, type: "plain" });
  });
  assert(more instanceof DisciplineRegistry);
  assertEquals([registry.types().length, more.types().length], [2, 3]);
});

const KINDS = { discipline: onePart(disciplineKind), disciplines: partList(disciplineKind) };

Deno.test("another kind of part: messages use its name", () => {
  assertEquals(
    issuesOf(() => registry.build({ type: "grouped", within: "grouped", before: [5, "grouqed"] })),
    [
      {
        path: "/within",
        message: `'within' must be a discipline, an object such as { "type": "grouped" }, got "grouped"`,
      },
      { path: "/before/0", message: "'before[0]' must be a discipline, got 5" },
      {
        path: "/before/1",
        message: `'before[1]' must be a discipline, an object such as { "type": "alphabetical" }, got "grouqed"`,
      },
    ],
  );
  const messages: [action: () => unknown, message: string][] = [
    [() => registry.build({ type: "grouped", within: 5 }), "Cannot build discipline: 'within' must be a discipline"],
    [() => registry.build({ type: "x" }), `'type' must be one of "alphabetical", "grouped", got "x"`],
    [() => registry.register(grouped), `Cannot register discipline: the type "grouped" is registered already`],
    [
      () => {
        const options = { x: { kind: "limiter" as "discipline", description: "" } };
        return defineDiscipline({ type: "none", description: "", options, create: ({ x }) => x });
      },
      "'x' must have a kind of duration, integer, number, boolean, string, enum, weights, durations, rate, " +
      `retryBudget, retention, discipline, disciplines, got "limiter"`,
    ],
    [
      () =>
        registry.extend().register({ ...alphabetical, type: "none", create: () => ({}) as Discipline })
          .build({ type: "none" }),
      `"none" created something that is not a toy discipline`,
    ],
    [
      () => createInCode("discipline", grouped, KINDS, { within: {} }),
      "Cannot create grouped discipline: 'within' must be a toy discipline, got an object",
    ],
  ];
  for (const [action, message] of messages) assertThrows(action, Error, message);
});

Deno.test("another kind of part: in code, an option takes the part itself", () => {
  const within = createInCode("discipline", alphabetical, { boolean: booleanKind }, { reverse: true });
  assertEquals(createInCode("discipline", grouped, KINDS, { within }).sort(["a", "b"]), ["b", "a"]);
});

Deno.test("another kind of part: its JSON Schema accepts no names if documents have none", () => {
  const $defs = partSchemas(disciplineKind, [alphabetical, grouped] as PartDefinition<"discipline", Discipline>[]);
  const isValid = new Ajv2020({ strict: true }).compile({ $schema: SCHEMA_DIALECT, $ref: "#/$defs/discipline", $defs });
  assert(isValid({ type: "grouped", within: { type: "alphabetical" }, before: [{ type: "alphabetical" }] }));
  assertFalse(isValid({ type: "grouped", within: "alphabetical" }));
  assertFalse(isValid({ type: "grouped", within: { type: "bucket", rate: 1, burst: 1 } }));
});

Deno.test("another kind of part: it is created with the context of the build", () => {
  const contexts: unknown[] = [];
  const seeing = registry.extend().register({
    ...alphabetical,
    type: "seeing",
    create: (_, context) => {
      contexts.push(context);
      return { sort: (items) => items };
    },
  });
  const context = { clock: new HandClock(), random: () => 0.5 };
  seeing.build({ type: "grouped", within: { type: "seeing" } }, context);
  assertEquals(contexts.length, 1);
  assertStrictEquals((contexts[0] as typeof context).clock, context.clock);
  assertStrictEquals((contexts[0] as typeof context).random, context.random);
});
