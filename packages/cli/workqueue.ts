#!/usr/bin/env node
/**
 * Command-line tool `workqueue`: runs a command for each line of a list, with retries and backoff.
 *
 * ```sh
 * deno install -gA -n workqueue jsr:@workqueue/cli
 * workqueue run --input urls.txt --retries 3 -- curl -fsSO {}
 * ```
 *
 * @module
 */

import process from "node:process";
import { exitWith, main } from "./main.ts";

await exitWith(await main(process.argv.slice(2)));
