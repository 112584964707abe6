import { useDatabase } from '#server/context.ts'
import { readSetting, removeSetting, writeSetting } from '#server/database/settings.ts'
import { takeRandom } from '#server/random.ts'
import { digestOf } from './listener.ts'

const KEY = 'node_invitation'
const LASTS_MS = 3_600_000
/** The machine that begins to join has the agent's image by then, and another one that was about to may still get it. */
const LASTS_AFTER_JOIN_MS = 30_000
const TOKEN_BYTES = 32

interface Kept {
  /** Of the token's digest; the token itself is only in the command. */
  digest: string
  expiresAt: number
  /** Whether what joins becomes an entry. */
  asEntry?: boolean
  /** Swarm's ids of those that had joined before, by another one. */
  joined?: string[]
}

/** The token with which machines join, of which one is valid at a time. It outlives a restart of the server. */
export class Invitations {
  /** Makes a token, in place of the one before, by which `joined` have joined. */
  make(now = Date.now(), asEntry = false, joined: string[] = []): { token: string; expiresAt: number } {
    const token = takeRandom(TOKEN_BYTES).toString('base64url')
    const expiresAt = now + LASTS_MS
    this.#write({ digest: digestOf(token).toString('base64'), expiresAt, asEntry, joined })
    return { token, expiresAt }
  }

  /** The digest of the token that is valid; null for none. */
  digest(now = Date.now()): Buffer | null {
    const kept = this.#read()
    return kept !== null && now < kept.expiresAt ? Buffer.from(kept.digest, 'base64') : null
  }

  /** Shortens its time, when a machine begins to join. */
  use(now = Date.now()): void {
    const kept = this.#read()
    if (kept) this.#write({ ...kept, expiresAt: Math.min(kept.expiresAt, now + LASTS_AFTER_JOIN_MS) })
  }

  /** Whether a token was made whose end has not been followed up with `forget`. */
  get isOpen(): boolean {
    return this.#read() !== null
  }

  /** Whether a machine that has joined becomes an entry: not by a token that it did not need. */
  isForEntry(swarmId: string): boolean {
    const kept = this.#read()
    return kept?.asEntry === true && !kept.joined?.includes(swarmId)
  }

  forget(): void {
    removeSetting(useDatabase(), KEY)
  }

  #read(): Kept | null {
    const text = readSetting(useDatabase(), KEY)
    return text === undefined ? null : (JSON.parse(text) as Kept)
  }

  #write(kept: Kept): void {
    writeSetting(useDatabase(), KEY, JSON.stringify(kept))
  }
}
