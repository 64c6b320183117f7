import type { JSX } from "preact";
import type { FailingItem, LimiterNode, QueueDetails } from "../api.ts";
import { Groups } from "./groups.tsx";
import { ItemTable } from "./item_table.tsx";
import { type Steering, useSteering } from "./steering.ts";
import { count, due, duration, UNKNOWN, visible } from "./words.ts";

const NOT_KNOWN = "Not known: the dashboard was not given the pool of this queue.";

/** What fails, runs, waits and is next, and whose that is. */
export function ItemLists({ queue, search }: { queue: QueueDetails; search: string }): JSX.Element {
  const { counts } = queue;
  const isAll = search === "";
  const empty = (text: string) => (isAll ? text : `${text.slice(0, -1)} that has “${visible(search)}” in its key.`);
  const steering = useSteering();
  const actions = steering && ((key: string) => <ItemActions queue={queue} item={key} steering={steering} />);
  const decider = (item: FailingItem) => item.decidedBy === null ? "" : nameOf(item.decidedBy, queue.limiter);
  const hasPriorities = [...queue.waitingItems, ...queue.readyItems].some(({ priority }) => priority !== 0);
  const priority = hasPriorities
    ? [{ name: "Priority", text: (item: { priority: number }) => count(item.priority) }]
    : [];

  return (
    <>
      <ItemTable
        id="failing"
        title="What fails"
        note="most attempts first"
        total={isAll ? counts.failing : null}
        items={queue.failingItems}
        empty={counts.failing === null ? NOT_KNOWN : empty("Nothing fails.")}
        below={({ error, ago }) => (
          <>
            <span class="error">{visible(error)}</span>{" "}
            {ago !== null && <span class="quiet when">{duration(ago)} ago</span>}
          </>
        )}
        columns={[
          { name: "Attempts", text: ({ attempts }) => count(attempts) },
          { name: "Due", text: ({ dueIn }) => dueIn === null ? "in line" : due(dueIn) },
          { name: "Wait decided by", text: (item) => decider(item) || UNKNOWN, isText: true },
        ]}
        actions={actions !== undefined && (({ key, dueIn }) => dueIn !== null && actions(key))}
      />
      <div class="halves">
        <ItemTable
          id="running"
          title="What runs"
          note="the longest first"
          total={isAll ? queue.workers?.active ?? null : null}
          items={queue.runningItems}
          empty={queue.workers === null && counts.held > 0 ? NOT_KNOWN : empty("Nothing runs.")}
          columns={[
            { name: "Attempt", text: ({ attempt }) => count(attempt) },
            { name: "For", text: (item) => duration(item.for) },
          ]}
        />
        <ItemTable
          id="waiting"
          title="What waits"
          note="the earliest first"
          total={isAll ? counts.waiting : null}
          items={queue.waitingItems}
          empty={empty("Nothing waits.")}
          columns={[...priority, { name: "Due", text: ({ dueIn }) => due(dueIn) }]}
          actions={actions !== undefined && (({ key }) => actions(key))}
        />
        <ItemTable
          id="ready"
          title="What is next"
          note="in this order"
          total={isAll ? counts.ready + counts.heldBack : null}
          items={queue.readyItems}
          empty={empty("Nothing is ready.")}
          columns={priority}
        />
        <Groups groups={queue.groups} />
      </div>
    </>
  );
}

/** What can be done with an item that waits. */
function ItemActions(
  { queue, item, steering }: { queue: QueueDetails; item: string; steering: Steering },
): JSX.Element {
  const path = `api/queues/${encodeURIComponent(queue.name)}`;
  const shown = visible(item).slice(0, 100);
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
      {queue.can.includes("takeBack") && (
        <button
          type="button"
          aria-label={`Take back… ${shown}`}
          onClick={() =>
            steering.ask({
              title: "Take back 1 item?",
              text: `${shown} is not tried again unless it is added again. This cannot be undone.`,
              action: "Take back 1 item",
              path: `${path}/take-back`,
              body: { key: item },
            })}
        >
          Take back…
        </button>
      )}
    </>
  );
}

/** What the limiter at a place of the document is called, as the tree of limiters shows it. */
function nameOf(path: string, node: LimiterNode | null): string {
  const nodes = node === null ? [] : [node];
  for (const node of nodes) {
    if (node.path === path) return node.name ?? node.type;
    nodes.push(...node.inside);
  }
  return path;
}
