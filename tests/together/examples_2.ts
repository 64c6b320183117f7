import { loadExamples } from "./examples.ts";

await loadExamples(1, 2);
