import { styleText } from "node:util";

/** Formats a text with a color or weight. */
export type Style = (format: "bold" | "dim" | "red" | "green", text: string) => string;

/** Formats with colors. The caller decides whether its stream should have colors. */
export const colored: Style = (format, text) => styleText(format, text, { validateStream: false });

/** Leaves texts unchanged. */
export const plain: Style = (_format, text) => text;
