import { fileURLToPath } from "node:url";
import { output } from "../machine.ts";

/** Milliseconds by which each sync is delayed. */
export const SYNC_DELAY = 4;

const SOURCE = fileURLToPath(new URL("slow_sync.c", import.meta.url));

/**
 * Compiles the library that delays syncs. Returns the environment variables with which a process uses it; `undefined`
 * if there is no C compiler, or if this is not Linux.
 */
export async function buildSlowSync(folder: string): Promise<Record<string, string> | undefined> {
  if (Deno.build.os !== "linux") return undefined;
  const library = `${folder}/slow_sync.so`;
  const options = ["-shared", "-fPIC", `-DDELAY=${SYNC_DELAY * 1e6}L`, "-o", library, SOURCE, "-ldl"];
  return await output("cc", options, folder) === undefined ? undefined : { LD_PRELOAD: library };
}
