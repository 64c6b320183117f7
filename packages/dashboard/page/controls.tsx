import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Bucket, Control, ControlResult, QueueDetails } from "../api.ts";
import { type Steering, useSteering } from "./steering.ts";
import { PauseForm } from "./pause_form.tsx";
import { duration, visible } from "./words.ts";

const NAMES: Readonly<Record<Control, string>> = {
  pause: "Pause",
  concurrency: "Concurrency",
  throttle: "Throttle",
  retry: "Retry now",
  takeBack: "Take back",
  cancel: "Cancel",
};

/** Controls that a queue supports, and the reasons why it doesn't support the other controls. */
export function Controls({ queue }: { queue: QueueDetails }): JSX.Element | null {
  const steering = useSteering();
  if (!steering) return null;
  const can = (control: Control) => queue.can.includes(control);
  const cannot = Object.entries(queue.cannot) as [Control, string][];
  return (
    <section aria-labelledby="controls">
      <h2 id="controls">Controls</h2>
      {can("pause") && <Pause queue={queue} steering={steering} />}
      {can("concurrency") && queue.workers && <Concurrency queue={queue} steering={steering} />}
      {can("throttle") && (
        <ThrottleForms
          path={`api/queues/${encodeURIComponent(queue.name)}`}
          bucket={queue.throttle}
          limit={queue.throttleLimit}
          steering={steering}
        />
      )}
      {queue.blockedGroups && <PauseGroup queue={queue} steering={steering} />}
      {cannot.map(([control, why]) => (
        <p key={control} class="quiet">
          {NAMES[control]}: {visible(why)}
        </p>
      ))}
    </section>
  );
}

interface Of {
  readonly queue: QueueDetails;
  readonly steering: Steering;
}

function pathOf({ queue }: Of, action: string): string {
  return `api/queues/${encodeURIComponent(queue.name)}/${action}`;
}

function Pause(of: Of): JSX.Element {
  const { paused, pauseEndsInMs, engine } = of.queue;
  if (!paused) {
    const scope = engine === "memory" ? "" : ", in every process";
    return (
      <PauseForm
        action="Pause"
        label="Pause duration"
        value=""
        onSubmit={(body) => of.steering.post(pathOf(of, "pause"), body)}
      >
        Stops handing out items{scope}, for a time such as 10m or 1h30m, or until someone resumes. Running handlers
        continue, and added items stay.
      </PauseForm>
    );
  }
  return (
    <div class="control">
      <button type="button" onClick={() => of.steering.post(pathOf(of, "resume"), {})}>Resume</button>
      <span>{pauseEndsInMs === null ? "Paused until someone resumes." : `Resumes in ${duration(pauseEndsInMs)}.`}</span>
      <span class="quiet">Resumes work. Items added during the pause are ready.</span>
    </div>
  );
}

function Concurrency(of: Of): JSX.Element {
  const { concurrency } = of.queue.workers!;
  return (
    <NumbersForm
      fields={[{ name: "concurrency", label: NAMES.concurrency, value: String(concurrency), pattern: "[1-9][0-9]*" }]}
      onSubmit={({ concurrency }) => of.steering.post(pathOf(of, "concurrency"), { concurrency: Number(concurrency) })}
    >
      <span class="quiet">Running handlers are not stopped.</span>
    </NumbersForm>
  );
}

/** Forms that change a throttle: a bucket, or the limit of a throttle of type `concurrency`. */
export function ThrottleForms({ path, bucket, limit, steering }: {
  /** Address of the queue or of the throttle. */
  path: string;
  bucket: Bucket | null;
  limit: number | null;
  steering: Steering;
}): JSX.Element {
  const post = (action: string) => (body: object) => steering.post(`${path}/${action}`, body);
  return limit === null ? <BucketForms bucket={bucket} post={post} /> : <LimitForm limit={limit} post={post} />;
}

type Post = (action: string) => (body: object) => Promise<ControlResult | undefined>;

