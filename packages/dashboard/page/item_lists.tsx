import type { JSX } from "preact";
import type { FailingItem, LimiterNode, QueueDetails } from "../api.ts";
import { BlockedGroups } from "./blocked_groups.tsx";
import { Errors } from "./errors.tsx";
import { GivenUp } from "./given_up.tsx";
import { Groups } from "./groups.tsx";
import { ItemTable } from "./item_table.tsx";
import { type Steering, useSteering } from "./steering.ts";
import { count, due, duration, shownName, UNKNOWN, visible } from "./words.ts";

const NOT_KNOWN = "Unknown: the dashboard was not given this queue's pool.";

/** Errors of a queue, its failing, running, delayed and ready items, and the groups of ready items. */
export function ItemLists({ queue, search, now, onSearch }: {
  queue: QueueDetails;
  search: string;
  /** Time of the server. */
  now: number;
  onSearch: (search: string) => void;
}): JSX.Element {
  const { counts } = queue;
  const isAll = search === "";
  const empty = (text: string) => (isAll ? text : `${text.slice(0, -1)} with “${visible(search)}”.`);
  const steering = useSteering();
  const canCancel = steering !== undefined && queue.can.includes("cancel");
  const actions = steering && ((key: string) => <ItemActions queue={queue} item={key} steering={steering} />);
  const decider = (item: FailingItem) => item.decidedBy === null ? "" : nameOf(item.decidedBy, queue.limiter);
  const hasPriorities = [...queue.delayedItems, ...queue.readyItems].some(({ priority }) => priority !== 0);
  const priority = hasPriorities
    ? [{ name: "Priority", text: (item: { priority: number }) => count(item.priority) }]
    : [];

  return (
    <>
      <Errors
        queue={queue}
        now={now}
        empty={counts.failing === null ? NOT_KNOWN : empty("No errors.")}
        onSearch={onSearch}
      />
      <ItemTable
        id="failing"
        title="Failing items"
        note="most attempts first"
        total={isAll ? counts.failing : queue.matchingFailing}
        items={queue.failingItems}
        empty={counts.failing === null ? NOT_KNOWN : empty("No failing items.")}
        below={({ error, ago, abandonedFor }) => (
          <>
            <span class="error">{visible(error)}</span>{" "}
            {ago !== null && <span class="quiet when">{duration(ago)} ago</span>} <Abandoned ms={abandonedFor} />
          </>
        )}
        columns={[
          { name: "Attempts", text: ({ attempts }) => count(attempts) },
          {
            name: "Due",
            text: ({ dueInMs, abandonedFor }) =>
              dueInMs !== null ? due(dueInMs) : abandonedFor === undefined ? "not delayed" : "after its handler",
          },
          { name: "Delay set by", text: (item) => decider(item) || UNKNOWN, isText: true },
        ]}
        actions={actions !== undefined && (({ key, dueInMs }) => dueInMs !== null && actions(key))}
      />
      {queue.givenUp && (
        <GivenUp queue={queue} list={queue.givenUp} search={search} empty={empty("No given-up items.")} />
      )}
      {queue.blockedGroups && (
        <BlockedGroups
          queue={queue}
          list={queue.blockedGroups}
          empty={empty("No group is paused or has blocked items.")}
        />
      )}
      <div class="halves">
        <ItemTable
          id="running"
          title="Running items"
          note="longest first"
          total={isAll ? queue.workers?.active ?? null : null}
          items={queue.runningItems}
          empty={queue.workers === null && counts.processing > 0 ? NOT_KNOWN : empty("No running items.")}
          below={({ abandonedFor }) => <Abandoned ms={abandonedFor} />}
          columns={[
            {
              name: "Attempt",
              text: ({ attempt }) =>
                count(attempt),
            },
            {
              name: "For",
              text: (item) =>
                duration(item.for),
            },
          ]}
          actions={canCancel && (({ key }) => <CancelButton queue={queue} item={key} steering={steering} />)}
        />
        <ItemTable
          id="delayed"
          title="Delayed items"
          note="earliest first"
          total={isAll ? counts.delayed : queue.matching}
          items={queue.delayedItems}
          empty={empty("No delayed items.")}
          columns={[...priority, { name: "Due", text: ({ dueInMs }) => due(dueInMs) }]}
          actions={actions !== undefined && (({ key }) => actions(key))}
        />
        <ItemTable
          id="ready"
          title="Ready items"
          note="in hand-out order"
          total={isAll ? counts.ready + counts.blocked : null}
          items={queue.readyItems}
          empty={empty("No ready items.")}
          columns={priority}
        />
        <Groups queue={queue} />
      </div>
    </>
  );
}

/** Mark of an item whose attempt timed out while its handler runs on. `ms` is the time since the timeout. */
function Abandoned({ ms }: { ms: number | undefined }): JSX.Element | null {
  return ms === undefined ? null : <strong class="bad">abandoned, timed out {duration(ms)} ago</strong>;
}

/** Item on which a user acts. */
interface Acting {
  queue: QueueDetails;
  /** Text of the item. */
  item: string;
  steering: Steering;
}

/** Buttons for a delayed item. */
function ItemActions({ queue, item, steering }: Acting): JSX.Element {
  const path = `api/queues/${encodeURIComponent(queue.name)}`;
  const shown = shownName(item).slice(0, 100);
  return (
    <>
      {queue.can.includes("retry") && (
        <button
          type="button"
          aria-label={`Retry now: ${shown}`}
          onClick={() => steering.post(`${path}/retry`, { key: item })}
        >
          Retry now
        </button>
      )}
      <CancelButton queue={queue} item={item} steering={steering} />
    </>
  );
}

/** Button that cancels a running or delayed item, after asking. */
function CancelButton({ queue, item, steering }: Acting): JSX.Element | null {
  if (!queue.can.includes("cancel")) return null;
  const shown = shownName(item).slice(0, 100);
  return (
    <button
      type="button"
      aria-label={`Cancel… ${shown}`}
      onClick={() =>
        steering.ask({
          title: "Cancel 1 item?",
          text: `${shown} will not run unless it is added again. If it is running, its handler's signal aborts. ` +
            "This cannot be undone.",
          action: "Cancel 1 item",
          path: `api/queues/${encodeURIComponent(queue.name)}/cancel`,
          body: { key: item },
        })}
    >
      Cancel…
    </button>
  );
}

/** Returns the name of the limiter at a path, as shown in the tree of limiters. */
function nameOf(path: string, node: LimiterNode | null): string {
  const nodes = node === null ? [] : [node];
  for (const node of nodes) {
    if (node.path === path) return node.name ?? node.type;
    nodes.push(...node.inside);
  }
  return path;
}
