/** Exports in a manifest: a file, or a file for each entry. */
export type Exports = string | Readonly<Record<string, string>>;

/** Returns the file of each entry of a package, by the name of the entry. The main entry is ".". */
export function entriesOf(exports: Exports): Readonly<Record<string, string>> {
  return typeof exports === "string" ? { ".": exports } : exports;
}

/** Returns the folders of all packages, each with a slash at its end. The core is `""`. */
export function packageFolders(root: URL): string[] {
  const names = [...Deno.readDirSync(new URL("packages/", root))].filter(({ isDirectory }) => isDirectory);
  return ["", ...names.map(({ name }) => `packages/${name}/`).sort()];
}