function BucketForms({ bucket: throttle, post }: { bucket: Bucket | null; post: Post }): JSX.Element {
  const isPaused = throttle !== null && throttle.resumesInMs > 0;
  return (
    <>
      <NumbersForm
        fields={[
          {
            name: "rate",
            label: "Attempts per second",
            value: throttle ? String(throttle.rate) : "",
            pattern: "unlimited|[0-9]+(\\.[0-9]+)?",
          },
          { name: "burst", label: "Burst", value: throttle ? String(throttle.burst) : "", pattern: "[0-9]+" },
        ]}
        onSubmit={({ rate, burst }) =>
          post("throttle")({
            rate: rate === "unlimited" ? rate : Number(rate),
            burst: Number(burst),
          })}
      >
        <span class="quiet">
          A number or “unlimited”. Limits new attempts; running attempts continue. Lost at a restart.
        </span>
      </NumbersForm>
      <PauseForm
        action="Pause throttle"
        label="Throttle pause duration"
        value="30s"
        isRequired
        onSubmit={post("pause-throttle")}
      >
        No attempt starts while it is paused. Running handlers continue. If it is paused already, the later end applies.
      </PauseForm>
      {isPaused && (
        <div class="control">
          <button type="button" onClick={() => post("resume-throttle")({})}>Resume throttle</button>
          <span>Resumes in {duration(throttle.resumesInMs)}.</span>
        </div>
      )}
    </>
  );
}

function LimitForm({ limit, post }: { limit: number; post: Post }): JSX.Element {
  return (
    <NumbersForm
      fields={[{ name: "limit", label: "Throttle limit", value: String(limit), pattern: "[1-9][0-9]*" }]}
      onSubmit={({ limit }) => post("throttle")({ limit: Number(limit) })}
    >
      <span class="quiet">
        Attempts at once, over all queues that use the throttle. Running attempts continue. Lost at a restart.
      </span>
    </NumbersForm>
  );
}

function PauseGroup(of: Of): JSX.Element {
  const [group, setGroup] = useState("");
  const { blockedGroups, groups } = of.queue;
  const names = new Set([...groups, ...blockedGroups!.groups].map(({ name }) => name));
  return (
    <PauseForm
      action="Pause group"
      label="Group pause duration"
      value="10m"
      isRequired
      subject={
        <>
          <input
            aria-label="Group to pause"
            placeholder="group"
            autocomplete="off"
            spellcheck={false}
            list="group-names"
            required
            value={group}
            onInput={({ currentTarget }) => setGroup(currentTarget.value)}
          />
          <datalist id="group-names">{Array.from(names, (name) => <option key={name} value={name} />)}</datalist>
        </>
      }
      onSubmit={(body) => of.steering.post(pathOf(of, "pause-group"), { group, ...body })}
    >
      Blocks the ready items of one group. Other groups go on, and running handlers continue. If the group is paused
      already, the later end applies.
    </PauseForm>
  );
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly pattern: string;
}

/** Form whose fields show the current values until the user edits them. */
function NumbersForm({ fields, onSubmit, children }: {
  fields: readonly Field[];
  onSubmit: (values: Record<string, string>) => Promise<unknown>;
  children: ComponentChildren;
}): JSX.Element {
  const [draft, setDraft] = useState<Record<string, string>>({});
  const values = Object.fromEntries(fields.map(({ name, value }) => [name, draft[name] ?? value]));
  return (
    <form
      class="control"
      onSubmit={async (event) => {
        event.preventDefault();
        if (await onSubmit(values)) setDraft({});
      }}
    >
      {fields.map(({ name, label, pattern }) => (
        <label key={name}>
          {label}
          <input
            name={name}
            required
            autocomplete="off"
            inputMode={pattern.startsWith("[") ? "numeric" : undefined}
            pattern={pattern}
            value={values[name]}
            onInput={({ currentTarget }) => setDraft({ ...draft, [name]: currentTarget.value })}
          />
        </label>
      ))}
      <button type="submit">Set</button>
      {children}
    </form>
  );
}
