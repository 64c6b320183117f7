import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Act, type Audit, type State, WRONG_TOKEN } from "../api.ts";
import { many, moment, shownName, UNKNOWN, visible } from "./words.ts";

/** Number of acts to show until the user asks for more. */
const SHORT = 5;

/** List of what users did, when, and under which name: all acts, or those that concern the opened queue. */
export function AuditList({ state, queue }: { state: State; queue: string | undefined }): JSX.Element {
  const [acts, setActs] = useState<readonly Act[]>([]);
  const [isLong, setLong] = useState(false);

  useEffect(() => {
    if (state.acts === 0) return setActs([]);
    const controller = new AbortController();
    fetch("api/audit", { signal: controller.signal }).then(async (response) => {
      if (response.ok) setActs((await response.json() as Audit).acts);
    }).catch(() => {}); // after the next act, the list is fetched again
    return () => controller.abort();
  }, [state.instance, state.acts]);

  const wanted = acts.filter((act) => queue === undefined || act.queue === queue || act.queue === null);
  const shown = isLong ? wanted : wanted.slice(0, SHORT);
  return (
    <section aria-labelledby="audit" class="items audit">
      <div class="title">
        <h2 id="audit">Audit list</h2>
        <span class="quiet">{wanted.length === 0 ? "" : `latest first, ${many(wanted.length, "act")} listed`}</span>
      </div>
      {wanted.length === 0
        ? <p class="quiet">Nobody has changed anything here since the process started.</p>
        : (
          <table aria-labelledby="audit">
            <thead>
              <tr>
                <th scope="col">Result</th>
                <th scope="col" class="text" data-name="Act">Act</th>
                <th scope="col" class="text">Queue</th>
                <th scope="col" class="text">By</th>
                <th scope="col" class="number">Time</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((act, i) => (
                <tr key={wanted.length - i}>
                  <th scope="row" class={act.isError ? "bad" : undefined}>{visible(act.message)}</th>
                  <td class="text" data-name="Act">
                    {act.action} {act.body !== "{}" && <span class="quiet">{visible(act.body)}</span>}
                  </td>
                  <td class="text" data-name="Queue">
                    {act.throttle !== undefined
                      ? `throttle ${shownName(act.throttle)}`
                      : act.action === WRONG_TOKEN
                      ? "–"
                      : act.queue === null
                      ? "config"
                      : shownName(act.queue)}
                  </td>
                  <td class="text" data-name="By">{act.by === null ? UNKNOWN : shownName(act.by)}</td>
                  <td class="number" data-name="Time">{moment(act.time, state.time)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      {wanted.length > SHORT && (
        <button type="button" aria-expanded={isLong} onClick={() => setLong(!isLong)}>
          {isLong ? "Show fewer" : `Show ${wanted.length - SHORT} more`}
        </button>
      )}
    </section>
  );
}
