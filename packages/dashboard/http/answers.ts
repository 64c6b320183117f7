import type { ErrorBody } from "../api.ts";
import { PAGE, PAGE_CSP, PLOT } from "../page.ts";

/** Error that is sent as the response to a request. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 422 | 503;

  constructor(status: Refusal["status"], message: string) {
    super(message);
    this.status = status;
  }
}

/** Error for an act that had begun: it failed, or its result is unknown. */
export class Failure extends Refusal {}

/**
 * Headers of every response. The headers let only the dashboard's own page use a response, and forbid storing it in
 * caches.
 */
const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const NOTHING_ELSE = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/**
 * Creates a response with the common headers. The default content security policy allows nothing. The page's response
 * has a policy of its own.
 */
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

/** Time after which a client may ask again for a stream, in seconds. A client must not repeat an act blindly. */
const RETRY_AFTER = "5";

/** Creates the response for an error: JSON for the API, or text for the page. */
export function answerRefusal(refusal: Refusal, isApi: boolean): Response {
  const { status, message } = refusal;
  const headers: Record<string, string> = {};
  if (status === 401) headers["www-authenticate"] = "Bearer";
  if (status === 503 && !(refusal instanceof Failure)) headers["retry-after"] = RETRY_AFTER;
  if (status === 405) headers["allow"] = "GET, HEAD, POST";
  if (!isApi) return answer(status, "text/plain; charset=utf-8", `${message}\n`, headers);
  const body: ErrorBody = { error: message };
  return answer(status, "application/json", JSON.stringify(body), headers);
}

/** Redirects a browser, and sets cookies. The location is relative because a proxy may change the path. */
export function answerRedirect(location: string, cookies: readonly string[] = []): Response {
  const response = answer(302, undefined, null, { location });
  for (const cookie of cookies) response.headers.append("set-cookie", cookie);
  return response;
}

/** Creates the response with the script that draws charts. */
export function answerPlot(): Response {
  return answer(200, "text/javascript; charset=utf-8", PLOT);
}

/** Creates the response with the page. The content security policy allows only the page's own script and style. */
export function answerPage(): Response {
  return answer(200, "text/html; charset=utf-8", PAGE, { "content-security-policy": PAGE_CSP });
}
