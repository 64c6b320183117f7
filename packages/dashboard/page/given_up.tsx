import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { GivenUpErrorGroup, GivenUpList, QueueDetails, RedriveState } from "../api.ts";
import { ItemTable } from "./item_table.tsx";
import { type Steering, useSteering } from "./steering.ts";
import { count, duration, many, shownName, visible } from "./words.ts";

/** Pattern of a number of items per second that a user can type. Empty text stands for no limit. */
const RATE = "[0-9]*[1-9][0-9]*([.][0-9]+)?|0?[.][0-9]*[1-9][0-9]*";

/** Given-up items of a queue, and their errors, with buttons that add items again or discard them. */
export function GivenUp({ queue, list, search, empty }: {
  queue: QueueDetails;
  list: GivenUpList;
  search: string;
  empty: string;
}): JSX.Element {
  const steering = useSteering();
  const [text, setText] = useState("");
  const isRate = new RegExp(`^(${RATE})?$`).test(text.trim());
  const acts = steering && new Acts(steering, queue.name, isRate && text.trim() !== "" ? Number(text) : undefined);
  const which = search === "" ? "all given-up items" : "given-up items found";
  return (
    <>
      {(list.redrive !== null || acts && list.total > 0) && (
        <section aria-labelledby="redrive">
          <h2 id="redrive">Redrive</h2>
          {list.redrive && <Redrive state={list.redrive} acts={acts} />}
          {acts && list.total > 0 && (
            <div class="control">
              <label>
                Redrives per second
                <input
                  autocomplete="off"
                  inputMode="decimal"
                  pattern={RATE}
                  placeholder="no limit"
                  value={text}
                  onInput={({ currentTarget }) => setText(currentTarget.value)}
                />
              </label>
              <button type="button" disabled={!isRate} onClick={() => acts.redrive(which, { search })}>
                Redrive {which}…
              </button>
              <button type="button" onClick={() => acts.discard(which, { search })}>Discard {which}…</button>
              <span class="quiet">
                A redrive adds given-up items again, the oldest first. Each starts with attempt 1.
              </span>
            </div>
          )}
        </section>
      )}
      <ItemTable
        id="given-up-errors"
        title="Given-up errors"
        noun="Error"
        note={noteOf(list)}
        total={null}
        items={list.errors.map((group) => ({ ...group, key: group.message }))}
        empty={empty}
        below={({ message, example }) => example !== message && <div class="error">{visible(example)}</div>}
        columns={[
          { name: "Items", text: ({ items }) => count(items) },
          { name: "Last", text: ({ last }) => `${duration(last)} ago` },
        ]}
        actions={acts !== undefined &&
          ((group) => <GroupActions group={group} acts={acts} isRate={isRate} />)}
      />
      <ItemTable
        id="given-up"
        title="Given-up items"
        note="newest first"
        total={list.matching}
        items={list.items}
        empty={empty}
        below={({ error, ago, group }) => (
          <>
            <span class="error">{visible(error)}</span> <span class="quiet when">{duration(ago)} ago</span>
            {group !== null && <span class="quiet">, group {shownName(group)}</span>}
          </>
        )}
        columns={[
          { name: "Attempts", text: ({ attempts }) => count(attempts) },
          { name: "First failure", text: ({ firstFailedAgo }) => `${duration(firstFailedAgo)} ago` },
          { name: "Reason", text: ({ reason }) => reason, isText: true },
        ]}
        actions={acts !== undefined && (({ key }) => (
          <>
            <button type="button" aria-label={`Redrive: ${short(key)}`} onClick={() => acts.redriveOne(key)}>
              Redrive
            </button>
            <button type="button" aria-label={`Discard… ${short(key)}`} onClick={() => acts.discardOne(key)}>
              Discard…
            </button>
          </>
        ))}
      />
    </>
  );
}

function short(key: string): string {
  return shownName(key).slice(0, 100);
}

function noteOf({ total, dropped, checked }: GivenUpList): string {
  const parts = [
    total > checked && checked > 0 ? `errors of the newest ${count(checked)} items` : "by message",
    ...dropped > 0 ? [`${many(dropped, "older item")} dropped`] : [],
  ];
  return parts.join("; ");
}

function GroupActions(
  { group: { message }, acts, isRate }: { group: GivenUpErrorGroup; acts: Acts; isRate: boolean },
): JSX.Element {
  const which = `items with “${visible(message)}”`;
  return (
    <>
      <button
        type="button"
        disabled={!isRate}
        aria-label={`Redrive… ${which}`}
        onClick={() => acts.redrive(which, { error: message })}
      >
        Redrive…
      </button>
      <button type="button" aria-label={`Discard… ${which}`} onClick={() => acts.discard(which, { error: message })}>
        Discard…
      </button>
    </>
  );
}

/** Progress of a redrive, with a button that stops it. */
function Redrive({ state, acts }: { state: RedriveState; acts: Acts | undefined }): JSX.Element {
  const { redriven, left, running, rate } = state;
  if (!running) {
    const rest = left > 0 ? `, stopped with ${count(left)} left` : "";
    return <p class="quiet">Last redrive: {many(redriven, "item")} added again{rest}.</p>;
  }
  return (
    <div class="control">
      {acts && <button type="button" onClick={() => acts.stop()}>Stop redrive</button>}
      <span role="status">
        Redriving{rate === null ? "" : `, at most ${count(rate)} a second`}: {many(redriven, "item")} added again,{" "}
        {count(left)} left.
      </span>
    </div>
  );
}

/** Acts on given-up items. */
class Acts {
  readonly #steering: Steering;
  readonly #path: string;
  readonly #rate: { rate?: number };

  constructor(steering: Steering, queue: string, rate: number | undefined) {
    this.#steering = steering;
    this.#path = `api/queues/${encodeURIComponent(queue)}`;
    this.#rate = rate === undefined ? {} : { rate };
  }

  redrive(which: string, body: object): void {
    const { rate } = this.#rate;
    const pace = rate === undefined ? "at once" : `at most ${count(rate)} a second`;
    this.#steering.ask({
      title: `Redrive ${which}?`,
      text: `They are added again, ${pace}, and start when workers and the throttle allow.`,
      action: "Redrive",
      path: `${this.#path}/redrive`,
      body: { ...body, ...this.#rate },
      isCounted: true,
    });
  }

  discard(which: string, body: object): void {
    this.#steering.ask({
      title: `Discard ${which}?`,
      text: "The queue forgets them. This cannot be undone.",
      action: "Discard",
      path: `${this.#path}/discard`,
      body,
      isCounted: true,
    });
  }

  redriveOne(key: string): void {
    this.#steering.post(`${this.#path}/redrive`, { key });
  }

  discardOne(key: string): void {
    this.#steering.ask({
      title: "Discard 1 item?",
      text: `The queue forgets ${short(key)}. This cannot be undone.`,
      action: "Discard 1 item",
      path: `${this.#path}/discard`,
      body: { key },
    });
  }

  stop(): void {
    this.#steering.post(`${this.#path}/stop-redrive`, {});
  }
}
