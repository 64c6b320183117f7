import type { ErrorBody } from "../api.ts";
import { PAGE, PAGE_CSP } from "../page.ts";

/** A request that is answered with what is wrong with it. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 422 | 503;

  constructor(status: Refusal["status"], message: string) {
    super(message);
    this.status = status;
  }
}

/** What every answer says: nobody but its own page may use it, and nobody keeps it. */
const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const NOTHING_ELSE = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** An answer with the headers of all. A policy stands for what the page needs; anything else needs nothing. */
export function answer(
  status: number,
  type: string | undefined,
  body: string | ReadableStream<Uint8Array> | null,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(body, {
    status,
    headers: {
      ...HEADERS,
      "content-security-policy": NOTHING_ELSE,
      ...(type !== undefined && { "content-type": type }),
      ...headers,
    },
  });
}

export function answerJson(json: string): Response {
  return answer(200, "application/json", json);
}

/** What is wrong, as JSON for who asks the API, and as text for who looks with a browser. */
export function answerRefusal({ status, message }: Refusal, isApi: boolean): Response {
  const headers: Record<string, string> = {};
  if (status === 401) headers["www-authenticate"] = "Bearer";
  if (status === 405) headers["allow"] = "GET, HEAD, POST";
  if (!isApi) return answer(status, "text/plain; charset=utf-8", `${message}\n`, headers);
  const body: ErrorBody = { error: message };
  return answer(status, "application/json", JSON.stringify(body), headers);
}

/** Sends a browser to another address. It is a relative one, as nobody knows what a proxy makes of the path. */
export function answerRedirect(location: string, headers: Readonly<Record<string, string>> = {}): Response {
  return answer(302, undefined, null, { location, ...headers });
}

/** The page, under a policy that allows its own script and style and nothing else. */
export function answerPage(): Response {
  return answer(200, "text/html; charset=utf-8", PAGE, { "content-security-policy": PAGE_CSP });
}
