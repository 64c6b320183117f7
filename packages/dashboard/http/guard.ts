import { inspect } from "@workqueue/core/internal";
import { requirementOf, signInOf } from "../access.ts";
import type { Access } from "../contract.ts";
import type { Audit } from "../control/audit.ts";
import { within } from "../watch/timer.ts";
import { answerRedirect, Refusal } from "./answers.ts";

/** Maximum length of a body, in bytes. */
const MAX_BODY = 64 * 1024;

/** Longest wait for an access function, in milliseconds. */
const ACCESS_TIMEOUT = 5000;

/**
 * Access control. Decides who may view the dashboard, who may control queues, and which requests come from the page
 * itself.
 */
export class Guard {
  readonly #view: Access;
  readonly #control: Access | undefined;
  /** Public origins of the page. */
  readonly #origins: readonly string[];
  readonly #instance: string;
  readonly #audit: Audit;

  constructor(
    { view, control, origins }: { view: Access; control: Access | undefined; origins: readonly string[] },
    instance: string,
    audit: Audit,
  ) {
    this.#view = view;
    this.#control = control;
    this.#origins = origins;
    this.#instance = instance;
    this.#audit = audit;
  }

  /**
   * Checks that the client may view the dashboard. Returns the client's name, if known.
   *
   * @throws {Refusal} If the client is not allowed to view the dashboard.
   */
  async requireView(request: Request): Promise<string | undefined> {
    const pass = await passOf(this.#view, request);
    if (pass !== undefined) return pass.name;
    if (signInOf(this.#view) === undefined) throw new Refusal(403, denied("view", this.#view));
    this.#noteToken(request);
    throw new Refusal(
      401,
      "Not allowed without the token: add ?token=… to the address, or reload the page if it was there.",
    );
  }

  async mayControl(request: Request): Promise<boolean> {
    return this.#control !== undefined && await passOf(this.#control, request) !== undefined;
  }

  /**
   * Returns the body of a request that changes something, and the client's name, if known.
   *
   * @throws {Refusal} If the request doesn't come from the page itself, the client is not allowed to control queues, or
   * the page is stale.
   */
  async requireControl(request: Request): Promise<{ body: string; name: string | undefined }> {
    if (this.#control === undefined) throw new Refusal(403, "Not allowed: this dashboard has no 'control'.");
    requireSameOrigin(request, this.#origins);
    if (!/^application\/json *(;|$)/i.test(request.headers.get("content-type") ?? "")) {
      throw new Refusal(400, "Invalid request: the content type must be application/json.");
    }
    const body = await readText(request); // after this, an access function can't read the body
    const pass = await passOf(this.#control, request);
    if (pass === undefined) {
      // If `view` uses tokens too, the token was right for `view`.
      if (signInOf(this.#control) !== undefined && signInOf(this.#view) === undefined) this.#noteToken(request);
      throw new Refusal(403, denied("control", this.#control));
    }
    const instance = request.headers.get("x-workqueue-instance");
    if (instance === null) {
      throw new Refusal(400, "Invalid request: 'x-workqueue-instance' must be the 'instance' in api/state.");
    }
    if (instance !== this.#instance) {
      throw new Refusal(409, "Nothing was done: the page shows a process that has ended. Reload the page.");
    }
    return { body, name: pass.name };
  }

  /** Counts a refused request if it has a token, which is then wrong. */
  #noteToken({ headers, url }: Request): void {
    if (headers.has("authorization") || new URL(url).searchParams.has("token")) this.#audit.addWrongToken();
  }

  /**
   * Signs in a browser if the requested address contains a valid token. The response sets a cookie and redirects to the
   * address without the token. Returns `undefined` if there is no valid token.
   */
  async signIn(request: Request, path: string, location: string): Promise<Response | undefined> {
    for (const access of new Set([this.#view, this.#control])) {
      const cookies = await (access && signInOf(access))?.cookiesFor(request, path) ?? [];
      if (cookies.length > 0) return answerRedirect(location, cookies);
    }
    return undefined;
  }
}

function denied(name: "view" | "control", access: Access): string {
  const requirement = requirementOf(access);
  return `Not allowed: '${name}' of this dashboard denies access${
    requirement === undefined ? "" : `; ${requirement}`
  }.`;
}

/** Permission from an access function. */
interface Pass {
  /** Name that the access function returned. */
  readonly name: string | undefined;
}

/**
 * Returns a pass if an access function allows a request; `undefined` if not. If the function throws, rejects or takes
 * too long, access is denied, and the response doesn't give the reason.
 */
async function passOf(access: Access, request: Request): Promise<Pass | undefined> {
  try {
    const said: unknown = await within(Promise.resolve(access(request)), ACCESS_TIMEOUT);
    if (typeof said === "string" && said !== "") return { name: said };
    return said === true ? { name: undefined } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks that a request comes from the page's own origin, or from one of its public origins. Browsers always send the
 * origin. Other clients must send it too: a request without an origin is refused.
 *
 * @throws {Refusal} If the request comes from another origin or doesn't contain an origin.
 */
function requireSameOrigin(request: Request, origins: readonly string[]): void {
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  const own = new URL(request.url).origin;
  const isOwn = origin === null ? site === "same-origin" : origin === own || origins.includes(origin);
  if (isOwn && (site === null || site === "same-origin")) return;
  throw new Refusal(
    403,
    `Not allowed from another origin: 'Origin' must be ${
      [own, ...origins].map((each) => inspect(each)).join(" or ")
    }. ` +
      "If browsers open the page at another address, such as that of a proxy, name it in 'origins'.",
  );
}

/**
 * Reads the body of a request up to the maximum length. Doesn't rely on the `content-length` header.
 *
 * @throws {Refusal} If the body is too long.
 */
async function readText(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (const reader = request.body?.getReader(); reader !== undefined;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > MAX_BODY) {
      await reader.cancel().catch(() => {});
      throw new Refusal(400, "Invalid request: the body is longer than 64 kB.");
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return new TextDecoder().decode(bytes);
}
