import type { JSX } from "preact";
import type { BlockedGroup, BlockedGroupList, QueueDetails } from "../api.ts";
import { ItemTable } from "./item_table.tsx";
import { useSteering } from "./steering.ts";
import { count, due, shownName } from "./words.ts";

const REASONS: Readonly<Record<BlockedGroup["reason"], string>> = {
  paused: "paused",
  probing: "one item is tried first",
  rate: "at its rate",
  limit: "at its limit",
  inner: "order within the group",
};

/** Groups of a queue that are paused or have blocked items, with buttons that end pauses. */
export function BlockedGroups({ queue, list, empty }: {
  queue: QueueDetails;
  list: BlockedGroupList;
  empty: string;
}): JSX.Element {
  const steering = useSteering();
  return (
    <ItemTable
      id="blocked-groups"
      title="Blocked groups"
      noun="Group"
      note="most blocked items first"
      total={list.count}
      items={list.groups.map((group) => ({ ...group, key: group.name }))}
      empty={empty}
      columns={[
        { name: "Blocked", text: ({ blocked }) => count(blocked) },
        { name: "Next ready", text: ({ resumesInMs }) => resumesInMs === null ? "after another" : due(resumesInMs) },
        { name: "Reason", text: ({ reason }) => REASONS[reason], isText: true },
      ]}
      actions={steering !== undefined && (({ name, reason }) =>
        (reason === "paused" || reason === "probing") && (
          <button
            type="button"
            aria-label={`Resume group: ${shownName(name).slice(0, 100)}`}
            onClick={() => steering.post(`api/queues/${encodeURIComponent(queue.name)}/resume-group`, { group: name })}
          >
            Resume
          </button>
        ))}
    />
  );
}
