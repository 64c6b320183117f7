import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ControlResult } from "../api.ts";
import { useSteering } from "./steering.ts";
import { many, UNKNOWN, visible } from "./words.ts";

/** Shows the changes that a reload of the config would make, and applies the changes on request. */
export function Reload(): JSX.Element {
  const steering = useSteering()!;
  const [{ changes, shown }, setResult] = useState<Partial<ControlResult>>({});
  const read = async () => setResult(await steering.post("api/reload", {}) ?? {});

  return (
    <section aria-labelledby="config">
      <h2 id="config">Config</h2>
      <div class="control">
        <button type="button" onClick={read}>Preview reload</button>
        <span class="quiet">Reads the file. Nothing changes yet.</span>
      </div>
      {changes && changes.length > 0 && (
        <>
          <table>
            <caption>{many(changes.length, "change")}</caption>
            <thead>
              <tr>
                <th scope="col">Path</th>
                <th scope="col">Last loaded</th>
                <th scope="col">In the file</th>
                <th scope="col">Takes effect</th>
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
              onClick={async () => (await steering.post("api/reload", { apply: true, shown })) ? setResult({}) : read()}
            >
              Apply
            </button>
            <span class="quiet">Replaces values set by hand at these paths. Delayed items keep their delays.</span>
          </div>
        </>
      )}
    </section>
  );
}

function asText(value: unknown): string {
  return value === undefined ? UNKNOWN : visible(JSON.stringify(value));
}
