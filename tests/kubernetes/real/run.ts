/**
 * Runs the tests on a real API server: `deno task test:kubernetes [FILE or OPTION…]`, with options of `deno test`. They
 * take about three quarters of an hour. `WORKQUEUE_RUNTIMES=Deno` leaves out the other runtimes.
 */

import process from "node:process";
import { fileURLToPath } from "node:url";
import { installPackages } from "../../packages_from_npm.ts";
import { HAS_NODE } from "../../runtimes.ts";
import { testArguments } from "../../std/arguments.ts";
import { apiServerProgram, etcdProgram, HAS_GO, NEWEST_KUBERNETES } from "./programs.ts";

const FOLDER = "tests/kubernetes/real/";

if (!HAS_GO) {
  console.error("Go is not on the PATH. It builds the API server.");
  process.exit(1);
}
if (!HAS_NODE) await installPackages();
await etcdProgram();
await apiServerProgram();
const given = Deno.args;
const isOfFiles = given.some((arg) => arg.includes(FOLDER));
if (!isOfFiles || given.some((arg) => arg.includes("servers_test"))) await apiServerProgram(NEWEST_KUBERNETES);
const args = ["test", "-A", ...testArguments, ...given, ...isOfFiles ? [] : [FOLDER]];
const cwd = fileURLToPath(new URL("../../../", import.meta.url));
const { code } = await new Deno.Command(Deno.execPath(), { args, cwd }).spawn().status;
process.exit(code);
