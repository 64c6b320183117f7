import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Question } from "./steering.ts";

/** Dialog that asks for confirmation. */
export function AskDialog(
  { question, onAnswer }: { question: Question; onAnswer: (isYes: boolean) => void },
): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  const answer = (isYes: boolean) => {
    dialog.current!.close(); // restores the focus
    onAnswer(isYes);
  };
  return (
    <dialog ref={dialog} aria-labelledby="question" onCancel={() => answer(false)}>
      <h2 id="question">{question.title}</h2>
      <p>{question.text}</p>
      <div class="buttons">
        <button type="button" onClick={() => answer(false)}>Cancel</button>
        <button type="button" class="grave" onClick={() => answer(true)}>{question.action}</button>
      </div>
    </dialog>
  );
}
