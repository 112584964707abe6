import { monotonicMs } from '../clock.ts'
import { TICKET_KEY_BYTES } from '../control/worker-messages.ts'
import { crypto } from '../modules.ts'

/** The keys are renewed regularly, since anyone who gets them can read what was resumed with them (RFC 9325 section 3.4). */
const LIFETIME_MS = 12 * 60 * 60 * 1000

/** The keys for a successor: base64, and the milliseconds that they have left. */
export interface TicketKeysMessage {
  keys: string
  left_ms: number
}

/**
 * The keys of TLS session tickets (RFC 5077 section 4). All workers have the same, so that a session resumes whichever
 * worker accepts the connection. They are only kept in memory.
 */
export class TicketKeys {
  #keys = crypto().randomBytes(TICKET_KEY_BYTES)
  #renewAt = monotonicMs() + LIFETIME_MS
  #timer: NodeJS.Timeout | undefined
  #renewed: () => void

  /** `renewed` is called when there are new keys. */
  constructor(renewed: () => void) {
    this.#renewed = renewed
    this.#schedule()
  }

  /** The keys in base64. */
  get text(): string {
    return this.#keys.toString('base64')
  }

  get message(): TicketKeysMessage {
    return { keys: this.text, left_ms: this.#renewAt - monotonicMs() }
  }

  /** Continues with the keys of the previous supervisor. */
  inherit({ keys, left_ms }: TicketKeysMessage): void {
    const bytes = Buffer.from(keys, 'base64')
    if (bytes.length !== TICKET_KEY_BYTES || !(left_ms <= LIFETIME_MS)) return
    this.#keys = bytes
    this.#renewAt = monotonicMs() + left_ms
    this.#schedule()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#renew(), this.#renewAt - monotonicMs()).unref()
  }

  #renew(): void {
    this.#keys = crypto().randomBytes(TICKET_KEY_BYTES)
    this.#renewAt = monotonicMs() + LIFETIME_MS
    this.#schedule()
    this.#renewed()
  }
}
