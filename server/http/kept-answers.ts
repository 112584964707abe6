import { useDatabase } from '../context.ts'
import { ConstantText, jsonBytes } from './send.ts'

/** Answers of one endpoint to different queries; more would be kept for nobody. */
const MAX_KEPT = 8

/** Answers that hold until something is written to the database. */
export class KeptAnswers {
  readonly #texts = new Map<string, ConstantText>()
  #version = ''

  /** The answer under this key, made when there is none of the database as it is. */
  async get(key: string, make: () => Promise<unknown>): Promise<ConstantText> {
    const version = useDatabase().version()
    if (version !== this.#version || this.#texts.size === MAX_KEPT) this.#texts.clear()
    this.#version = version
    const kept = this.#texts.get(key)
    if (kept) return kept
    const text = new ConstantText(jsonBytes(await make()), 'application/json')
    if (useDatabase().version() === version && this.#version === version) this.#texts.set(key, text)
    return text
  }
}
