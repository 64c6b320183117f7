/**
 * Runs a `deno` command on code that uses `@std`: the real packages if JSR is reachable, or the stand-ins in `std/`.
 */

import { testArguments } from "./std/arguments.ts";

const [command, ...args] = Deno.args;
const { code } = await new Deno.Command(Deno.execPath(), {
  args: [command!, ...testArguments, ...args],
  cwd: new URL("..", import.meta.url),
}).spawn().status;
Deno.exit(code);
