import { fstatSync, statSync } from "node:fs";

/**
 * Reports whether two paths or file descriptors refer to the same file, even under different names or through links.
 *
 * @param a A path or a file descriptor.
 * @param b Another path or file descriptor.
 * @returns Whether they are the same regular file. `false` if either file doesn't exist, or is a device or a pipe.
 */
export function isSameFile(a: string | number, b: string | number): boolean {
  const id = identify(a);
  return id !== undefined && id === identify(b);
}

/**
 * Returns a unique identifier of a file; `undefined` if it is not a regular file or the system has no inode number for
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
