/**
 * Runs a Deno command with the real `@std` packages where JSR answers, and with the stand-ins of `std/`
 * where it does not.
 */

const probe: string = "@std/assert"; // a variable, so that this file loads where the package does not
const isReachable = await import(probe).then(() => true, () => false);
console.log(
  isReachable ? "JSR answers: using the @std packages." : "JSR does not answer: using the stand-ins in tests/std/.",
);

const [command = "test", ...args] = Deno.args;
const importMap = new URL("std/import_map.json", import.meta.url).pathname;
const { code } = await new Deno.Command(Deno.execPath(), {
  args: [command, ...(isReachable ? [] : ["--import-map", importMap]), ...args],
}).spawn().status;
Deno.exit(code);
