import { useRef, useState } from "preact/hooks";

/** An item as it is shown. */
export interface Shown<T> {
  readonly item: T;
  /** It is no longer in the list, which is held still. */
  readonly gone: boolean;
}

/** A list that holds still. */
export interface StillList<T> {
  readonly shown: readonly Shown<T>[];
  readonly isStill: boolean;
  /** For the element around the list. */
  readonly handlers: {
    readonly onPointerEnter: (event: PointerEvent) => void;
    readonly onPointerLeave: () => void;
    readonly onFocusIn: () => void;
    readonly onFocusOut: (event: FocusEvent) => void;
  };
}

/**
 * Keeps the items of a list in their places while somebody points at it, or while something in it is focused: what is
 * clicked is what was aimed at. What is known of each item stays up to date.
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
