import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ControlResult } from "../api.ts";
import { useSteering } from "./steering.ts";
import { many, UNKNOWN, visible } from "./words.ts";

/** Reads the config anew, and puts it in force once its changes were seen. */
export function Reload(): JSX.Element {
  const steering = useSteering()!;
  const [changes, setChanges] = useState<ControlResult["changes"]>();

  return (
    <section aria-labelledby="config">
      <h2 id="config">Config</h2>
      <div class="control">
        <button type="button" onClick={async () => setChanges((await steering.post("api/reload", {}))?.changes)}>
          Show what a reload changes
        </button>
        <span class="quiet">Reads the file. Nothing changes yet.</span>
      </div>
      {changes && changes.length > 0 && (
        <>
          <table>
            <caption>{many(changes.length, "change")}</caption>
            <thead>
              <tr>
                <th scope="col">Where</th>
                <th scope="col">Now</th>
                <th scope="col">Then</th>
                <th scope="col">In force</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ path, old, new: then, inForce }) => (
                <tr key={path}>
                  <th scope="row">{visible(path)}</th>
                  <td>{asText(old)}</td>
                  <td>{asText(then)}</td>
                  <td>{inForce === "now" ? "at once" : "at the next start"}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <div class="control">
            <button
              type="button"
              class="grave"
              onClick={async () => (await steering.post("api/reload", { apply: true })) && setChanges(undefined)}
            >
              Put in force
            </button>
            <span class="quiet">Waits that were given stand: what is due is due when it was.</span>
          </div>
        </>
      )}
    </section>
  );
}

function asText(value: unknown): string {
  return value === undefined ? UNKNOWN : visible(JSON.stringify(value));
}
