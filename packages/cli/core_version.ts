/**
 * Throws if the version of `@workqueue/core` is not the version of this package. Loaded before a command runs, but not
 * for `--version`, which doesn't need the core.
 */

import { requireVersion } from "@workqueue/core/internal";
import { VERSION } from "./version.ts";

requireVersion("@workqueue/cli", VERSION);
