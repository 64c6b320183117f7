/** Script that watches the file given as an argument, and does nothing else. */

import { watchConfigFile } from "@workqueue/config-file";
import process from "node:process";

watchConfigFile(process.argv[2]!, { reload: () => [] });
console.log("watches");
