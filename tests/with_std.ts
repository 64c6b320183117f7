/**
 * Runs a Deno command with the real `@std` packages where JSR answers, and with the stand-ins of `std/`
 * where it does not.
 */

import { isJsrReachable, stdArguments } from "./std/arguments.ts";

console.log(
  isJsrReachable ? "JSR answers: using the @std packages." : "JSR does not answer: using the stand-ins in tests/std/.",
);

const [command = "test", ...args] = Deno.args;
if (command === "test" && Deno.build.os === "windows") {
  console.log("Windows has neither `sh` nor signals: leaving out the tests of the command.");
  args.unshift("--ignore=tests/cli");
}
const { code } = await new Deno.Command(Deno.execPath(), {
  args: [command, ...stdArguments, ...args],
  cwd: new URL("..", import.meta.url),
}).spawn().status;
Deno.exit(code);
