import { inspect } from "@workqueue/core/internal";
import { signInOf } from "../access.ts";
import type { Access, DashboardOptions } from "../contract.ts";
import { within } from "../watch/timer.ts";
import { answerRedirect, Refusal } from "./answers.ts";

/** The longest body that is read, in bytes. */
const MAX_BODY = 64 * 1024;

/** How long is waited for who may do something, in milliseconds. */
const PATIENCE = 5000;

/** Who may do what, and which requests are the page's own. */
export class Guard {
  readonly #view: Access;
  readonly #control: Access | undefined;
  readonly #instance: string;

  constructor({ view, control }: Pick<DashboardOptions, "view" | "control">, instance: string) {
    this.#view = view;
    this.#control = control;
    this.#instance = instance;
  }

  /** Refuses who may not look. */
  async requireView(request: Request): Promise<void> {
    if (await mayDo(this.#view, request)) return;
    if (signInOf(this.#view) === undefined) throw new Refusal(403, "Not allowed: 'view' of this dashboard says no.");
    throw new Refusal(401, "Not allowed without the token: add ?token=… to the address, or reload if it was there.");
  }

  async mayControl(request: Request): Promise<boolean> {
    return this.#control !== undefined && await mayDo(this.#control, request);
  }

  /** Refuses what changes something, unless it comes from the page itself and from somebody who may. Gives its body. */
  async requireControl(request: Request): Promise<string> {
    if (this.#control === undefined) throw new Refusal(403, "Not allowed: this dashboard was given no 'control'.");
    requireSameOrigin(request);
    if (!/^application\/json *(;|$)/i.test(request.headers.get("content-type") ?? "")) {
      throw new Refusal(400, "Not understood: the content type must be application/json.");
    }
    const body = await readText(request); // first: a function that would read it says no by that
    if (!await mayDo(this.#control, request)) {
      throw new Refusal(403, "Not allowed: 'control' of this dashboard says no.");
    }
    const instance = request.headers.get("x-workqueue-instance");
    if (instance === null) {
      throw new Refusal(400, "Not understood: 'x-workqueue-instance' must be the 'instance' that api/state tells.");
    }
    if (instance !== this.#instance) {
      throw new Refusal(409, "Nothing was done, as the page is stale: it is of a process that has ended. Reload it.");
    }
    return body;
  }

  /** Lets a browser in that has a token in its address: with a cookie, and a redirect to the address without it. */
  async signIn(request: Request, path: string, location: string): Promise<Response | undefined> {
    for (const access of new Set([this.#view, this.#control])) {
      const cookie = await (access && signInOf(access))?.cookieFor(request, path);
      if (cookie !== undefined) return answerRedirect(location, { "set-cookie": cookie });
    }
    return undefined;
  }
}

/** What throws, rejects or takes too long says no, and nobody is told why. */
async function mayDo(access: Access, request: Request): Promise<boolean> {
  try {
    return await within(Promise.resolve(access(request)), PATIENCE) === true;
  } catch {
    return false;
  }
}

/** Browsers say where a request comes from. What no browser sends has to say the same, so that nobody forgets to. */
function requireSameOrigin(request: Request): void {
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  const { host } = new URL(request.url);
  const isOwn = origin === null ? site === "same-origin" : hostOf(origin) === host;
  if (isOwn && (site === null || site === "same-origin")) return;
  throw new Refusal(
    403,
    `Not allowed from another origin: 'Origin' must be that of ${inspect(host)}, and a proxy has to pass 'Host' on.`,
  );
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch { // it is "null"
    return undefined;
  }
}

/** Reads a body that is not too long, whatever its header says of that. */
async function readText(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (const reader = request.body?.getReader(); reader !== undefined;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > MAX_BODY) {
      await reader.cancel().catch(() => {});
      throw new Refusal(400, "Not understood: the body is longer than 64 kB.");
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
