/** How much a request matters to its client (RFC 9218 4). */
export interface Priority {
  /** 0 goes first, 7 last. */
  readonly urgency: number
  /** Whether its parts are useful as they come: then it takes turns with others of its urgency. */
  readonly incremental: boolean
}

/** For a client that says nothing: it may wait for any of its streams, so they take turns. */
export const NO_PRIORITY: Priority = { urgency: 3, incremental: true }

/**
 * Clients send at most `u=7, i=?0`, and others leave room for extensions. Parsing a value of 4 KiB costs as much as a
 * request.
 */
const MAX_BYTES = 256
/** Parameters may follow; none has a meaning (RFC 8941 3.1.2). */
const URGENCY = /^u=([0-7])(?:;|$)/
/** `i`, `i=?1`, `i=?0`. */
const INCREMENTAL = /^i(?:=\?([01]))?(?:;|$)/

/** Reads a Priority field; what is not understood counts as missing (RFC 9218 4). */
export function readPriority(value: string): Priority {
  let urgency = 3
  let incremental = false
  if (value.length > MAX_BYTES) return { urgency, incremental }
  for (const part of value.split(',')) {
    const member = part.trim()
    const urgent = URGENCY.exec(member)
    if (urgent) urgency = Number(urgent[1])
    const shared = INCREMENTAL.exec(member)
    if (shared) incremental = shared[1] !== '0'
  }
  return { urgency, incremental }
}
