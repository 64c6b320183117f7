import { useRef, useState } from "preact/hooks";

/** Item that is shown in a list. */
export interface Shown<T> {
  readonly item: T;
  /** Whether the item is no longer in the queue's list but is still shown. */
  readonly gone: boolean;
}

/** List whose items can stay in place. */
export interface StillList<T> {
  readonly shown: readonly Shown<T>[];
  readonly isStill: boolean;
  /** Event handlers for the element around the list. */
  readonly handlers: {
    readonly onPointerEnter: (event: PointerEvent) => void;
    readonly onPointerLeave: () => void;
    readonly onFocusIn: () => void;
    readonly onFocusOut: (event: FocusEvent) => void;
  };
}

/**
 * Keeps the items of a list in place while the user points at the list or focuses an element in it. Because of this, a
 * click always hits the intended item. The data of the items is still updated.
 */
export function useStill<T>(items: readonly T[], keyOf: (item: T) => string): StillList<T> {
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const kept = useRef<readonly T[]>(items);

  const isStill = pointed || focused;
  const now = new Map(items.map((item) => [keyOf(item), item]));
  if (isStill) kept.current = kept.current.map((item) => now.get(keyOf(item)) ?? item);
  else kept.current = items;

  return {
    shown: kept.current.map((item) => ({ item, gone: !now.has(keyOf(item)) })),
    isStill,
    handlers: {
      onPointerEnter: ({ pointerType }) => setPointed(pointerType === "mouse"),
      onPointerLeave: () => setPointed(false),
      onFocusIn: () => setFocused(true),
      onFocusOut: ({ currentTarget, relatedTarget }) =>
        setFocused((currentTarget as Element).contains(relatedTarget as Element | null)),
    },
  };
}
