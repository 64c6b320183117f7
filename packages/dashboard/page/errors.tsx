import type { JSX } from "preact";
import type { ErrorGroup, QueueDetails } from "../api.ts";
import { BulkButtons } from "./bulk_buttons.tsx";
import { ItemTable } from "./item_table.tsx";
import { count, duration, many, shownName, visible } from "./words.ts";

/** Errors of a queue, grouped by message. `now` is the server's time. */
export function Errors({ queue, now, empty, onSearch }: {
  queue: QueueDetails;
  now: number;
  empty: string;
  onSearch: (search: string) => void;
}): JSX.Element {
  const { errors, errorsUnknown } = queue;
  const unknown = errorsUnknown === null || errorsUnknown === 0
    ? ""
    : `; ${many(errorsUnknown, "more failing item")} with unknown errors`;
  return (
    <ItemTable
      id="errors"
      title="Errors"
      noun="Error"
      note={`by message, where * stands for what differs${unknown}`}
      total={null}
      items={errors.map((group) => ({ ...group, key: group.message ?? "Other errors" }))}
      empty={empty}
      below={(group) => <Example group={group} />}
      columns={[
        { name: "Failing items", text: ({ items }) => count(items) },
        { name: "Failures", text: (group) => count(group.count) },
        { name: "First", text: ({ first }) => `${duration(now - first)} ago` },
        { name: "Last", text: ({ last }) => `${duration(now - last)} ago` },
      ]}
      actions={({ message, items }) =>
        message !== null && items > 0 && (
          <>
            <button type="button" aria-label={`Show items: ${visible(message)}`} onClick={() => onSearch(message)}>
              Show items
            </button>
            <BulkButtons queue={queue} which={`items with “${visible(message)}”`} body={{ error: message }} />
          </>
        )}
    />
  );
}

/** Last error of a group, if it differs from the group's message, and some of the failing items. */
function Example({ group: { message, example, items, keys } }: { group: ErrorGroup }): JSX.Element {
  const more = items - keys.length;
  return (
    <>
      {example !== message && <div class="error">{visible(example)}</div>}
      {keys.length > 0 && (
        <div class="quiet">
          {keys.map((key, i) => [i > 0 && ", ", <bdi class="key" key={key}>{shownName(key)}</bdi>])}
          {more > 0 && ` and ${count(more)} more`}
        </div>
      )}
    </>
  );
}
