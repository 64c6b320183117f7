/** Tests of `cancel` on Redis, with and without partitions. */

import { cancelSuite } from "../contracts/cancel_suite.ts";
import { onRedis } from "./place.ts";

cancelSuite(onRedis);
cancelSuite((name, run) => onRedis(`3 partitions: ${name}`, run), 3);
