/** Tests of `addedAgain` and of pools with `whileProcessing: "abort"` on Redis, with and without partitions. */

import { addedAgainSuite } from "../contracts/added_again_suite.ts";
import { onRedis } from "./place.ts";

addedAgainSuite(onRedis);
addedAgainSuite((name, run) => onRedis(`3 partitions: ${name}`, run), 3);
