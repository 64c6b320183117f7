import { argumentError, requireOptions } from "@workqueue/core/internal";

/** Certificates for a connection by TLS. Each is text in PEM form, such as the contents of a `.pem` or `.crt` file. */
export interface RedisTlsOptions {
  /**
   * Certificates of the authorities that may have signed the server's certificate. Replaces those that the runtime
   * trusts.
   *
   * @default {the authorities that the runtime trusts}
   */
  ca?: string | undefined;
  /** Certificate of this client, with any intermediate certificates. Needs `key`. */
  cert?: string | undefined;
  /** Private key of `cert`, not encrypted. */
  key?: string | undefined;
  /**
   * Name that the server's certificate must have, if it is not the host in the URL.
   *
   * @default {the host}
   */
  servername?: string | undefined;
}

/**
 * Checks options, and returns them. Messages never contain values, because these are secret.
 *
 * @throws {TypeError} If an option is unknown or of the wrong type, or if only one of `cert` and `key` is given.
 */
export function requireTls(action: string, tls: RedisTlsOptions): RedisTlsOptions {
  if (typeof tls !== "object" || tls === null) {
    throw argumentError(action, "'tls' must be an object, such as { ca, cert, key }");
  }
  requireOptions(action, tls, ["ca", "cert", "key", "servername"]);
  const { ca, cert, key, servername } = tls;
  for (const [name, text] of Object.entries({ ca, cert, key })) {
    if (text === undefined || (typeof text === "string" && text.includes("-----BEGIN "))) continue;
    throw argumentError(action, `'tls.${name}' must be text in PEM form (-----BEGIN …), not the name of a file`);
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw argumentError(action, "'tls.cert' and 'tls.key' must be given together");
  }
  if (servername !== undefined && (typeof servername !== "string" || servername === "")) {
    throw argumentError(action, "'tls.servername' must be a non-empty string");
  }
  return { ca, cert, key, servername };
}
