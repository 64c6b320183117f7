/** The arguments that make Deno use the real `@std` packages where JSR answers, and the stand-ins where it does not. */

const probe: string = "@std/assert"; // a variable, so that this file loads where the package does not

/** Whether the real packages can be used. Asked for once. */
export const isReachable: Promise<boolean> = import(probe).then(() => true, () => false);

export async function stdArguments(): Promise<string[]> {
  return await isReachable ? [] : ["--import-map", new URL("import_map.json", import.meta.url).pathname];
}
