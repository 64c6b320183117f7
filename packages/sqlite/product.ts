/** Name of the product in messages. */
export const PRODUCT = "SQLite";
