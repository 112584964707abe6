import { useDatabase } from '../context.ts'
import { latestVersion } from '../metrics/latest.ts'
import { ConstantText, jsonBytes } from './send.ts'

/** How many queries of one endpoint have their answer cached; more would not be asked for again. */
const MAX_KEPT = 8

/**
 * What cached answers depend on: they are valid until the next write to the database, until the next write or measurement,
 * or for as long as the program runs.
 */
export type KeptFrom = 'database' | 'measurements' | 'program'

/** Cached answers of an endpoint. */
export class KeptAnswers {
  readonly #from: KeptFrom
  readonly #texts = new Map<string, ConstantText>()
  #version = ''

  constructor(from: KeptFrom) {
    this.#from = from
  }

  /** The cached answer for this key, computed when there is none that is still valid. */
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
    if (this.#from === 'program') return ''
    const version = useDatabase().version()
    return this.#from === 'database' ? version : `${version} ${latestVersion()}`
  }
}
