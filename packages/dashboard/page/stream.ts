import { useEffect, useState } from "preact/hooks";
import type { QueueDetails, State } from "../api.ts";

/**
 * Time without an update after which the page is stale, in milliseconds. Updates come every second, and the page checks
 * every second, so it stops saying "live" at most four seconds after the last update.
 */
const STALE_AFTER = 3000;
/** Time without an update after which an open connection is considered dead, in milliseconds. */
const DEAD_AFTER = 10_000;
const RECONNECT_AFTER = 2000;

/** Latest data from the server, with information on whether the data is current. */
export interface News {
  readonly state?: State;
  /** Details of the opened queue. */
  readonly queue?: QueueDetails;
  /** Search that produced the matches in the details. */
  readonly searched?: string;
  readonly live: boolean;
  /** Reason why the server refuses the request. */
  readonly refusal?: string;
  /** Time since the last update, in milliseconds; omitted if the data is recent. */
  readonly staleFor?: number;
}

/** Listens to the server while the page is open. Change `round` to reconnect. */
export function useNews(name: string | undefined, search: string, round: number): News {
  const [news, setNews] = useState<News>({ live: false });

  useEffect(() => {
    const query = name === undefined ? "" : `?${new URLSearchParams({ queue: name, search })}`;
    let source: EventSource;
    let begunAt = performance.now();
    let lastAt = begunAt;
    let isOver = false;
    // Removes the details if they belong to another queue.
    setNews((news) => {
      const { queue, searched: _, ...rest } = news;
      return queue?.name === name ? news : rest;
    });

    function connect(): void {
      begunAt = performance.now();
      source = new EventSource("api/events" + query);
      source.addEventListener("state", ({ data }) => heard({ state: JSON.parse(data) }));
      source.addEventListener("queue", ({ data }) => heard({ queue: JSON.parse(data), searched: search }));
      source.addEventListener("error", () => {
        setNews((news) => ({ ...news, live: false }));
        if (source.readyState === EventSource.CLOSED) askWhy();
      });
    }

    /**
     * Asks the server why it refused the stream, because the browser doesn't report the reason. The queue might not
     * exist, the user might not have access, or too many pages might be open.
     */
    async function askWhy(): Promise<void> {
      const stream = await fetch("api/events" + query).catch(() => undefined);
      if (stream?.ok) return void stream.body?.cancel(); // the server allows it by now, and the page connects soon
      const state = await fetch("api/state").catch(() => undefined);
      const [refused, said] = await Promise.all([stream, state].map((response) => response?.json().catch(() => ({}))));
      if (isOver) return;
      if (state?.ok) heard({ state: said });
      if (stream === undefined || stream.status === 404) return;
      setNews((news) => ({ ...news, live: false, refusal: String(refused.error) }));
    }

    function heard(said: Partial<News>): void {
      lastAt = performance.now();
      setNews(({ refusal: _, staleFor: __, ...news }) => ({ ...news, ...said, live: true }));
    }

    connect();
    const timer = setInterval(() => {
      const now = performance.now();
      const silence = now - lastAt;
      if (silence >= STALE_AFTER) setNews((news) => ({ ...news, live: false, staleFor: silence }));
      const maxSilence = source.readyState === EventSource.CLOSED ? RECONNECT_AFTER : DEAD_AFTER;
      if (now - begunAt >= maxSilence && silence >= maxSilence) {
        source.close();
        connect();
      }
    }, 1000);
    return () => {
      isOver = true;
      clearInterval(timer);
      source.close();
    };
  }, [name, search, round]);

  return news;
}
