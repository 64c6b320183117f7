import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { postTo, type Question } from "./steering.ts";
import { many, visible } from "./words.ts";

/** Dialog that asks for confirmation. For an act on many items, the dialog says how many of which kind are selected. */
export function AskDialog(
  { question, instance, onAnswer }: { question: Question; instance: string; onAnswer: (isYes: boolean) => void },
): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const counted = useCounted(question, instance);
  useEffect(() => dialog.current!.showModal(), []);
  const answer = (isYes: boolean) => {
    dialog.current!.close(); // restores the focus
    onAnswer(isYes);
  };
  return (
    <dialog ref={dialog} aria-labelledby="question" onCancel={() => answer(false)}>
      <h2 id="question">{question.title}</h2>
      {question.isCounted && (
        <p role="status" class={counted.isError ? "selected error" : "selected"}>{visible(counted.text)}</p>
      )}
      <p>{question.text}</p>
      <div class="buttons">
        <button type="button" onClick={() => answer(false)}>Cancel</button>
        <button type="button" class="grave" disabled={!counted.isReady} onClick={() => answer(true)}>
          {question.action}
          {counted.items === undefined ? "" : ` ${many(counted.items, "item")}`}
        </button>
      </div>
    </dialog>
  );
}

/** Answer of the server to how many items a question is about. */
interface Counted {
  readonly text: string;
  readonly isError: boolean;
  /** Whether there are items to act on. */
  readonly isReady: boolean;
  readonly items?: number;
}

/** Asks the server how many items are selected, if the question depends on it. */
function useCounted({ path, body, isCounted }: Question, instance: string): Counted {
  const [counted, setCounted] = useState<Counted>({ text: "Counting…", isError: false, isReady: !isCounted });
  useEffect(() => {
    if (!isCounted) return;
    let isOpen = true;
    postTo(instance, path, { ...body, preview: true }).then(({ message, matched }) => {
      const items = matched && matched.failing + matched.others;
      return { text: message, isError: false, isReady: items !== 0, ...(items !== undefined && { items }) };
    }, (error) => ({ text: String((error as Error).message), isError: true, isReady: false }))
      .then((counted) => isOpen && setCounted(counted));
    return () => isOpen = false;
  }, []);
  return counted;
}
