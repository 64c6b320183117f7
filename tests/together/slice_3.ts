import { loadSlice } from "./load.ts";

await loadSlice(2);
