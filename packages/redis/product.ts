/** Name of the product in messages. Includes Valkey. */
export const PRODUCT = "Redis";
