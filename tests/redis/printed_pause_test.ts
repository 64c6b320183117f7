/** Test of the text printed for paused queues on Redis. */

import { printedPauseSuite } from "../contracts/printed_pause_suite.ts";
import { onRedis } from "./place.ts";

printedPauseSuite(onRedis);
