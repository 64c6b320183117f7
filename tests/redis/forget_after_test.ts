/** Tests of the failures that a queue on Redis counts. */

import { engineForgetAfterSuite, forgetAfterSuite } from "../contracts/forget_after_suite.ts";
import { engineTest } from "./bench.ts";
import { onRedis } from "./place.ts";

engineForgetAfterSuite(engineTest);
forgetAfterSuite(onRedis);
