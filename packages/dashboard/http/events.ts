import { systemClock } from "@workqueue/core";
import type { Views } from "../watch/views.ts";
import type { Watch } from "../watch/watch.ts";
import type { WatchedQueue } from "../watch/watched_queue.ts";
import { answer, Refusal } from "./answers.ts";
import { logFailure } from "./failure_log.ts";

/** Request for a stream of events. */
export interface EventsRequest {
  readonly queue: WatchedQueue | undefined;
  readonly search: string;
  readonly limit: number;
  readonly mayControl: boolean;
  /** Checks again whether the client may control queues. Rejects if the client may no longer view the dashboard. */
  askAgain(): Promise<boolean>;
  readonly signal: AbortSignal | undefined;
}

/** Time until a browser reconnects after losing the connection, in milliseconds. */
const CONNECT_AGAIN = 1000;
/**
 * Time after which the next push checks access again, in milliseconds. Repeated checks are needed because a stream may
 * stay open forever.
 */
const ASK_AGAIN_AFTER = 4500;

/** Maximum number of open streams in this process. Each stream takes memory, and work every second. */
const MAX_STREAMS = 100;
/** Number of open streams of all dashboards in this process. */
let openStreams = 0;

/**
 * Streams of server-sent events. Each open stream gets a `state` event every second. A stream for the page of a queue
 * also gets a `queue` event.
 */
export class Events implements Disposable {
  readonly #watch: Watch;
  readonly #views: Views;
  readonly #open = new Set<() => void>();
  #isDisposed = false;

  constructor(watch: Watch, views: Views) {
    this.#watch = watch;
    this.#views = views;
  }

  /** @throws {Refusal} If too many streams are open in this process. */
  answer(request: EventsRequest): Response {
    if (openStreams >= MAX_STREAMS) {
      throw new Refusal(
        503,
        `Too many pages are open: this process sends updates to at most ${MAX_STREAMS} pages at once. ` +
          "Close a page; this one tries again by itself.",
      );
    }
    return answer(200, "text/event-stream", this.#stream(request), { "x-accel-buffering": "no" });
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const close of [...this.#open]) close();
  }

  #stream({ queue, search, limit, signal, ...request }: EventsRequest): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    let { mayControl } = request;
    let askedAt = systemClock.now();
    let close = () => {};
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        let isOpen = true;
        let isSending = false;
        const send = (name: string, json: string) => {
          if (isOpen) controller.enqueue(encoder.encode(`event: ${name}\ndata: ${json}\n\n`));
        };
        // While a client doesn't read, no further events are sent to it. Skipping events is safe, because each event
        // contains all current data.
        const push = async () => {
          if (isOpen && systemClock.now() - askedAt >= ASK_AGAIN_AFTER) {
            askedAt = systemClock.now();
            try {
              mayControl = await request.askAgain();
            } catch {
              close(); // the browser reconnects and receives the reason
            }
          }
          if (!isOpen || !((controller.desiredSize ?? 0) > 0)) return;
          try {
            send("state", this.#views.state(mayControl)); // sent first, because the `queue` event may take a long time
            if (queue === undefined || isSending) return;
            isSending = true;
            send("queue", await this.#views.queue(queue, search, limit).finally(() => isSending = false));
          } catch (error) {
            logFailure("send an update", error);
            close(); // the browser reconnects
          }
        };
        const unwatch = this.#watch.watch({ queue, seen: () => void push() });
        close = () => {
          if (!isOpen) return;
          isOpen = false;
          unwatch();
          signal?.removeEventListener("abort", close);
          this.#open.delete(close);
          openStreams--;
          try {
            controller.close();
          } catch {
            // The stream was cancelled.
          }
        };
        this.#open.add(close);
        openStreams++;
        signal?.addEventListener("abort", close, { once: true });
        if (signal?.aborted || this.#isDisposed) return close();
        controller.enqueue(encoder.encode(`retry: ${CONNECT_AGAIN}\n\n`));
        this.#watch.look(queue).then(push);
      },
      cancel: () => close(),
    }, new CountQueuingStrategy({ highWaterMark: 2 })); // room for `retry` and the first event
  }
}
