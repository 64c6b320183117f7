/** Option for the scope of a `RetryAfterError`. */
export const scopeField = {
  kind: "enum",
  values: ["item", "group", "queue"],
  required: false,
  description: "What waits for the time of 'retryAfter': the item, its group or the queue. Default: \"item\".",
} as const;
