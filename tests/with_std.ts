/**
 * Runs a `deno` command on code that uses `@std`. The code gets the real packages if JSR is reachable, and the
 * stand-ins in `std/` otherwise.
 */

import { testArguments } from "./std/arguments.ts";

const [command, ...args] = Deno.args;
const { code } = await new Deno.Command(Deno.execPath(), {
  args: [command!, ...testArguments, ...args],
  cwd: new URL("..", import.meta.url),
}).spawn().status;
Deno.exit(code);
