/** Tests of `addedAgain` and of pools with `whileProcessing: "abort"` on a file. */

import { addedAgainSuite } from "../contracts/added_again_suite.ts";
import { inFile } from "./place.ts";

addedAgainSuite(inFile);
