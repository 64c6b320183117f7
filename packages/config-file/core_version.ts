/**
 * Throws if the version of `@workqueue/core` differs from the version of this package. The entry module loads this
 * module first.
 */

import { requireVersion } from "@workqueue/core/internal";
import { VERSION } from "./version.ts";

requireVersion("@workqueue/config-file", VERSION);
