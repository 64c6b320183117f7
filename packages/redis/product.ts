/** Name of the product in messages. Valkey is meant too. */
export const PRODUCT = "Redis";
