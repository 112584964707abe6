/** Upper limits of the settings in a table, and of the server's options that end up in one. */

/** Milliseconds: one day. */
export const MAX_UPSTREAM_TIMEOUT_MS = 24 * 60 * 60 * 1000
/** More sockets than a process may usually have. */
export const MAX_CONNECTIONS_PER_ADDRESS = 1_000_000
/** One hundred years. */
export const MAX_HSTS_SECONDS = 100 * 365 * 24 * 60 * 60
