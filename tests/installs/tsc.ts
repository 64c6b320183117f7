/** The type checks of those who install a package, and take nothing on trust, least of all the package's own types. */

import tests from "../package.json" with { type: "json" };
import { run } from "./project.ts";

const { "typescript": newest, "typescript-oldest": oldest } = tests.dependencies;

/** The oldest compiler that a consumer may have. */
export const OLDEST = oldest;

/** The compilers: specifiers of npm packages, and options that only that one knows. */
const COMPILERS = {
  newest: [`npm:typescript@${newest}/tsc`, "--ignoreConfig"],
  oldest: [`${oldest}/tsc`],
};

/** Type-checks, and writes JavaScript unless `--noEmit` is among the arguments. */
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
