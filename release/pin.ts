/**
 * Prepares the packages for JSR. Pins versions: makes each package require exactly the current version of the
 * repository's other packages. Otherwise, `deno publish` would allow any later minor version. Also makes the links of
 * the packages' READMEs absolute, because JSR resolves relative links against the root of the repository.
 *
 * ```sh
 * npx -y deno task pin # before `deno publish`. Don't commit the changes
 * ```
 *
 * The repository itself doesn't pin versions, because a command installed from a clone with `deno install` would then
 * look for the packages in the wrong folder.
 *
 * @module
 */

import { ROOT } from "./commands.ts";
import { packageFolders } from "./entries.ts";
import { filesAddress, withAddresses } from "./project.ts";

/** Fields of a `deno.json` that this file uses. */
interface Manifest {
  name: string;
  version: string;
  imports?: Record<string, string>;
}

/** Pins the versions of all packages in a copy of the repository, and makes the links of their READMEs absolute. */
export function pin(root: URL): void {
  const folders = packageFolders(root);
  const files = folders.map((folder) => new URL(`${folder}deno.json`, root));
  const manifests = files.map((file): Manifest => JSON.parse(Deno.readTextFileSync(file)));
  const exact = Object.fromEntries(manifests.map(({ name, version }) => [name, `jsr:${name}@${version}`]));
  for (const [i, file] of files.entries()) {
    if (i === 0) continue; // the core does not depend on other packages
    const { [manifests[i]!.name]: _itself, ...imports } = exact;
    Deno.writeTextFileSync(file, JSON.stringify({ ...manifests[i], imports }, undefined, 2) + "\n");
  }
  for (const folder of folders.slice(1)) {
    const readme = new URL(`${folder}README.md`, root);
    Deno.writeTextFileSync(readme, withAddresses(Deno.readTextFileSync(readme), folder, filesAddress()));
  }
}

if (import.meta.main) pin(ROOT);
