import { setTimeout as delay } from 'node:timers/promises'
import { EXIT, Fault } from '../../fault.ts'
import type { Output } from '../../output.ts'
import { ApiFault, type StreamOptions } from '../api.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000
/** By which part a pause is longer or shorter, so that many clients do not come back to a server at once. */
const JITTER = 0.2
/** How long a stream may be away. */
const GIVE_UP_MS = 5 * 60_000
/** A connection that lasted so long was no failure, even if nothing new came over it. */
const STEADY_MS = 5_000
/** The status of a server that does not answer for the name it was asked by; it will not later. */
const MISDIRECTED = 421

export interface Following {
  out: Output
  /** What is followed, for messages: `the log of web`. */
  what: string
  /** The command that follows it again, without `deployer`. */
  again: string
  signal?: AbortSignal
}

/** What one reading of a stream is told and tells. */
export interface Reading {
  options: StreamOptions
  /** Whether the stream was read before, and cut. */
  isAgain: boolean
  /** To be called for whatever is new. */
  progressed: () => void
}

/**
 * Reads a stream to its end; it is read again whenever it was cut, for as long as it can be opened once in 5 minutes. Throws
 * Fault if it cannot be opened at first, or not for so long later, or is refused; AbortError when the signal aborts.
 */
export async function acrossCuts<R>(
  { out, what, again, signal }: Following,
  read: (reading: Reading) => Promise<R>,
): Promise<R> {
  const patience = new Patience()
  for (let wasOpen = false; ;) {
    let isOpen = false
    const onOpen = (): void => {
      isOpen = true
      if (patience.opened()) out.note(`deployer: connected again; ${what} goes on`)
    }
    const options = { isOnce: wasOpen, onOpen, ...(signal ? { signal } : {}) }
    try {
      return await read({ options, isAgain: wasOpen, progressed: () => patience.progressed() })
    } catch (error) {
      signal?.throwIfAborted()
      if (!isCut(error) || !(isOpen || wasOpen)) throw error
      if (isOpen) out.note(`deployer: ${error.message}; trying again`)
      wasOpen = true
      const pauseMs = patience.pauseMs()
      if (pauseMs === null) throw givenUp(what, again, error)
      await delay(pauseMs, undefined, signal ? { signal } : {})
    }
  }
}

/** Whether an error says that a server could not be reached, which may pass. */
function isCut(error: unknown): error is Fault {
  if (!(error instanceof Fault) || error.exitCode !== EXIT.noConnection) return false
  return !(error instanceof ApiFault && error.status === MISDIRECTED)
}

function givenUp(what: string, again: string, cause: Fault): Fault {
  const minutes = GIVE_UP_MS / 60_000
  return new Fault(
    EXIT.noConnection,
    `${what} could not be taken up again for ${minutes} minutes (${cause.message}); deployer ${again}`,
    { cause },
  )
}

/** How long to wait before a stream is opened again. */
export class Patience {
  readonly #now: () => number
  #openedAt: number | null = null
  #lostAt: number | null = null
  #failures = 0

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Returns whether it was lost before. */
  opened(): boolean {
    const wasLost = this.#lostAt !== null
    this.#openedAt = this.#now()
    this.#lostAt = null
    return wasLost
  }

  /** Something new came. */
  progressed(): void {
    this.#failures = 0
  }

  /** The pause after a cut; null if the stream has been away for too long. */
  pauseMs(): number | null {
    const now = this.#now()
    if (this.#openedAt !== null && now - this.#openedAt >= STEADY_MS) this.#failures = 0
    this.#openedAt = null
    this.#lostAt ??= now
    if (now - this.#lostAt >= GIVE_UP_MS) return null
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures++)
    return pause * (1 + JITTER * (2 * Math.random() - 1))
  }
}
