import { useDatabase } from '../context.ts'
import { ConstantText, jsonBytes } from './send.ts'

/** Answers of one endpoint to different queries; more would be kept for nobody. */
const MAX_KEPT = 8

/** What answers that are kept follow from: they hold until something is written to the database, or for good. */
export type KeptFrom = 'database' | 'program'

/** Answers that are made once for as long as they hold. */
export class KeptAnswers {
  readonly #from: KeptFrom
  readonly #texts = new Map<string, ConstantText>()
  #version = ''

  constructor(from: KeptFrom) {
    this.#from = from
  }

  /** The answer under this key, made when there is none that holds. */
  async get(key: string, make: () => Promise<unknown>): Promise<ConstantText> {
    const version = this.#now()
    if (version !== this.#version || this.#texts.size === MAX_KEPT) this.#texts.clear()
    this.#version = version
    const kept = this.#texts.get(key)
    if (kept) return kept
    const text = new ConstantText(jsonBytes(await make()), 'application/json')
    if (this.#now() === version && this.#version === version) this.#texts.set(key, text)
    return text
  }

  #now(): string {
    return this.#from === 'program' ? '' : useDatabase().version()
  }
}
