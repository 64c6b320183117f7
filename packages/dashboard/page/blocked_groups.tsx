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
      actions={steering !== undefined &&
        (({ name, reason }) => <GroupButton queue={queue} group={name} isPaused={isPausing(reason)} />)}
    />
  );
}

/** Reports whether a group is paused, or whether its first item after a pause is being tried. */
export function isPausing(reason: BlockedGroup["reason"]): boolean {
  return reason === "paused" || reason === "probing";
}

/** Time for which the button of a group pauses it, in milliseconds. */
const PAUSE = 600_000;

/** Button that pauses a group for ten minutes, or ends its pause. */
export function GroupButton(
  { queue, group, isPaused = false }: { queue: QueueDetails; group: string; isPaused?: boolean },
): JSX.Element | null {
  const steering = useSteering();
  const path = `api/queues/${encodeURIComponent(queue.name)}/${isPaused ? "resume" : "pause"}-group`;
  const body = isPaused ? { group } : { group, duration: PAUSE };
  return steering === undefined ? null : (
    <button
      type="button"
      aria-label={`${isPaused ? "Resume group" : "Pause for 10 min"}: ${shownName(group).slice(0, 100)}`}
      onClick={() => steering.post(path, body)}
    >
      {isPaused ? "Resume" : "Pause for 10 min"}
    </button>
  );
}
