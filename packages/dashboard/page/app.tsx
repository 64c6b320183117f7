import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { AuditList } from "./audit_list.tsx";
import { AskDialog } from "./dialog.tsx";
import { Headline } from "./headline.tsx";
import { QueueList } from "./queue_list.tsx";
import { QueueView } from "./queue_view.tsx";
import { Reload } from "./reload.tsx";
import { linkTo, replaceAddress, useRoute } from "./route.ts";
import { postTo, type Question, StalePage, type Steering, SteeringContext } from "./steering.ts";
import { type News, useNews } from "./stream.ts";
import { shownName } from "./words.ts";
import { Throttles } from "./throttles.tsx";
import { Words } from "./words_explained.tsx";

/** Result of a control, as text. */
interface Result {
  readonly text: string;
  readonly isError: boolean;
}

/** Time for which the result of a control is shown, in milliseconds. An error stays on the page. */
const RESULT_SHOWN = 10_000;

/** The whole page. */
export function App(): JSX.Element {
  const route = useRoute();
  const { queue: name, search } = route;
  const [round, setRound] = useState(0);
  const [result, setResult] = useState<Result>();
  const [question, setQuestion] = useState<Question & { instance: string }>();
  const news = useNews(name, search, round);
  const { state } = news;
  const instance = state?.instance ?? "";

  useEffect(() => setResult(undefined), [name]);
  useEffect(() => {
    if (result === undefined || result.isError) return;
    const timer = setTimeout(() => setResult(undefined), RESULT_SHOWN);
    return () => clearTimeout(timer);
  }, [result]);

  async function postAs(instance: string, path: string, body: object) {
    try {
      const answer = await postTo(instance, path, body);
      setResult({ text: answer.message, isError: false });
      return answer;
    } catch (error) {
      const isOffline = error instanceof TypeError;
      setResult({
        text: isOffline
          ? "No response from the server: the action may have been done."
          : String((error as Error).message),
        isError: true,
      });
      if (error instanceof StalePage) setRound((round) => round + 1);
      return undefined;
    }
  }

  const steering = useMemo<Steering | undefined>(() =>
    state?.mayControl
      ? {
        post: (path, body) => postAs(instance, path, body),
        ask: (question) => setQuestion({ ...question, instance }), // the ID of the process when the user is asked
      }
      : undefined, [instance, state?.mayControl]);

  return (
    <SteeringContext.Provider value={steering}>
      <div class={news.staleFor === undefined ? "all" : "all stale"}>
        <Headline news={news} route={route} />
        <main>
          {name === undefined
            ? state && (
              <>
                <QueueList queues={state.queues} route={route} />
                <Throttles throttles={state.throttles} />
              </>
            )
            : (
              <QueueView
                key={name}
                name={name}
                news={news}
                search={search}
                onSearch={(search) => replaceAddress(linkTo(name, search))}
              />
            )}
          {!state && <p class="quiet">Loading…</p>}
        </main>
        <footer>
          {state && <AuditList state={state} queue={name} />}
          {state?.mayReload && steering && <Reload />}
          {state && !state.mayControl && <p class="quiet">You have read-only access.</p>}
          <Words />
        </footer>
      </div>
      <Spoken news={news} />
      <p class={result?.isError ? "result error" : "result"}>
        <span role="status">{result?.text}</span>
        {result && <button type="button" onClick={() => setResult(undefined)}>Dismiss</button>}
      </p>
      {question && (
        <AskDialog
          question={question}
          instance={question.instance}
          onAnswer={(isYes) => {
            setQuestion(undefined);
            if (isYes) postAs(question.instance, question.path, question.body);
          }}
        />
      )}
    </SteeringContext.Provider>
  );
}

/** Announces changed verdicts to screen readers. Doesn't announce numbers because they change every second. */
function Spoken({ news: { state, staleFor } }: { news: News }): JSX.Element {
  const before = useRef(new Map<string, string>());
  const [changes, setChanges] = useState("");
  useEffect(() => {
    const changed = state?.queues.filter(({ name, verdict }) => (before.current.get(name) ?? verdict) !== verdict) ??
      [];
    if (changed.length > 0) {
      setChanges(changed.map(({ name, verdict, reason }) => `${shownName(name)} is ${verdict}: ${reason}`).join(" "));
    }
    before.current = new Map(state?.queues.map(({ name, verdict }) => [name, verdict]));
  }, [state]);
  return <p class="unseen" aria-live="polite">{staleFor === undefined ? changes : "No data from the server."}</p>;
}
