/**
 * Runs the command in a clone of the repository: `deno task run ARGUMENTS` is `workqueue run ARGUMENTS`, unless the
 * first argument is the name of another command.
 *
 * @module
 */

import process from "node:process";
import { COMMANDS, exitWith, main } from "./main.ts";

const args = process.argv.slice(2);
await exitWith(await main(COMMANDS.includes(args[0]!) ? args : ["run", ...args]));
