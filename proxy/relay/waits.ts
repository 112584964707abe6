/** How long a client's connection waits for what. */

/** For a complete request head. */
export const HEAD_TIMEOUT_MS = 30_000
/** Between bytes of a request's body. */
export const BODY_TIMEOUT_MS = 60_000
/** Between two requests. */
export const IDLE_TIMEOUT_MS = 75_000
/** For a connection to an instance. */
export const CONNECT_TIMEOUT_MS = 5_000
/** For the reader of a site to take what was written, at most 128 KiB; a slower one would hold memory for nothing. */
export const READER_TIMEOUT_MS = 60_000
/** How long an upstream may be silent after its client sent FIN. */
export const HALF_CLOSED_TIMEOUT_MS = 10_000
/** How long the client may read an answer after the connection's end while it still sends. */
export const LINGER_MS = 2_000
/** Requests longer than this get TCP keep-alive on both sides, since streams have no other limit. */
export const KEEP_ALIVE_AFTER_MS = 30_000
