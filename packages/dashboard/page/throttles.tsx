import type { JSX } from "preact";
import type { ThrottleNode, ThrottleRow } from "../api.ts";
import { ThrottleForms } from "./controls.tsx";
import { ItemTable } from "./item_table.tsx";
import { linkTo } from "./route.ts";
import { type Steering, useSteering } from "./steering.ts";
import { bucketText, count, shownName, UNKNOWN, visible } from "./words.ts";

/** List of all throttles, those that hold back attempts first. */
export function Throttles({ throttles }: { throttles: readonly ThrottleRow[] }): JSX.Element | null {
  const steering = useSteering();
  if (throttles.length === 0) return null;
  return (
    <ItemTable
      id="throttles"
      title="Throttles"
      noun="Throttle"
      note="those that hold back attempts first"
      total={null}
      items={throttles.map((throttle) => ({ ...throttle, key: titleOf(throttle) }))}
      empty=""
      columns={[
        { name: "Type", text: ({ type }) => type === null ? UNKNOWN : visible(type), isText: true },
        { name: "Running", text: ({ inUse }) => count(inUse) },
        { name: "Limit", text: ({ limit, inUse }) => limit === null && inUse !== null ? "none" : count(limit) },
      ]}
      below={(throttle) => (
        <>
          <StateOf throttle={throttle} />
          <UsedBy queues={throttle.queues} />
          {steering && <Change throttle={throttle} steering={steering} />}
        </>
      )}
    />
  );
}

/** Forms that change a throttle with a name, if this process can change it. */
function Change({ throttle: { name, type, engine, bucket, limit }, steering }: {
  throttle: ThrottleRow;
  steering: Steering;
}): JSX.Element | null {
  if (name === null || engine !== "memory" || bucket === null && type !== "concurrency") return null;
  return (
    <details>
      <summary aria-label={`Change throttle ${shownName(name)}`}>Change</summary>
      <ThrottleForms
        path={`api/throttles/${encodeURIComponent(name)}`}
        bucket={bucket}
        limit={bucket === null ? limit : null}
        steering={steering}
      />
    </details>
  );
}

/** Throttles of one queue: its own, and those with names inside it. */
export function ThrottlesOf({ queue, throttles }: {
  queue: string;
  throttles: readonly ThrottleRow[];
}): JSX.Element {
  const used = throttles.filter(({ queues }) => queues.includes(queue));
  if (used.length === 0) return <p>No known throttle: attempts start whenever a worker is free.</p>;
  return (
    <ul class="limiters">
      {used.map((throttle) => (
        <li key={titleOf(throttle)}>
          <Description node={throttle} isInForce />
          <StateOf throttle={throttle} />
          <UsedBy queues={throttle.queues.filter((name) => name !== queue)} isOthers />
        </li>
      ))}
    </ul>
  );
}

/** Type and options of a throttle, and of the throttles inside it. */
function Description({ node, isInForce = false }: {
  node: ThrottleNode;
  /** Whether the throttle's state is shown beside it, with the rate, the burst and the limit in force. */
  isInForce?: boolean;
}): JSX.Element {
  const { name, type, inside } = node;
  const options = Object.entries(node.options).filter(([name]) => !isInForce || !IN_STATE.includes(name));
  return (
    <>
      <strong>{visible(name ?? type ?? "custom throttle")}</strong>
      {name !== null && type !== null && ` (${visible(type)})`}
      {options.length > 0 && `: ${options.map(([name, value]) => `${name} ${visible(value)}`).join(", ")}`}
      {inside.length > 0 && (
        <ul>
          {inside.map((inside) => (
            <li key={inside.path}>
              <Description node={inside} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Options that are part of a throttle's state, because they can be changed without the config. */
const IN_STATE = ["rate", "burst", "limit"];

function StateOf({ throttle: { bucket, engine, limit, state } }: { throttle: ThrottleRow }): JSX.Element {
  const isBad = limit === 0 || bucket !== null && bucket.resumesInMs > 0;
  return (
    <div class={isBad ? "bad strong" : undefined}>
      {bucket !== null
        ? bucketText(bucket)
        : visible(engine !== "memory" && state !== "" ? `${state} in this process` : state)}
    </div>
  );
}

function UsedBy({ queues, isOthers = false }: { queues: readonly string[]; isOthers?: boolean }): JSX.Element | null {
  if (queues.length === 0) return isOthers ? null : <div class="quiet">used by no queue on this page</div>;
  return (
    <div class="quiet">
      {isOthers ? "also used by " : "used by "}
      {queues.map((
        name,
        i,
      ) => [
        i > 0 && ", ",
        <a key={name} href={linkTo(name)} aria-label={`Queue ${shownName(name)}`}>{shownName(name)}</a>,
      ])}
    </div>
  );
}

/** Returns the name of a throttle, or a text that names its queues. */
function titleOf({ name, queues }: ThrottleRow): string {
  return name ?? `throttle of ${queues.join(", ")}`;
}
