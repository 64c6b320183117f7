/** Tests of `addAndWait` in a file. */

import { waitsSuite } from "../contracts/waits_suite.ts";
import { inFile } from "./place.ts";

waitsSuite(inFile);
