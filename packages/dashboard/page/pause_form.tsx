import { requireDuration } from "@workqueue/core/internal";
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { duration } from "./words.ts";

/** Pattern of a duration that a user can type, such as `1h30m`. */
const DURATION = "([0-9]+([.][0-9]+)?(ms|s|m|h))+";

/** Form that pauses something for a duration. The label of its button says how long the pause lasts. */
export function PauseForm({ action, label, value, isRequired = false, subject, onSubmit, children }: {
  /** Text on the button, such as `Pause`. */
  action: string;
  /** Label of the field for the duration. */
  label: string;
  /** Initial duration. */
  value: string;
  /** Whether a pause must have a duration. */
  isRequired?: boolean;
  /** Field for what to pause, shown first. */
  subject?: ComponentChildren;
  onSubmit: (body: { duration?: number }) => void;
  children: ComponentChildren;
}): JSX.Element {
  const [text, setText] = useState(value);
  const trimmed = text.trim();
  const isDuration = new RegExp(`^${DURATION}$`).test(trimmed);
  const ms = isDuration ? requireDuration("pause", "duration", trimmed) : undefined;
  return (
    <form
      class="control"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(ms === undefined ? {} : { duration: ms });
      }}
    >
      {subject}
      <button type="submit">{ms === undefined ? action : `${action} for ${duration(ms)}`}</button>
      <input
        aria-label={label}
        autocomplete="off"
        pattern={`\\s*${DURATION}\\s*`}
        placeholder={isRequired ? "30s" : "no end"}
        title="A duration such as 30s, 10m or 1h30m"
        required={isRequired}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <span class="quiet">{children}</span>
    </form>
  );
}
