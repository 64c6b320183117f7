/** Prints the report of the varied load as JSON. */

import { simulate } from "@workqueue/simulate";
import { VARIED_CONFIG, VARIED_LOAD } from "../varied_load.ts";

console.log(JSON.stringify(await simulate(VARIED_CONFIG, VARIED_LOAD, { seed: 7 })));
