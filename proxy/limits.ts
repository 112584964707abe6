/** How far the settings of a table go; the options of the server that become part of one go as far. */

/** Milliseconds: a day. */
export const MAX_UPSTREAM_TIMEOUT_MS = 24 * 60 * 60 * 1000
/** More sockets than the usual limit of a process. */
export const MAX_CONNECTIONS_PER_ADDRESS = 1_000_000
/** A hundred years. */
export const MAX_HSTS_SECONDS = 100 * 365 * 24 * 60 * 60
