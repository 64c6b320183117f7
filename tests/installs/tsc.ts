/** Type checks as run by a user who installs a package. The type checks also cover the package's own declarations. */

import tests from "../package.json" with { type: "json" };
import { run } from "./project.ts";

const { "typescript": newest, "typescript-oldest": oldest } = tests.dependencies;

/** Oldest supported compiler. */
export const OLDEST = oldest;

/** Compilers: the npm specifier of each compiler, and the options that only this compiler accepts. */
const COMPILERS = {
  newest: [`npm:typescript@${newest}/tsc`, "--ignoreConfig"],
  oldest: [`${oldest}/tsc`],
};

/** Type-checks a folder. Writes JavaScript unless `--noEmit` is among the arguments. */
export async function tsc(folder: string | URL, age: keyof typeof COMPILERS, ...args: string[]): Promise<void> {
  const options = [
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
    "--skipLibCheck",
    "false",
    "--target",
    "es2022",
    "--lib",
    "es2022,dom,esnext.disposable",
  ];
  await run(Deno.execPath(), ["run", "-A", "--no-config", ...COMPILERS[age], ...options, ...args], folder);
}
