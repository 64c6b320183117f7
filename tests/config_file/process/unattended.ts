/** Watches a file, the argument, and has nothing else to do. */

import { watchConfigFile } from "@workqueue/config-file";
import process from "node:process";

watchConfigFile(process.argv[2]!, { reload: () => [] });
console.log("watches");
