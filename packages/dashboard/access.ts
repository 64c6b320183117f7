import { argumentError, invalidArgument } from "@workqueue/core/internal";
import type { Access } from "./contract.ts";

/**
 * Client's address for each request; `undefined` if the server doesn't report an address, as for a Unix socket.
 */
const peers = /* @__PURE__ */ new WeakMap<Request, string | undefined>();

/** Information that servers pass along with a request. Supports Deno, Bun, and `@hono/node-server` on Node. */
interface ServerInfo {
  readonly remoteAddr?: { readonly hostname?: unknown };
  requestIP?(request: Request): { readonly address: unknown } | null;
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: unknown } };
}

/** Records the address of the client if `info` contains it. */
export function notePeer(request: Request, info: unknown): void {
  if (typeof info !== "object" || info === null) return;
  const { remoteAddr, incoming } = info as ServerInfo;
  const address = remoteAddr?.hostname ?? incoming?.socket?.remoteAddress ??
    (typeof (info as ServerInfo).requestIP === "function"
      ? (info as ServerInfo).requestIP!(request)?.address
      : undefined);
  peers.set(request, typeof address === "string" ? address : undefined);
}

/**
 * Returns a message that tells denied clients what an access function requires; `undefined` if the requirements are
 * unknown. The message doesn't say which check failed.
 */
export function requirementOf(access: Access): string | undefined {
  return access === allowLocal ? "open it on the same machine, at localhost, and not through a proxy" : undefined;
}

/** Whether the console already has a line saying that `allowLocal` needs the client's address. */
let hasWarned = false;

function warnOnce(hasInfo: boolean): void {
  if (hasWarned) return;
  hasWarned = true;
  console.error(
    hasInfo
      ? "workqueue dashboard: allowLocal denied a request because the server doesn't report the client's address. " +
        "For example, a Unix socket has no addresses. Use allowToken instead."
      : "workqueue dashboard: allowLocal denied a request because it doesn't know the client's address. " +
        "Pass the server's second argument: Deno.serve((request, info) => dashboard.fetch(request, info))",
  );
}

/**
 * Allows requests from this machine. The server must report the client's address, and the address must be a loopback
 * address. The request must be sent to `localhost`, a subdomain of `localhost`, or a loopback address. If there is an
 * `Origin` header, its host must be one of these too. The host name is checked because another site can make its own
 * domain name point to this machine.
 *
 * The address comes from the second argument of the dashboard's `fetch`. Without the address, every request is denied,
 * and the console shows one line with the reason. Requests through a Unix socket have no address.
 *
 * Requests with proxy headers are denied because they may come from anywhere. Requests through a proxy that adds no
 * headers can't be distinguished from local requests. Behind such a proxy, use {@linkcode allowToken}.
 *
 * @example Usage
 * ```ts
 * import { allowLocal, createDashboard } from "@workqueue/dashboard";
 * import { assertEquals } from "@std/assert";
 *
 * using dashboard = createDashboard({ queues: {}, view: allowLocal });
 * // Deno.serve((request, info) => dashboard.fetch(request, info));
 * const info = { remoteAddr: { hostname: "127.0.0.1" } };
 * const local = await dashboard.fetch(new Request("http://localhost:8000/api/state"), info);
 * const other = await dashboard.fetch(new Request("http://queues.example/api/state"), info);
 * assertEquals([local.status, other.status], [200, 403]);
 * ```
 *
 * @param request The request.
 * @returns Whether the request is allowed.
 */
