import { styleText } from "node:util";

/** Returns the text in a color or font weight. */
export type Style = (format: "bold" | "dim" | "red" | "green", text: string) => string;

/** Formats with colors. Doesn't check whether the output stream supports colors. */
export const colored: Style = (format, text) => styleText(format, text, { validateStream: false });

/** Leaves text unchanged. */
export const plain: Style = (_format, text) => text;
