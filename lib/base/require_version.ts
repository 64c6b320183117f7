import { withCode } from "./error_codes.ts";
import { VERSION } from "./version.ts";

/**
 * Throws unless a package of this repository has the same version as this core. The packages use internals of the core,
 * which may change in any release. Each package calls this function when it is loaded.
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
 * @throws {Error} If the versions differ. The error has the code `WQ_VERSION`.
 */
export function requireVersion(name: string, version: string): void {
  if (version === VERSION) return;
  const message = `Cannot load ${name} ${version}: it needs @workqueue/core ${version}, and found ${VERSION}. ` +
    "Install the same version of both";
  throw withCode("WQ_VERSION", new Error(message));
}
