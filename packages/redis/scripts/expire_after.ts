/** Lua that declares the default time, in µs, without calls after which the keys of a queue or a throttle expire. */
export const expireAfter = "local EXPIRE_AFTER = 2592000000000";
