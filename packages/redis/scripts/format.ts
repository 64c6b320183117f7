/**
 * Version of the data that queues and throttles store on the server. Raise it if the previous release would not
 * understand what this release stores.
 */
export const FORMAT = "1";

/**
 * Returns Lua that refuses data of another format before it changes anything. Uses `prefix`, the beginning of the names
 * of the keys.
 *
 * @param stored Name of the variable with the stored format. Its value is false if nothing is stored.
 * @param name Lua expression for what is refused, such as `queue mail`.
 * @param advice Advice on what to do before the keys are deleted.
 */
export const refuseOtherFormat = (stored: string, name: string, advice: string): string => /* lua */ `
if ${stored} and ${stored} ~= '${FORMAT}' then
  return redis.error_reply('WQFORMAT Cannot use ' .. ${name} .. ': the server has it in format ' .. ${stored} ..
    ', and this release uses format ${FORMAT}. ${advice}, then delete its keys (' .. prefix ..
    '*), or use another name')
end`;

/** Lua that refuses a queue of another format. */
export const refuseOtherQueue = (stored: string): string =>
  refuseOtherFormat(
    stored,
    "'queue ' .. string.match(prefix, '{(.*)}')",
    "Let the processes of the release that stored it finish its items",
  );
