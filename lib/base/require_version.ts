import { withCode } from "./error_codes.ts";
import { VERSION } from "./version.ts";

/**
 * Throws unless a package of this repository has the version of this core: its packages use internals of the core,
 * which may change in any release. Each package calls this when it is loaded.
 *
 * @example Usage
 * ```ts ignore
 * import { requireVersion } from "@workqueue/core/internal";
 *
 * requireVersion("@workqueue/redis", "0.1.0");
 * ```
 *
 * @param name The name of the package.
 * @param version The version of the package.
 * @throws {Error} With the code `WQ_VERSION`, if the versions differ.
 */
export function requireVersion(name: string, version: string): void {
  if (version === VERSION) return;
  const message = `Cannot load ${name} ${version}: it needs @workqueue/core ${version}, and found ${VERSION}. ` +
    "Install the same version of both";
  throw withCode("WQ_VERSION", new Error(message));
}
