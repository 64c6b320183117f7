/** Tests of the failures that a queue in a file counts. */

import { engineForgetAfterSuite, forgetAfterSuite } from "../contracts/forget_after_suite.ts";
import { engineTest } from "./bench.ts";
import { inFile } from "./place.ts";

engineForgetAfterSuite(engineTest);
forgetAfterSuite(inFile);
