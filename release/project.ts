/**
 * Addresses of the project, from `project.json`. An address that the project doesn't have yet is `null` there. Metadata
 * and links of everything that is published are derived from this file, so no link leads nowhere.
 */

import core from "../deno.json" with { type: "json" };
import file from "./project.json" with { type: "json" };

/** Addresses and names that a person must supply before a release. */
export interface Project {
  /** Address of the repository, such as `https://github.com/owner/name`. */
  readonly repository: string | null;
  /** Address of the site with the docs. */
  readonly homepage: string | null;
  /** Address at which users report bugs. */
  readonly bugs: string | null;
  /** Name of the author, and optionally an email address: `Name <name@example.com>`. */
  readonly author: string | null;
}

export const project: Project = file;

/**
 * Returns the address of the repository's files in this version, which ends with a slash; `undefined` until the
 * repository has an address.
 */
export function filesAddress({ repository }: Project = project): string | undefined {
  return repository === null ? undefined : `${repository}/blob/v${core.version}/`;
}

/**
 * Returns a README in which each relative link leads to the repository's files. If these have no address, the text of
 * such a link remains.
 *
 * @param text The README.
 * @param folder Path of the README's folder in the repository, which ends with a slash.
 * @param address Address of the repository's files, as {@linkcode filesAddress} returns it.
 */
export function withAddresses(text: string, folder: string, address: string | undefined): string {
  if (address === undefined) return text.replace(/!?\[([^[\]]*)\]\((?!https?:|#)[^)\s]+\)/g, "$1");
  return text.replace(/(?<=\]\()(?!https?:|#)[^)\s]+(?=\))/g, (href) => {
    const { pathname, hash } = new URL(href, `file:///${folder}`);
    return `${address}${pathname.slice(1)}${hash}`;
  });
}
