/** Tests of `cancel` in a file. */

import { cancelSuite } from "../contracts/cancel_suite.ts";
import { inFile } from "./place.ts";

cancelSuite(inFile);
