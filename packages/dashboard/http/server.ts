import { formatDuration, inspect, suggest } from "@workqueue/core/internal";
import { notePeer } from "../access.ts";
import type { ControlResult } from "../api.ts";
import type { DashboardOptions } from "../contract.ts";
import { type Action, actions } from "../control/controls.ts";
import { reload } from "../control/reload.ts";
import type { Views } from "../watch/views.ts";
import { thrownText } from "../watch/texts.ts";
import { MAX_LISTED } from "../watch/source.ts";
import { within } from "../watch/timer.ts";
import type { Watch } from "../watch/watch.ts";
import type { WatchedQueue } from "../watch/watched_queue.ts";
import { answer, answerJson, answerPage, answerRedirect, answerRefusal, Refusal } from "./answers.ts";
import type { Events } from "./events.ts";
import { logFailure } from "./failure_log.ts";
import type { Guard } from "./guard.ts";
import { baseOf, type Route, routeOf } from "./routes.ts";

/** Parts of the dashboard that answer requests. */
export interface ServerParts {
  readonly guard: Guard;
  readonly watch: Watch;
  readonly views: Views;
  readonly events: Events;
  readonly options: Pick<DashboardOptions, "config" | "readConfig">;
}

const DEFAULT_LIMIT = 50;
const MAX_SEARCH = 1000;
/** Longest wait for the result of a control, in milliseconds. */
const ACTION_PATIENCE = 8000;

/** Answers requests. Doesn't read or change any queue before the guard has allowed the request. */
export class Server {
  readonly #parts: ServerParts;

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  async fetch(request: Request, info?: unknown): Promise<Response> {
    const { pathname } = new URL(request.url);
    const route = routeOf(pathname);
    try {
      notePeer(request, info);
      const isHead = request.method === "HEAD";
      if (!isHead && request.method !== "GET" && request.method !== "POST") {
        throw new Refusal(405, `Method not allowed: must be GET, HEAD or POST, got ${inspect(request.method)}.`);
      }
      const response = request.method === "POST"
        ? await this.#post(request, route)
        : await this.#get(request, route, info);
      if (!isHead) return response;
      await response.body?.cancel();
      return new Response(null, response);
    } catch (error) {
      const isApi = route.kind !== "page" && route.kind !== "toPage" || request.method === "POST";
      if (error instanceof Refusal) return answerRefusal(error, isApi);
      logFailure("respond", error);
      return answer(
        500,
        "application/json",
        JSON.stringify({ error: "The dashboard failed to respond: see its log." }),
      );
    }
  }

  async #get(request: Request, route: Route, info: unknown): Promise<Response> {
    const { guard, watch, views, events } = this.#parts;
    const url = new URL(request.url);
    if (url.searchParams.has("token")) {
      const response = await guard.signIn(request, baseOf(url.pathname), locationWithoutToken(url));
      if (response !== undefined) return response;
    }
    await guard.requireView(request);
    switch (route.kind) {
      case "state":
        await watch.look();
        return answerJson(views.state(await guard.mayControl(request)));
      case "queue": {
        const queue = this.#queue(route.name);
        const { search, limit } = readQuery(url);
        await watch.look(queue);
        return answerJson(await views.queue(queue, search, limit));
      }
      case "events": {
        const name = url.searchParams.get("queue");
        const queue = name === null ? undefined : this.#queue(name);
        const query = readQuery(url);
        const mayControl = await guard.mayControl(request);
        const askAgain = async () => {
          await guard.requireView(request);
          return await guard.mayControl(request);
        };
        return events.answer({ queue, ...query, mayControl, askAgain, signal: signalOf(request, info) });
      }
      case "page":
        return answerPage();
      case "toPage":
        return answerRedirect(route.location + url.search);
      default:
        throw new Refusal(405, "Method not allowed: a request that changes something must be a POST.");
    }
  }

  async #post(request: Request, route: Route): Promise<Response> {
    const { guard, watch, options: { config, readConfig } } = this.#parts;
    await guard.requireView(request);
    const body = await guard.requireControl(request);
    let result: ControlResult;
    if (route.kind === "reload") {
      if (config === undefined || readConfig === undefined) {
        throw new Refusal(404, "Not found: this dashboard has no 'config' and 'readConfig'.");
      }
      result = await inTime(reload(config, readConfig, body), "'readConfig'");
      await watch.changed();
    } else if (route.kind === "action" && Object.hasOwn(actions, route.action)) {
      const queue = this.#queue(route.name);
      const done = act(actions[route.action]!, queue, body).finally(() => watch.changed(queue));
      result = await inTime(done, `The queue ${inspect(route.name)}`);
    } else {
      const known = route.kind === "action" ? suggest(route.action, Object.keys(actions)) : "";
      throw new Refusal(404, `Not found: there is no such action${known}`);
    }
    return answerJson(JSON.stringify(result));
  }

  #queue(name: string): WatchedQueue {
    const { queues } = this.#parts.watch;
    const queue = queues.get(name);
    if (queue !== undefined) return queue;
    throw new Refusal(
      404,
      `Not found: this dashboard has no queue named ${inspect(name)}${suggest(name, [...queues.keys()])}`,
    );
  }
}

/**
 * Returns the signal that aborts when a request ends; `undefined` on `Deno.serve`, which is recognized by its `info`.
 * On `Deno.serve`, the signal may also abort after a successful response, and Deno warns about programs that read the
 * signal. The signal isn't needed there, because `Deno.serve` cancels the stream.
 */
function signalOf(request: Request, info: unknown): AbortSignal | undefined {
  return typeof info === "object" && info !== null && "completed" in info ? undefined : request.signal;
}

async function act(action: Action, queue: WatchedQueue, body: string): Promise<ControlResult> {
  try {
    return await action(queue, body);
  } catch (error) { // for example, the server is unreachable
    throw error instanceof Refusal ? error : new Refusal(422, `Failed, or only partly done: ${thrownText(error)}`);
  }
}

/**
 * Waits for the result of a control for a limited time.
 *
 * @throws {Refusal} If the control takes too long.
 */
async function inTime(result: Promise<ControlResult>, subject: string): Promise<ControlResult> {
  const known = await within(result, ACTION_PATIENCE);
  if (known !== undefined) return known;
  result.catch(() => {}); // the result is no longer needed
  const time = formatDuration(ACTION_PATIENCE);
  throw new Refusal(
    503,
    `${subject} has not responded for ${time}: the action may have been done, or may be done later.`,
  );
}

function readQuery({ searchParams }: URL): { search: string; limit: number } {
  const search = searchParams.get("search") ?? "";
  const given = searchParams.get("limit");
  const limit = given === null ? DEFAULT_LIMIT : /^\d{1,4}$/.test(given) ? Number(given) : NaN;
  if (!(limit >= 1 && limit <= MAX_LISTED)) {
    throw new Refusal(
      400,
      `Invalid request: 'limit' must be an integer from 1 to ${MAX_LISTED}, got ${inspect(given)}`,
    );
  }
  if (search.length > MAX_SEARCH) {
    throw new Refusal(400, `Invalid request: 'search' must be no longer than ${MAX_SEARCH} characters.`);
  }
  return { search, limit };
}

function locationWithoutToken({ pathname, searchParams }: URL): string {
  const others = new URLSearchParams(searchParams);
  others.delete("token");
  const query = others.size === 0 ? "" : `?${others}`;
  const route = routeOf(pathname);
  return (route.kind === "toPage" ? route.location : `./${pathname.split("/").at(-1)}`) + query;
}
