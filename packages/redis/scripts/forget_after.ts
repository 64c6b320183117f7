/** Lua that declares the default time, in µs, without calls after which the keys of a queue or a throttle expire. */
export const forgetAfter = "local FORGET_AFTER = 2592000000000";
