import { fstatSync, statSync } from "node:fs";

/**
 * Finds out whether two files are one, under whatever names, and through whatever links.
 *
 * @param a A path or an open file.
 * @param b Another one.
 * @returns Whether they are one regular file. Where one is not there, or is a device or a pipe, they are not.
 */
export function isSameFile(a: string | number, b: string | number): boolean {
  const id = identify(a);
  return id !== undefined && id === identify(b);
}

/** What no other file has; `undefined` for what is no regular file or has no number. */
function identify(file: string | number): string | undefined {
  try {
    const stats = typeof file === "number" ? fstatSync(file, { bigint: true }) : statSync(file, { bigint: true });
    return stats.isFile() && stats.ino ? `${stats.dev}:${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}
