import { invalidArgument } from "@workqueue/core/arguments";
import type { Access } from "./contract.ts";

/** The address that a request came from, where the server told it. */
const peers = /* @__PURE__ */ new WeakMap<Request, string>();

/** What servers give beside a request: Deno, Bun, and `@hono/node-server` on Node. */
interface ServerInfo {
  readonly remoteAddr?: { readonly hostname?: unknown };
  requestIP?(request: Request): { readonly address: unknown } | null;
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: unknown } };
}

/** Notes where a request comes from, if `info` tells. */
export function notePeer(request: Request, info: unknown): void {
  if (typeof info !== "object" || info === null) return;
  const { remoteAddr, incoming } = info as ServerInfo;
  const address = remoteAddr?.hostname ?? incoming?.socket?.remoteAddress ??
    (typeof (info as ServerInfo).requestIP === "function"
      ? (info as ServerInfo).requestIP!(request)?.address
      : undefined);
  if (typeof address === "string") peers.set(request, address);
}

/**
 * Allows requests from this machine: to `localhost`, a name under it, or a loopback address, and from a loopback address
 * where the server tells from where. The name is looked at because a page elsewhere can have its own name point to this
 * machine.
 *
 * What comes through a proxy is not allowed, as that may come from anywhere: see {@linkcode allowToken}.
 *
 * @example Usage
 * ```ts
 * import { allowLocal } from "@workqueue/dashboard";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(allowLocal(new Request("http://localhost:8000/")), true);
 * assertEquals(allowLocal(new Request("http://queues.example/")), false);
 * ```
 *
 * @param request The request.
 * @returns Whether it is allowed.
 */
export function allowLocal(request: Request): boolean {
  const peer = peers.get(request);
  if (peer !== undefined && !isLoopback(peer)) return false;
  const { headers } = request;
  if (PROXY_HEADERS.some((name) => headers.has(name))) return false;
  const host = headers.get("host");
  return isLocalHost(new URL(request.url).hostname) && (host === null || isLocalHost(hostnameOf(host)));
}

/** What proxies add. */
const PROXY_HEADERS: readonly string[] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

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

/** The shortest token that is taken. */
const MIN_TOKEN = 16;

/** How somebody is let in by a token in the address. */
export interface SignIn {
  /** The header `set-cookie` by which they are let in from then on; `undefined` if the token in the address is not right. */
  cookieFor(request: Request, path: string): Promise<string | undefined>;
}

const signIns = /* @__PURE__ */ new WeakMap<Access, SignIn>();

/** How an access lets people in, if it is one by token. */
export function signInOf(access: Access): SignIn | undefined {
  return signIns.get(access);
}

/**
 * Allows requests that have a token: as `Authorization: Bearer TOKEN`; or in the address of the page, `?token=TOKEN`, which
 * is answered with a cookie for this browser and a redirect to the address without it. The token is a secret: serve the
 * page by https, and make it long, as by `crypto.randomUUID()`.
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
 * @param token The token: at least 16 characters, without spaces.
 * @returns What `view` or `control` may be.
 * @throws {TypeError} If the token is no text, too short, or has other characters than a header can have.
 */
export function allowToken(token: string): Access {
  if (typeof token !== "string" || token.length < MIN_TOKEN || !/^[\x21-\x7e]+$/.test(token)) {
    // What was received is not said: it may be a part of a secret.
    const rule = `must be a text of at least ${MIN_TOKEN} characters that headers can have`;
    throw invalidArgument("allow token", "token", rule, typeof token === "string" ? Symbol("secret") : token);
  }
  // The cookie is made from the token, which is not kept in browsers.
  const [secret, cookie] = [digest(token), digest(`workqueue dashboard cookie ${token}`).then(hex)];
  const name = cookie.then((value) => `workqueue_${value.slice(0, 8)}`);
  const expected = cookie.then((value) => digest(value.slice(8)));

  const access: Access = async ({ headers }) => {
    const bearer = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
    if (bearer !== undefined) return isSame(await digest(bearer), await secret);
    const given = cookieIn(headers.get("cookie") ?? "", await name);
    return given !== undefined && isSame(await digest(given), await expected);
  };
  signIns.set(access, {
    async cookieFor(request, path) {
      const { searchParams, protocol } = new URL(request.url);
      if (!isSame(await digest(searchParams.get("token") ?? ""), await secret)) return undefined;
      const secure = protocol === "https:" || request.headers.get("x-forwarded-proto") === "https" ? "; Secure" : "";
      return `${await name}=${(await cookie).slice(8)}; Path=${path}; HttpOnly; SameSite=Strict${secure}`;
    },
  });
  return access;
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

/** Takes as long wherever they differ. */
function isSame(digest: Uint8Array, other: Uint8Array): boolean {
  let difference = 0;
  for (let i = 0; i < digest.length; i++) difference |= digest[i]! ^ other[i]!;
  return difference === 0;
}
