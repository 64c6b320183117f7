/** Tests of `watchItem` in a file. */

import { watchSuite } from "../contracts/watch_suite.ts";
import { inFile } from "./place.ts";

watchSuite(inFile);
