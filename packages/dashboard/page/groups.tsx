import type { JSX } from "preact";
import type { QueueDetails } from "../api.ts";
import { GroupButton, isPausing } from "./blocked_groups.tsx";
import { BulkButtons } from "./bulk_buttons.tsx";
import { count, many, shownName } from "./words.ts";

const MAX_SHOWN = 10;

/** Groups of ready items, with each group's share of the items, and buttons for the group's delayed items. */
export function Groups({ queue }: { queue: QueueDetails }): JSX.Element {
  const { groups, groupedItems, counts: { ready } } = queue;
  const pausing = new Set(
    queue.blockedGroups?.groups.filter(({ reason }) => isPausing(reason)).map(({ name }) => name),
  );
  const all = groups.reduce((sum, group) => sum + group.count, 0);
  return (
    <section aria-labelledby="groups">
      <div class="title">
        <h2 id="groups">Ready items by group</h2>
        <span class="quiet">
          by the first part of the key{ready > groupedItems && `, of the first ${many(groupedItems, "ready item")}`}
        </span>
      </div>
      {groups.length === 0 && <p class="quiet">No ready items.</p>}
      <ul class="groups">
        {groups.slice(0, MAX_SHOWN).map((group) => {
          const share = Math.round((group.count / all) * 100);
          return (
            <li key={group.name}>
              <bdi class="key">{shownName(group.name)}</bdi>
              <span class="number">{count(group.count)}</span>
              <span class="number">{share} %</span>
              <span class="actions">
                {queue.blockedGroups && !pausing.has(group.name) && <GroupButton queue={queue} group={group.name} />}
                <BulkButtons
                  queue={queue}
                  which={`delayed items of ${shownName(group.name)}`}
                  body={{ group: group.name }}
                />
              </span>
              <div class="bar" style={{ inlineSize: `${share}%` }} />
            </li>
          );
        })}
      </ul>
      {groups.length > MAX_SHOWN && <p class="quiet">and {count(groups.length - MAX_SHOWN)} more</p>}
    </section>
  );
}
