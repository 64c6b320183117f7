/** Cache of packed, published and installed packages, because each of these takes several seconds. */

import { existsSync } from "node:fs";
import { join } from "node:path";

/** Folder that the processes of a test run share; by default, this process has a folder of its own. */
const shared = Deno.env.get("WORKQUEUE_PACKED");
let own: string | undefined;

function cache(): string {
  const known = shared ?? own;
  if (known !== undefined) return known;
  const folder = own = Deno.makeTempDirSync({ prefix: "workqueue_" });
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  return folder;
}

/**
 * Returns a folder into which `pack` has put files. Calls `pack` only for the first call with this name. A lock file
 * makes other processes that need the same wait, because packing twice takes longer. The lock ends with its process.
 *
 * @param name The name of the folder, which says what was packed.
 */
export async function packedOnce(name: string, pack: (folder: string) => Promise<unknown> | void): Promise<string> {
  const path = join(cache(), name.replaceAll(/[^\w-]/g, "_"));
  if (existsSync(path)) return path;
  using file = Deno.openSync(`${path}.lock`, { create: true, write: true });
  await file.lock(true);
  if (existsSync(path)) return path;
  const scratch = `${path}.${crypto.randomUUID()}`;
  Deno.mkdirSync(scratch);
  await pack(scratch);
  Deno.renameSync(scratch, path);
  return path;
}

/** Returns the paths of all files in a folder. */
export function filesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    return isDirectory ? filesIn(join(folder, name)) : [join(folder, name)];
  });
}
