import { HookedDiscipline } from "../faults/hooks.ts";
import { Lifo } from "../queue_helpers.ts";
import { disciplineSuite } from "./discipline_suite.ts";

disciplineSuite("last in, first out", () => new Lifo<string>(), (i) => `item ${i}`);
disciplineSuite("first in, first out", () => new HookedDiscipline<string>(), (i) => `item ${i}`);
disciplineSuite("last in, first out, with keyOf", () => new Lifo<{ id: number }>(), (id) => ({ id }), ({ id }) => id);
