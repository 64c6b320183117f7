import { fstatSync, statSync } from "node:fs";

/**
 * Reports whether two paths or open files are one file, even under different names or through links.
 *
 * @param a A path or an open file.
 * @param b Another one.
 * @returns Whether they are one regular file. False if one of them does not exist, or is a device or a pipe.
 */
export function isSameFile(a: string | number, b: string | number): boolean {
  const id = identify(a);
  return id !== undefined && id === identify(b);
}

/**
 * Returns an identifier that no other file has; `undefined` if it is not a regular file or the system has no number for
 * it.
 */
function identify(file: string | number): string | undefined {
  try {
    const stats = typeof file === "number" ? fstatSync(file, { bigint: true }) : statSync(file, { bigint: true });
    return stats.isFile() && stats.ino ? `${stats.dev}:${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}
