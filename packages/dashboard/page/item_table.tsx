import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { useStill } from "./still.ts";
import { many, shownName } from "./words.ts";

/** Additional column of an item table. The first column always shows the keys. */
export interface Column<T> {
  readonly name: string;
  readonly text: (item: T) => string;
  readonly isText?: boolean;
}

/** Table of items with their keys. The rows stay in place while the user points at the table. */
export function ItemTable<T extends { readonly key: string }>(
  { id, title, noun = "Item", note, total, items, empty, columns, below, actions }: {
    id: string;
    title: string;
    /** Name of the first column. */
    noun?: string;
    /** Description of the order of the items. */
    note: string;
    /** Number of items, listed or not; `null` if unknown. */
    total: number | null;
    items: readonly T[];
    empty: string;
    columns: readonly Column<T>[];
    below?: (item: T) => ComponentChildren;
    actions?: false | ((item: T) => ComponentChildren);
  },
): JSX.Element {
  const [isLong, setLong] = useState(false);
  const { shown, isStill, handlers } = useStill(items, ({ key }) => key);
  const rows = isLong ? shown : shown.slice(0, SHORT);
  const isPart = total !== null && total > rows.length && rows.length > 0;
  return (
    <section aria-labelledby={id} class="items" {...handlers}>
      <div class="title">
        <h2 id={id}>{title}</h2>
        <span class="quiet">
          {isStill
            ? "order frozen while you point at it"
            : isPart
            ? `${rows.length} of ${many(total, noun.toLowerCase())}, ${note}`
            : note}
        </span>
      </div>
      {shown.length === 0 ? <p class="quiet">{empty}</p> : (
        <table aria-labelledby={id}>
          <thead>
            <tr>
              <th scope="col">{noun}</th>
              {columns.map(({ name, isText }) => (
                <th key={name} scope="col" class={isText ? "text" : "number"}>{name}</th>
              ))}
              {actions && <th scope="col" class="actions">Actions</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ item, gone }) => (
              <tr key={item.key} class={gone ? "gone" : undefined}>
                <th scope="row">
                  <LongText text={item.key} /> {gone && <span class="quiet when">no longer listed</span>}
                  {below && <div>{below(item)}</div>}
                </th>
                {columns.map(({ name, text, isText }) => (
                  <td key={name} class={isText ? "text" : "number"} data-name={name}>{text(item)}</td>
                ))}
                {actions && <td class="actions">{actions(item)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {shown.length > SHORT && (
        <button type="button" aria-expanded={isLong} onClick={() => setLong(!isLong)}>
          {isLong ? "Show fewer" : `Show ${shown.length - SHORT} more`}
        </button>
      )}
    </section>
  );
}

/** Number of items to show until the user asks for more. */
const SHORT = 10;
const MAX_SHOWN = 160;

/** Text of any length, with any characters. A long text is shortened until the user asks for the whole text. */
function LongText({ text }: { text: string }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= MAX_SHOWN) return <bdi class="key">{shownName(text)}</bdi>;
  return (
    <>
      <bdi class={isWhole ? "key whole" : "key"} tabIndex={isWhole ? 0 : undefined}>
        {shownName(isWhole ? text : text.slice(0, MAX_SHOWN) + "…")}
      </bdi>{" "}
      <button type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
        {isWhole ? "Show less" : `Show all ${many(text.length, "character")}`}
      </button>
    </>
  );
}
