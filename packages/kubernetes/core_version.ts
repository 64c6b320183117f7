/**
 * Throws unless `@workqueue/core` has the version that this package requires. The entry module loads this module first.
 */

import { requireVersion } from "@workqueue/core/internal";
import { VERSION } from "./version.ts";

requireVersion("@workqueue/kubernetes", VERSION);
