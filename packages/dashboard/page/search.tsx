import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { QueueDetails } from "../api.ts";
import { type Question, useSteering } from "./steering.ts";
import { count, many, shownName, visible } from "./words.ts";

const WAIT_FOR_MORE = 250;
/** Number of delayed items that a search on Redis checks, in addition to the listed failing items. */
const DUE_FIRST = 1000;

/** Form that searches for keys in all lists, with buttons that act on all matching delayed items. */
export function Search({ queue, search, searched, onSearch }: {
  queue: QueueDetails;
  /** Search that is sent to the server. */
  search: string;
  /** Latest search that the server has answered. */
  searched: string;
  onSearch: (search: string) => void;
}): JSX.Element {
  const [text, setText] = useState(search);
  const steering = useSteering();
  const isSettled = text === searched;
  const sent = useRef(search);
  useEffect(() => {
    const timer = setTimeout(() => {
      sent.current = text;
      onSearch(text);
    }, WAIT_FOR_MORE);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => { // the Back button, or a link, has changed the search
    if (search !== sent.current) setText(sent.current = search);
  }, [search]);

  const matching = queue.matching ?? undefined;
  const { delayed } = queue.counts;
  const isPart = queue.engine === "redis" && delayed > DUE_FIRST;
  const these = matching === undefined ? `all ${isPart ? "items found" : "delayed items"}` : many(matching, "item");
  const lookedAt = `the ${count(DUE_FIRST)} items due first and the listed failing items`;
  const matches = searched === "" ? "" : ` with “${visible(searched)}” in the key`;
  const which = isPart ? `${matches}, among ${lookedAt}` : matches || `, all delayed items of ${shownName(queue.name)}`;
  const inAll = isPart ? ` Of ${many(delayed, "delayed item")}, the others do not change.` : "";
  const all = searched !== "" ? "items found" : isPart ? "items due first" : "all delayed items";
  const can = (control: "retry" | "takeBack") => steering && queue.can.includes(control);
  const ask = (action: "retry" | "take-back", words: Omit<Question, "path" | "body">) =>
    steering!.ask({
      ...words,
      path: `api/queues/${encodeURIComponent(queue.name)}/${action}`,
      body: { search: searched },
    });

  return (
    <search class="search">
      <label for="search">Search by key</label>
      <input
        id="search"
        type="search"
        autocomplete="off"
        maxLength={1000}
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <span class="quiet">
        {!isSettled
          ? "Searching…"
          : searched === ""
          ? "Searches all lists below."
          : `Matches among ${isPart ? lookedAt : "the delayed items"}: ${matching ?? "some"}`}
      </span>
      {can("retry") && (
        <button
          type="button"
          disabled={!isSettled}
          onClick={() =>
            ask("retry", {
              title: `Retry ${these} now?`,
              text:
                `This retries ${these}${which}. Retries become ready now, and start when workers and the throttle allow.${inAll}`,
              action: `Retry ${these}`,
            })}
        >
          Retry {all}…
        </button>
      )}
      {can("takeBack") && (
        <button
          type="button"
          disabled={!isSettled}
          onClick={() =>
            ask("take-back", {
              title: `Take back ${these}?`,
              text:
                `This takes back ${these}${which}. Items that are taken back run only if they are added again. This cannot be undone.${inAll}`,
              action: `Take back ${these}`,
            })}
        >
          Take back {all}…
        </button>
      )}
    </search>
  );
}
