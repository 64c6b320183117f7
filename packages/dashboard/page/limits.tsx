import type { JSX } from "preact";
import type { LimiterNode, QueueDetails, ThrottleRow } from "../api.ts";
import { ThrottlesOf } from "./throttles.tsx";
import { bucketText, visible } from "./words.ts";

/** Throttle of a queue, and the limiters that delay its failed items. */
export function Limits({ queue, throttles }: {
  queue: QueueDetails;
  throttles: readonly ThrottleRow[];
}): JSX.Element {
  return (
    <section aria-labelledby="limits" class="limits">
      <h2 id="limits">Limits</h2>
      <h3>Throttle</h3>
      <ThrottlesOf queue={queue.name} throttles={throttles} />
      <h3>Delays of failed items</h3>
      {queue.limiter
        ? (
          <ul class="limiters">
            <Limiter node={queue.limiter} />
          </ul>
        )
        : <p class="quiet">The dashboard's config does not contain this queue.</p>}
    </section>
  );
}

function Limiter({ node }: { node: LimiterNode }): JSX.Element {
  // The text that describes the bucket already contains `rate` and `burst`.
  const options = Object.entries(node.options).filter(([name]) => !node.bucket || !["rate", "burst"].includes(name));
  return (
    <li>
      <strong>{visible(node.name ?? node.type)}</strong>
      {node.name !== null && ` (${visible(node.type)})`}
      {options.length > 0 && `: ${options.map(([name, value]) => `${name} ${visible(value)}`).join(", ")}`}
      {node.bucket && <div>{bucketText(node.bucket)}</div>}
      {node.inside.length > 0 && <ul>{node.inside.map((inside) => <Limiter key={inside.path} node={inside} />)}</ul>}
    </li>
  );
}
