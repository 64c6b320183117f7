/** Route, determined by the end of a path. The rest of the path depends on where the dashboard is mounted. */
export type Route =
  | { readonly kind: "state" | "events" | "audit" | "reload" }
  | { readonly kind: "queue"; readonly name: string }
  | { readonly kind: "action" | "throttle"; readonly name: string; readonly action: string }
  | { readonly kind: "page" }
  /** Script that draws charts. */
  | { readonly kind: "plot" }
  /**
   * Page at an address without a trailing slash. Relative addresses on that page would be wrong, so the browser is
   * redirected.
   */
  | { readonly kind: "toPage"; readonly location: string };

export function routeOf(path: string): Route {
  const [, kind] = /\/api\/(state|events|audit|reload)$/.exec(path) ?? [];
  if (kind !== undefined) return { kind: kind as "state" | "events" | "audit" | "reload" };
  if (path.endsWith("/api/plot.js")) return { kind: "plot" };
  const [, throttle, throttleAction] = /\/api\/throttles\/([^/]+)\/([a-z-]+)$/.exec(path) ?? [];
  const throttleName = throttle === undefined ? undefined : decoded(throttle);
  if (throttleName !== undefined) return { kind: "throttle", name: throttleName, action: throttleAction! };
  const [, queue, action] = /\/api\/queues\/([^/]+)(?:\/([a-z-]+))?$/.exec(path) ?? [];
  const name = queue === undefined ? undefined : decoded(queue);
  if (name !== undefined) return action === undefined ? { kind: "queue", name } : { kind: "action", name, action };
  return path.endsWith("/") ? { kind: "page" } : { kind: "toPage", location: `./${path.split("/").at(-1)}/` };
}

/** Returns the path of the dashboard, which is also the path of its cookies. */
export function baseOf(path: string): string {
  const route = routeOf(path);
  if (route.kind === "toPage") return `${path}/`;
  return route.kind === "page"
    ? path
    : path.replace(/api\/(state|events|audit|reload|plot\.js|(queues|throttles)\/[^/]+(\/[a-z-]+)?)$/, "");
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
