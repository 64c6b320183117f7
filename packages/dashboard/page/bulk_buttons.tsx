import type { JSX } from "preact";
import type { QueueDetails } from "../api.ts";
import { type BulkAct, bulkQuestion, canDo } from "./bulk.ts";
import { useSteering } from "./steering.ts";

/**
 * Buttons that retry or take back all delayed items of a selection. `which` names the selected items: if the buttons
 * show it, `isNamed` is true; otherwise, only screen readers read it.
 */
export function BulkButtons({ queue, which, body, acts = ["retry", "take-back"], isNamed = false, disabled = false }: {
  queue: QueueDetails;
  which: string;
  body: object;
  acts?: readonly BulkAct[];
  isNamed?: boolean;
  disabled?: boolean;
}): JSX.Element {
  const steering = useSteering();
  return (
    <>
      {steering && acts.filter((act) => canDo(queue, act)).map((act) => {
        const verb = act === "retry" ? "Retry" : "Take back";
        return (
          <button
            key={act}
            type="button"
            disabled={disabled}
            aria-label={isNamed ? undefined : `${verb}… ${which}`}
            onClick={() => steering.ask(bulkQuestion(queue, act, which, body))}
          >
            {isNamed ? `${verb} ${which}…` : `${verb}…`}
          </button>
        );
      })}
    </>
  );
}
