import { type HandlerContext, RetryAfterError, TerminalError } from "@workqueue/core";

/** Event to deliver to one receiver. */
export interface Delivery {
  tenant: string;
  /**
   * ID that is unique within the tenant. The ID is sent as `webhook-id`, so that the receiver can recognize repeated
   * deliveries.
   */
  id: string;
  url: string;
  body: unknown;
}

/** Longest `Retry-After` that is honored, in milliseconds. */
export const MAX_RETRY_AFTER = 3_600_000;

/** Statuses below 500 that are retried: "Request Timeout", "Too Early" and "Too Many Requests". */
const RETRIED = [408, 425, 429];

/**
 * Returns the key of a delivery. The key begins with the tenant because the fair discipline groups keys by the text
 * before the slash.
 */
export function keyOf({ tenant, id }: Delivery): string {
  return `${tenant}/${id}`;
}

/**
 * Sends a delivery once. Throws an error if the receiver did not accept the delivery. The error determines whether and
 * when the pool retries.
 */
export async function deliver(
  { id, url, body }: Delivery,
  { signal }: Pick<HandlerContext, "signal">,
  send: typeof fetch = fetch,
): Promise<void> {
  const response = await send(url, {
    method: "POST",
    headers: { "content-type": "application/json", "webhook-id": id },
    body: JSON.stringify(body),
    redirect: "manual", // a redirect could lead to an address inside your network
    signal, // aborts the request when the attempt times out
  });
  await response.body?.cancel(); // frees the connection
  const { ok, status } = response;
  if (ok) return;
  if (status < 500 && !RETRIED.includes(status)) throw new TerminalError(`status ${status}`);
  const retryAfter = RetryAfterError.from(response);
  if (retryAfter === undefined) throw new Error(`status ${status}`);
  const scope = status === 429 ? "group" : "item"; // 429 means all deliveries of the tenant
  throw new RetryAfterError(Math.min(retryAfter.delay, MAX_RETRY_AFTER), `status ${status}`, { scope });
}

/** Reports whether a posted value is a delivery. */
export function isDelivery(value: unknown): value is Delivery {
  const { tenant, id, url } = (value ?? {}) as Record<string, unknown>;
  return typeof tenant === "string" && typeof id === "string" && typeof url === "string" && URL.canParse(url) &&
    tenant !== "" && !tenant.includes("/");
}
