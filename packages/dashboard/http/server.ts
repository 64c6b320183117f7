import { formatDuration, inspect, suggest } from "@workqueue/core/internal";
import { notePeer } from "../access.ts";
import type { ControlResult } from "../api.ts";
import type { DashboardOptions } from "../contract.ts";
import type { Audit } from "../control/audit.ts";
import { actions } from "../control/controls.ts";
import { reload } from "../control/reload.ts";
import { throttleActions } from "../control/throttle_controls.ts";
import type { Views } from "../watch/views.ts";
import { thrownText } from "../watch/texts.ts";
import { MAX_LISTED } from "../watch/source.ts";
import type { SteeredThrottle } from "../watch/throttles.ts";
import { within } from "../watch/timer.ts";
import type { Watch } from "../watch/watch.ts";
import type { WatchedQueue } from "../watch/watched_queue.ts";
import {
  answer,
  answerJson,
  answerPage,
  answerPlot,
  answerRedirect,
  answerRefusal,
  Failure,
  Refusal,
} from "./answers.ts";
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
  readonly audit: Audit;
  readonly options: Pick<DashboardOptions, "config" | "readConfig">;
}

/** Act that a request asks for. */
interface Order {
  /** Queue to change; `undefined` for a reload of the config, and for a throttle. */
  readonly queue: WatchedQueue | undefined;
  /** Name of the throttle to change, if the request names a throttle. */
  readonly throttle?: string;
  readonly action: string;
  /** Part of the dashboard that is named if the act takes too long. */
  readonly subject: string;
  act(body: string): Promise<ControlResult>;
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
    const { guard, watch, views, events, audit } = this.#parts;
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
      case "audit":
        return answerJson(JSON.stringify(audit.list()));
      case "page":
        return answerPage();
      case "plot":
        return answerPlot();
      case "toPage":
        return answerRedirect(route.location + url.search);
      default:
        throw new Refusal(405, "Method not allowed: a request that changes something must be a POST.");
    }
  }

  async #post(request: Request, route: Route): Promise<Response> {
    const { guard, watch } = this.#parts;
    const viewer = await guard.requireView(request);
    const { body, name = viewer } = await guard.requireControl(request);
    const order = this.#orderOf(route);
    const done = order.act(body).then((result) => {
      this.#record(order, name, body, result.message, false);
      return result;
    }, (error) => {
      if (error instanceof Failure) this.#record(order, name, body, error.message, true);
      throw error;
    }).finally(() => watch.changed(order.queue));
    const result = await within(done, ACTION_PATIENCE);
    if (result !== undefined) return answerJson(JSON.stringify(result));
    done.catch(() => {}); // the result is no longer needed
    const message = `${order.subject} has not responded for ${formatDuration(ACTION_PATIENCE)}: ` +
      "the action may have been done, or may be done later.";
    this.#record(order, name, body, message, true); // recorded again when it ends
    throw new Failure(503, message);
  }

  #orderOf(route: Route): Order {
    const { options: { config, readConfig } } = this.#parts;
    if (route.kind === "reload") {
      if (config === undefined || readConfig === undefined) {
        throw new Refusal(404, "Not found: this dashboard has no 'config' and 'readConfig'.");
      }
      const act = (body: string) => reload(config, readConfig, body);
      return { queue: undefined, action: "reload", subject: "'readConfig'", act };
    }
    if (route.kind === "throttle" && Object.hasOwn(throttleActions, route.action)) {
      const { name, action } = route;
      const throttle = this.#throttle(name);
      const act = (body: string) => perform(throttleActions[action]!, throttle, body);
      return { queue: undefined, throttle: name, action, subject: `The throttle ${inspect(name)}`, act };
    }
    if (route.kind === "action" && Object.hasOwn(actions, route.action)) {
      const queue = this.#queue(route.name);
      const act = (body: string) => perform(actions[route.action]!, queue, body);
      return { queue, action: route.action, subject: `The queue ${inspect(queue.name)}`, act };
    }
    const known = route.kind === "action"
      ? suggest(route.action, Object.keys(actions))
      : route.kind === "throttle"
      ? suggest(route.action, Object.keys(throttleActions))
      : "";
    throw new Refusal(404, `Not found: there is no such action${known}`);
  }

  /** Records an act for the audit list. A preview changes nothing, so it is not recorded. */
  #record(
    { queue, throttle, action }: Order,
    name: string | undefined,
    text: string,
    message: string,
    isError: boolean,
  ): void {
    const body = JSON.parse(text) as Record<string, unknown>; // parsed without an error before
    if (body["preview"] === true || action === "reload" && body["apply"] !== true) return;
    const [by, time] = [name ?? null, Date.now()];
    const subject = { queue: queue?.name ?? null, ...throttle !== undefined && { throttle } };
    this.#parts.audit.add({ time, by, ...subject, action, body, message, isError });
  }

  #throttle(name: string): SteeredThrottle {
    const { throttles } = this.#parts.watch;
    const throttle = throttles.named(name);
    if (throttle !== undefined) return throttle;
    throw new Refusal(
      404,
      `Not found: this dashboard has no throttle named ${inspect(name)}${suggest(name, throttles.names)}`,
    );
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

/** Performs an action. Errors of the queue become failures, for example if its server is unreachable. */
async function perform<Subject>(
  action: (subject: Subject, body: string) => ControlResult | Promise<ControlResult>,
  subject: Subject,
  body: string,
): Promise<ControlResult> {
  try {
    return await action(subject, body);
  } catch (error) {
    throw error instanceof Refusal ? error : new Failure(422, `Failed, or only partly done: ${thrownText(error)}`);
  }
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
