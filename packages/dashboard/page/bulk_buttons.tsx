import type { JSX } from "preact";
import type { QueueDetails } from "../api.ts";
import { useSteering } from "./steering.ts";

/** Acts on all delayed items of a selection. */
const ACTS = {
  retry: {
    control: "retry",
    verb: "Retry",
    question: (which: string) => `Retry ${which} now?`,
    effect: "Retries become ready now, and start when workers and the throttle allow. Failures stay counted.",
  },
  "take-back": {
    control: "takeBack",
    verb: "Take back",
    question: (which: string) => `Take back ${which}?`,
    effect: "Items that are taken back run only if they are added again. This cannot be undone.",
  },
} as const;

const ALL = Object.keys(ACTS) as (keyof typeof ACTS)[];

/**
 * Buttons that retry or take back all delayed items of a selection, after asking. `which` names the selected items. If
 * `isNamed` is false, only screen readers read the name.
 */
export function BulkButtons({ queue, which, body, acts = ALL, isNamed = false, disabled = false }: {
  queue: QueueDetails;
  which: string;
  /** Selection of the items, as the API expects it. */
  body: object;
  acts?: typeof ALL;
  isNamed?: boolean;
  disabled?: boolean;
}): JSX.Element | null {
  const steering = useSteering();
  if (!steering) return null;
  return (
    <>
      {acts.filter((act) => queue.can.includes(ACTS[act].control)).map((act) => {
        const { verb, question, effect } = ACTS[act];
        return (
          <button
            key={act}
            type="button"
            disabled={disabled}
            aria-label={isNamed ? undefined : `${verb}… ${which}`}
            onClick={() =>
              steering.ask({
                title: question(which),
                text: effect,
                action: verb,
                path: `api/queues/${encodeURIComponent(queue.name)}/${act}`,
                body,
                isCounted: true,
              })}
          >
            {isNamed ? `${verb} ${which}…` : `${verb}…`}
          </button>
        );
      })}
    </>
  );
}
