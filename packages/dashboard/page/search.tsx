import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { QueueDetails } from "../api.ts";
import { BulkButtons } from "./bulk_buttons.tsx";
import { count } from "./words.ts";

const WAIT_FOR_MORE = 250;
/** Number of delayed items that a search in a shared queue checks, in addition to the listed failing items. */
const DUE_FIRST = 1000;

/**
 * Form that searches for keys and errors in all lists, with buttons that act on the failing or on all matching delayed
 * items.
 */
export function Search({ queue, search, searched, onSearch }: {
  queue: QueueDetails;
  /** Search that is sent to the server. */
  search: string;
  /** Latest search that the server has answered. */
  searched: string;
  onSearch: (search: string) => void;
}): JSX.Element {
  const [text, setText] = useState(search);
  const isSettled = text === searched;
  const sent = useRef(search);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  function type(text: string): void {
    setText(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onSearch(sent.current = text), WAIT_FOR_MORE);
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => { // the Back button, or a link, has changed the search
    if (search === sent.current) return;
    clearTimeout(timer.current);
    setText(sent.current = search);
  }, [search]);

  const { delayed, failing } = queue.counts;
  const isPart = queue.engine !== "memory" && delayed > DUE_FIRST;
  const lookedAt = isPart
    ? `the ${count(DUE_FIRST)} items due first and the listed failing items`
    : "the delayed items";
  const isAll = searched === "";
  const found = isAll ? "" : " found";

  return (
    <search class="search">
      <label for="search">Search by key or error</label>
      <input
        id="search"
        type="search"
        autocomplete="off"
        maxLength={1000}
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => type(currentTarget.value)}
      />
      <span class="quiet">
        {!isSettled
          ? "Searching…"
          : isAll
          ? "Searches all lists below."
          : `Matches among ${lookedAt}: ${queue.matching === null ? "some" : count(queue.matching)}`}
      </span>
      <BulkButtons
        queue={queue}
        which={`failing items${found}`}
        body={{ failing: true, ...!isAll && { search: searched } }}
        acts={["retry"]}
        isNamed
        disabled={!isSettled || failing === 0}
      />
      <BulkButtons
        queue={queue}
        which={isAll ? isPart ? "items due first" : "all delayed items" : "items found"}
        body={{ search: searched }}
        isNamed
        disabled={!isSettled}
      />
    </search>
  );
}
