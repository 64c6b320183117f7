/**
 * Throws if the version of `@workqueue/core` differs from the version of this package. This module is loaded before a
 * command runs, but not for `--version`, which doesn't need the core.
 */

import { requireVersion } from "@workqueue/core/internal";
import { VERSION } from "./version.ts";

requireVersion("@workqueue/cli", VERSION);
