import { readFileSync } from "node:fs";
import { allPackages } from "./all_packages.ts";

/** Packages from npm that the tests of the core and their helpers import. */
const PACKAGES = [
  "@sinonjs/fake-timers",
  "ajv",
  "esbuild",
  "fast-check",
  "jsonc-parser",
  "smol-toml",
  "yaml",
];

/** Lock file of Deno, version 5. */
interface Lock {
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, LockedPackage>>;
}

/** Locked package. Its dependencies are names, or `name@version` if the lock file has several versions of the name. */
interface LockedPackage {
  readonly dependencies?: readonly string[];
  readonly optionalDependencies?: readonly string[];
}

/**
 * Returns the lock file for the tests of the core: the part of `deno.all.lock` that these tests need. Deno downloads
 * all packages in a lock file as soon as one of them is imported, so a short lock file lets these tests start quickly.
 */
export function coreLock(): string {
  const all: Lock = JSON.parse(readFileSync(new URL("../../deno.all.lock", import.meta.url), "utf8"));
  const { imports } = JSON.parse(allPackages()) as { imports: Record<string, string> };
  const versions = new Map(PACKAGES.map((name) => {
    const specifier = imports[name]!.replace(/@\^(\d+(\.\d+)?)$/, "@$1"); // as Deno shortens it in lock files
    return [specifier, all.specifiers[specifier]!];
  }));
  const needed = new Set<string>();
  for (const [specifier, version] of versions) {
    addWithDependencies(specifier.replace(/^npm:(.+)@.*$/, `$1@${version}`), all.npm, needed);
  }
  const core = {
    ...all,
    specifiers: Object.fromEntries(versions),
    npm: Object.fromEntries(Object.entries(all.npm).filter(([id]) => needed.has(id))),
  };
  return JSON.stringify(core, undefined, 2).replaceAll(/("(?:os|cpu)":) \[\s+("\w+")\s+\]/g, "$1 [$2]") + "\n";
}

/** Adds a package and all packages that it needs. */
function addWithDependencies(id: string, locked: Lock["npm"], needed: Set<string>): void {
  if (needed.has(id)) return;
  needed.add(id);
  const { dependencies = [], optionalDependencies = [] } = locked[id]!;
  for (const dependency of [...dependencies, ...optionalDependencies]) {
    addWithDependencies(idOf(dependency, locked), locked, needed);
  }
}

/** Returns the ID of a dependency, whose version is left out if the lock file has only one. */
function idOf(dependency: string, locked: Lock["npm"]): string {
  const id = dependency in locked
    ? dependency
    : Object.keys(locked).find((id) =>
      id.startsWith(`${dependency}@`) && !id.slice(dependency.length + 1).includes("/")
    );
  if (id === undefined) throw new Error(`deno.all.lock has no package ${dependency}`);
  return id;
}
