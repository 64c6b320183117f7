/**
 * Throws if the version of `@workqueue/core` is not the version of this package. The entry module loads this module
 * first.
 */

import { requireVersion } from "@workqueue/core/internal";
import { VERSION } from "./version.ts";

requireVersion("@workqueue/dashboard", VERSION);
