import { styleText } from "node:util";

/** Gives a text a color or the like. */
export type Style = (format: "bold" | "dim" | "red" | "green", text: string) => string;

/** With colors. Whether there are any is decided by those who know which stream it is for. */
export const colored: Style = (format, text) => styleText(format, text, { validateStream: false });

/** Without. */
export const plain: Style = (_format, text) => text;
