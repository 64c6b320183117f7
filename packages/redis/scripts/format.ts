/**
 * Version of the data that queues and throttles store on the server. Raise it if the previous release would not
 * understand what this release stores.
 */
export const FORMAT = "1";
