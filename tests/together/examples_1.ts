import { loadExamples } from "./examples.ts";

await loadExamples(0, 2);
