import { createFairDiscipline, createPriorityDiscipline, disciplines } from "@workqueue/core";
import { builtInDisciplines } from "../../docs/generate/built_ins.ts";
import { HookedDiscipline } from "../faults/hooks.ts";
import { Lifo } from "../queue_helpers.ts";
import { disciplineSuite } from "./discipline_suite.ts";

disciplineSuite("last in, first out", () => new Lifo<string>(), (i) => `item ${i}`);
disciplineSuite("first in, first out", () => new HookedDiscipline<string>(), (i) => `item ${i}`);
disciplineSuite("last in, first out, with keyOf", () => new Lifo<{ id: number }>(), (id) => ({ id }), ({ id }) => id);

const key = (i: number) => `${"abc"[i % 3]}/${i}`;
for (const { example } of builtInDisciplines) {
  disciplineSuite(`${example.type} of a config`, () => disciplines.build(example), key);
}
disciplineSuite("priority", () => createPriorityDiscipline<string>(), key);
disciplineSuite("strict priority", () => createPriorityDiscipline<string>({ maxHeadStart: Infinity }), key);
disciplineSuite("fair", () => createFairDiscipline<string>({ separator: "/" }), key);
disciplineSuite(
  "fair, with priorities inside",
  () => createFairDiscipline<string>({ separator: "/", within: () => createPriorityDiscipline() }),
  key,
);
disciplineSuite("fair, one at once", () => createFairDiscipline<string>({ separator: "/", maxPerGroup: 1 }), key);
disciplineSuite("fair, by time", () => createFairDiscipline<string>({ separator: "/", by: "time" }), key);
disciplineSuite(
  "fair, with a high rate",
  () => createFairDiscipline<string>({ separator: "/", ratePerGroup: { rate: 1e6, burst: 1e6 } }),
  key,
);
disciplineSuite(
  "fair in fair",
  () =>
    createFairDiscipline<string>({
      separator: "/",
      maxPerGroup: 3,
      within: () => createFairDiscipline({ groupOf: (item: string) => item.length, maxPerGroup: 2 }),
    }),
  key,
);
disciplineSuite(
  "fair, with keyOf",
  () => createFairDiscipline<{ id: number }>({ groupOf: ({ id }) => id % 2, maxPerGroup: 2 }),
  (id) => ({ id }),
  ({ id }) => id,
);
