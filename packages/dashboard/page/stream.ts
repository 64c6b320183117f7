import { useEffect, useState } from "preact/hooks";
import type { QueueDetails, State } from "../api.ts";

/** After so long without news, what is shown is called stale. */
const STALE_AFTER = 5000;
/** After so long, a connection that seems open is taken for dead. */
const DEAD_AFTER = 10_000;
const TRY_AGAIN_AFTER = 2000;

/** What the server said last, and how sure that is. */
export interface News {
  readonly state?: State;
  /** The queue that is opened. */
  readonly queue?: QueueDetails;
  /** What was searched for in it. */
  readonly searched?: string;
  readonly live: boolean;
  /** Why the server does not say anything. */
  readonly refusal?: string;
  /** For how long nothing came, once that is too long. */
  readonly staleFor?: number;
}

/** Listens to the server while the page is open. `round` is changed to connect anew. */
export function useNews(name: string | undefined, search: string, round: number): News {
  const [news, setNews] = useState<News>({ live: false });

  useEffect(() => {
    const query = name === undefined ? "" : `?${new URLSearchParams({ queue: name, search })}`;
    let source: EventSource;
    let begunAt = performance.now();
    let lastAt = begunAt;
    let isOver = false;
    // What was said of another queue is no news of this one.
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

    /** A stream that is refused tells no reason: the queue may be none that there is, or nobody may look. */
    async function askWhy(): Promise<void> {
      const response = await fetch("api/state").catch(() => undefined);
      const said = await response?.json().catch(() => undefined);
      if (isOver || said === undefined) return;
      if (response!.ok) heard({ state: said });
      else setNews((news) => ({ ...news, refusal: String(said.error) }));
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
      const maxSilence = source.readyState === EventSource.CLOSED ? TRY_AGAIN_AFTER : DEAD_AFTER;
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