export function allowLocal(request: Request): boolean {
  const peer = peers.get(request);
  if (peer === undefined) {
    warnOnce(peers.has(request));
    return false;
  }
  if (!isLoopback(peer)) return false;
  const { headers } = request;
  if ([...headers.keys()].some((name) => PROXY_HEADERS.test(name))) return false;
  const origin = headers.get("origin");
  if (origin !== null && !isLocalHost(hostnameOf(origin.replace(/^https?:\/\//, "")))) return false;
  const host = headers.get("host");
  return isLocalHost(new URL(request.url).hostname) && (host === null || isLocalHost(hostnameOf(host)));
}

/** Headers that proxies add. */
const PROXY_HEADERS =
  /^(forwarded|via|cdn-loop|cf-.*|x-forwarded(-.*)?|x-original-.*|x-real-ip|(.+-)?client-?ip|x-envoy-.*)$/;

function hostnameOf(host: string): string {
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return "";
  }
}

function isLocalHost(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  return name === "localhost" || name.endsWith(".localhost") || isLoopback(name.replace(/^\[(.*)\]$/, "$1"));
}

function isLoopback(address: string): boolean {
  const bare = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
  return bare === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(bare);
}

/** Minimum length of a token, in characters. */
const MIN_TOKEN = 16;
/** Minimum number of different characters in a token. */
const MIN_DIFFERENT = 8;

/** Sign-in with a token in the address. */
export interface SignIn {
  /**
   * Returns the `set-cookie` headers that sign the browser in, and other users out; none if the token in the address is
   * wrong.
   */
  cookiesFor(request: Request, path: string): Promise<string[]>;
}

const signIns = /* @__PURE__ */ new WeakMap<Access, SignIn>();

/** Returns the sign-in for an access function; `undefined` if the function doesn't use tokens. */
export function signInOf(access: Access): SignIn | undefined {
  return signIns.get(access);
}

/**
 * Returns an access function that allows requests with one of the given tokens. A client can send its token as
 * `Authorization: Bearer TOKEN`, or in the page's address as `?token=TOKEN`. The response to a request with the token
 * in its address sets a cookie for this browser and redirects to the address without the token. The token is a secret:
 * serve the page over HTTPS, and use a long token, for example from `crypto.randomUUID()`.
 *
 * @example Usage
 * ```ts
 * import { allowToken } from "@workqueue/dashboard";
 * import { assertEquals } from "@std/assert";
 *
 * const view = allowToken("c0ffee00-1111-4222-8333-444455556666");
 * const authorization = "Bearer c0ffee00-1111-4222-8333-444455556666";
 * assertEquals(await view(new Request("https://queues.example/", { headers: { authorization } })), true);
 * assertEquals(await view(new Request("https://queues.example/")), false);
 * ```
 *
 * @param token The token: at least 16 printable ASCII characters without spaces, at least 8 of them different. Or an
 * object that maps names of users to their tokens: the access function then returns the name.
 * @param others More tokens. With `view: allowToken(a, b), control: allowToken(b)`, clients with the token `a` can
 * view, and clients with the token `b` can also control.
 * @returns An access function for `view` or `control`.
 * @throws {TypeError} If a token is not a string, is too short, has too few different characters, or contains a space
 * or a character that is not printable ASCII; or if a name is empty, two names have the same token, or there are no
 * names.
 */
export function allowToken(token: string | Readonly<Record<string, string>>, ...others: string[]): Access {
  const isNamed = typeof token === "object" && token !== null && !Array.isArray(token) && others.length === 0;
  const names = isNamed ? Object.keys(token) : [];
  if (isNamed && (names.length === 0 || names.includes(""))) {
    throw argumentError("allow token", "each token must have a name that is not empty");
  }
  const texts = (isNamed ? Object.values(token) : [token, ...others]).map(requireToken);
  if (isNamed && new Set(texts).size < texts.length) {
    throw argumentError("allow token", "each name must have its own token");
  }
  const tokens = texts.map((text) => new Token(text));
  const access: Access = async (request) => {
    const allowed = await Promise.all(tokens.map((each) => each.isIn(request)));
    const found = allowed.indexOf(true);
    return found >= 0 && (names[found] ?? true);
  };
  signIns.set(access, {
    async cookiesFor(request, path) {
      const cookies = await Promise.all(tokens.map((each) => each.cookieFor(request, path)));
      const found = cookies.findIndex((cookie) => cookie !== undefined);
      if (found < 0) return [];
      const others = isNamed ? tokens.filter((_, i) => i !== found) : [];
      const ended = await Promise.all(others.map((each) => each.endOfCookie(request, path)));
      return [cookies[found]!, ...ended.filter((cookie) => cookie !== undefined)];
    },
  });
  return access;
}

function requireToken(token: unknown): string {
  const rule = `must be a string of at least ${MIN_TOKEN} printable ASCII characters without spaces, ` +
    `at least ${MIN_DIFFERENT} of them different`;
  if (typeof token !== "string") throw invalidArgument("allow token", "token", rule, token);
  const different = new Set(token).size;
  if (token.length >= MIN_TOKEN && different >= MIN_DIFFERENT && /^[\x21-\x7e]+$/.test(token)) return token;
  // The message doesn't contain the invalid token because even an invalid token may be part of a secret.
  const got = `a string of length ${token.length} with ${different} different characters`;
  throw argumentError("allow token", `'token' ${rule}, got ${got}`);
}

/** Token, and the cookie that replaces it. Browsers store the cookie instead of the token. */
class Token {
  readonly #secret: Promise<Uint8Array>;
  readonly #cookie: Promise<{ readonly name: string; readonly value: string; readonly digest: Uint8Array }>;

  constructor(token: string) {
    this.#secret = digest(token);
    this.#cookie = digest(`workqueue dashboard cookie ${token}`).then(async (bytes) => {
      const text = hex(bytes);
      const value = text.slice(8);
      return { name: `workqueue_${text.slice(0, 8)}`, value, digest: await digest(value) };
    });
  }

  async isIn({ headers }: Request): Promise<boolean> {
    const bearer = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
    if (bearer !== undefined) return isSame(await digest(bearer), await this.#secret);
    const { name, digest: expected } = await this.#cookie;
    const given = cookieIn(headers.get("cookie") ?? "", name);
    return given !== undefined && isSame(await digest(given), expected);
  }

  /**
   * Returns the cookie for a request with this token in its address; `undefined` if the token is wrong. Browsers also
   * send the cookie when a user follows a link from another site. A request from such a link can only view, because
   * controls require the same origin.
   */
  async cookieFor(request: Request, path: string): Promise<string | undefined> {
    const { searchParams } = new URL(request.url);
    if (!isSame(await digest(searchParams.get("token") ?? ""), await this.#secret)) return undefined;
    const { name, value } = await this.#cookie;
    return `${name}=${value}${attributes(request, path)}`;
  }

  /** Returns the cookie that replaces and ends the one in a request; `undefined` if the request has none. */
  async endOfCookie(request: Request, path: string): Promise<string | undefined> {
    const { name } = await this.#cookie;
    const given = cookieIn(request.headers.get("cookie") ?? "", name);
    return given === undefined ? undefined : `${name}=; Max-Age=0${attributes(request, path)}`;
  }
}

/** Returns the attributes of a cookie that is sent only to the dashboard's path. */
function attributes(request: Request, path: string): string {
  const secure = new URL(request.url).protocol === "https:" || isForwardedOverTls(request) ? "; Secure" : "";
  return `; Path=${path.replaceAll(";", "%3B")}; HttpOnly; SameSite=Lax${secure}`;
}

/**
 * Reports whether the browser's connection used TLS, according to the proxies' `x-forwarded-proto` header. The header's
 * first value comes from the proxy nearest to the browser.
 */
function isForwardedOverTls({ headers }: Request): boolean {
  return /^\s*https\s*(,|$)/i.test(headers.get("x-forwarded-proto") ?? "");
}

function cookieIn(cookies: string, name: string): string | undefined {
  const found = cookies.split(/; */).find((cookie) => cookie.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Reports whether two digests are equal, in constant time. */
function isSame(digest: Uint8Array, other: Uint8Array): boolean {
  let difference = 0;
  for (let i = 0; i < digest.length; i++) difference |= digest[i]! ^ other[i]!;
  return difference === 0;
}
