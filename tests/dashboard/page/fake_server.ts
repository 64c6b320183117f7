/** Server that sends prepared data to the page and records the requests that the page sends. */

import type { Act, ControlResult, QueueDetails, QueueRow, State, ThrottleRow } from "@workqueue/dashboard";
import { PAGE, PAGE_CSP, PLOT } from "../../../packages/dashboard/page.ts";

/** Request that the page sends when a control is used. */
export interface Posted {
  readonly path: string;
  readonly instance: string | null;
  readonly body: unknown;
}

/** Returns the answer to a control request. */
export type Answer = (posted: Posted) => { status?: number; body: ControlResult | { error: string } };

/**
 * Serves the page on the loopback interface, under `path`. Sends the state of `queues` once a second, and a change
 * after a quarter of a second at most.
 */
export class FakeServer implements AsyncDisposable {
  instance = "one";
  time = Date.UTC(2026, 10, 22, 3, 4, 5);
  mayControl = true;
  mayReload = true;
  /** Whether the server sends nothing on its open connections. */
  isSilent = false;
  /** Numbers of failing and of other items that each preview of a control returns. */
  matched = { failing: 10, others: 0 };
  /** Requests for previews. */
  readonly previews: Posted[] = [];
  answer: Answer = ({ path }) => ({ body: { message: `Did ${path}.` } });
  /** Error for requests for a stream, as if too many streams were open. */
  tooMany: string | undefined;
  /** Throttles; those of the queues if omitted. */
  throttles: ThrottleRow[] | undefined;
  /** Acts, newest first. */
  acts: Act[] = [];
  readonly posted: Posted[] = [];
  readonly searches: string[] = [];
  queues: QueueDetails[];
  #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #path: string;
  readonly #streams = new Set<() => void>();

  constructor(queues: QueueDetails[], path = "/ops/queues/") {
    this.queues = queues;
    this.#path = path;
    this.#server = this.#serve(0);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}${this.#path}`;
  }

  /** Stops the server, as if its process had ended. */
  async stop(): Promise<void> {
    for (const end of this.#streams) end();
    this.#streams.clear();
    await this.#server.shutdown();
  }

  /** Restarts the server at the same address, as if in a new process. */
  restart(instance: string): void {
    this.instance = instance;
    this.#server = this.#serve(this.#server.addr.port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #serve(port: number): Deno.HttpServer<Deno.NetAddr> {
    return Deno.serve({ port, hostname: "127.0.0.1", onListen() {} }, (request) => this.#respond(request));
  }

  async #respond(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (!pathname.startsWith(this.#path)) return new Response("no such thing", { status: 404 });
    const path = pathname.slice(this.#path.length);
    if (request.method === "POST") {
      const posted = { path, instance: request.headers.get("x-workqueue-instance"), body: await request.json() };
      const isPreview = (posted.body as { preview?: unknown }).preview === true;
      (isPreview ? this.previews : this.posted).push(posted);
      if (posted.instance !== this.instance) return Response.json({ error: "Another process." }, { status: 409 });
      if (isPreview) return Response.json(previewOf(this.matched));
      const { status = 200, body } = this.answer(posted);
      return Response.json(body, { status });
    }
    if (path === "api/plot.js") return new Response(PLOT, { headers: { "content-type": "text/javascript" } });
    if (path === "api/audit") return Response.json({ acts: this.acts });
    if (path === "api/state") return Response.json(this.#state());
    if (path === "api/events" && this.tooMany !== undefined) {
      return Response.json({ error: this.tooMany }, { status: 503 });
    }
    if (path === "api/events") return this.#events(searchParams.get("queue"), searchParams.get("search") ?? "");
    if (path !== "") return new Response("no such thing", { status: 404 });
    return new Response(PAGE, {
      headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": PAGE_CSP },
    });
  }

  #events(queue: string | null, search: string): Response {
    if (queue !== null) this.searches.push(search);
    const say = (): string => {
      const events = [`event: state\ndata: ${JSON.stringify(this.#state())}\n\n`];
      const details = this.queues.find(({ name }) => name === queue);
      if (details) events.push(`event: queue\ndata: ${JSON.stringify(matching(details, search))}\n\n`);
      return events.join("");
    };
    let end: () => void;
    const body = new ReadableStream<string>({
      start: (controller) => {
        controller.enqueue("retry: 300\n\n");
        let [last, looks] = ["", 0];
        const look = () => {
          if (this.isSilent) return;
          const said = say();
          if (said !== last || looks++ % 4 === 0) controller.enqueue(last = said);
        };
        look();
        const timer = setInterval(look, 250);
        end = () => {
          clearInterval(timer);
          controller.close();
        };
        this.#streams.add(end);
      },
      cancel: () => {
        this.#streams.delete(end);
        try {
          end();
        } catch {
          // A canceled stream can't be closed.
        }
      },
    });
    return new Response(body.pipeThrough(new TextEncoderStream()), {
      headers: { "content-type": "text/event-stream" },
    });
  }

  #state(): State {
    const { instance, time, mayControl, mayReload } = this;
    const throttles = this.throttles ?? this.queues.flatMap(throttleOf);
    const queues = this.queues.map(rowOf);
    return { instance, time, mayControl, mayReload, acts: this.acts.length, queues, throttles };
  }
}

function rowOf(
  { name, engine, verdict, reason, guide, counts, rates, oldestReadyMs, workers, paused, pauseEndsInMs, trend }:
    QueueDetails,
): QueueRow {
  return { name, engine, verdict, reason, guide, counts, rates, oldestReadyMs, workers, paused, pauseEndsInMs, trend };
}

/** Returns the throttle of a queue as a row, if the queue has one. */
function throttleOf({ name, throttle: bucket }: QueueDetails): ThrottleRow[] {
  if (bucket === null) return [];
  const node = { path: `/queues/${name}/throttle`, type: "bucket", name: null, options: {}, inside: [] };
  return [{ ...node, engine: "memory", limit: null, inUse: null, state: "", bucket, queues: [name] }];
}

function previewOf(matched: { failing: number; others: number }): ControlResult {
  const message = `${matched.failing} failing items and ${matched.others} items delayed without a failure.`;
  return { message, matched, done: 0, notChecked: 0 };
}

/** Returns the details of a queue with only the items that match a search. */
function matching(queue: QueueDetails, search: string): QueueDetails {
  const found = <T extends { key: string }>(items: readonly T[]) => items.filter(({ key }) => key.includes(search));
  const delayedItems = found(queue.delayedItems);
  return {
    ...queue,
    failingItems: found(queue.failingItems),
    runningItems: found(queue.runningItems),
    delayedItems,
    readyItems: found(queue.readyItems),
    matching: search === "" ? queue.matching : delayedItems.length,
  };
}
