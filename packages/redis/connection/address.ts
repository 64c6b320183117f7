import { argumentError } from "@workqueue/core/internal";
import type { RedisTlsOptions } from "./tls.ts";

/** Address of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly certificates?: RedisTlsOptions;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Database number. */
  readonly database: number;
}

export const DEFAULT_PORT = 6379;
const FORM = "redis[s]://[[user]:password@]host[:port][/database]";
/**
 * Hint for the most likely mistake: an unescaped `/`, `?` or `#` in the password. The URL parser ends the part of the
 * URL that contains the password and the host at this character.
 */
const ENCODE = "percent-encode the user and the password ('/' is %2F)";

/**
 * Parses a URL.
 *
 * @throws {TypeError} If `url` is not a Redis URL. The message shows the name of the option and at most the protocol,
 * because anything after it may be part of a password.
 */
export function parseAddress(
  action: string,
  url: unknown,
  { option = "url", defaultPort = DEFAULT_PORT } = {},
): Address {
  const refuse = (rule: string) => argumentError(action, `'${option}' ${rule}`);
  if (typeof url !== "string" || !URL.canParse(url)) throw refuse(`must be a URL such as ${FORM}: ${ENCODE}`);
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(url);
  if (protocol !== "redis:" && protocol !== "rediss:") {
    throw refuse(`must begin with redis:// or rediss://, got ${protocol}//`);
  }
  if (hostname === "") throw refuse(`must have a host: ${FORM}`);
  if (search !== "" || hash !== "" || !/^\/?\d*$/.test(pathname)) {
    throw refuse(`must end with the host, the port or the number of a database, such as /1: ${ENCODE}`);
  }
  try {
    return {
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? defaultPort : Number(port),
      tls: protocol === "rediss:",
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password) || undefined,
      database: Number(pathname.slice(1)),
    };
  } catch {
    throw refuse("must have its user and its password percent-encoded");
  }
}

/** Returns the host and port of an address, for messages. */
export function showAddress({ host, port }: Pick<Address, "host" | "port">): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
