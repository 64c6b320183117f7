/**
 * Whether to try the installation of every package. By default, `deno task ok` tries each kind of installation with one
 * package: the core from a clone, the package for Redis, which needs another package of this repository, as a tarball,
 * and the command from a registry and from a clone.
 */
export const EVERY: boolean = Deno.env.has("WORKQUEUE_EVERY_INSTALL");

/** Registers a test that only `deno task test:installs` runs. */
export function everyTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !EVERY, fn });
}
