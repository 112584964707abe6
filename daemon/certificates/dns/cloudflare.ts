import { z } from 'zod'
import { judgedDispatcher } from '#server/network/agents.ts'
import { askJson, type JsonAnswer, type JsonQuestion } from '#server/network/json.ts'
import { DESTINATIONS } from '#server/network/judged.ts'
import { plainLine } from '#server/text/plain-line.ts'
import type { TxtProvider } from './txt-provider.ts'

const API = 'https://api.cloudflare.com/client/v4'
const ANSWER_MS = 30_000
/** The records of one name take some KiB. */
const MAX_ANSWER_BYTES = 1024 * 1024
/** How much of its own message is repeated. */
const MAX_SAID_CHARACTERS = 500
/** In seconds: the minimum that Cloudflare accepts. */
const TTL = 60

const Answer = z.object({
  success: z.boolean(),
  errors: z.array(z.object({ message: z.string() })).default([]),
  result: z.unknown().optional(),
})
const dispatcher = judgedDispatcher(() => DESTINATIONS, ANSWER_MS)
const Records = z.array(z.object({ id: z.string() }))

/** Cloudflare's API (https://developers.cloudflare.com/api), with a token that may edit the zone's DNS. */
export class Cloudflare implements TxtProvider {
  readonly #token: string
  readonly #api: string

  constructor(token: string, api: string = API) {
    this.#token = token
    this.#api = api
  }

  async present(name: string, value: string): Promise<void> {
    const zone = await this.#zoneOf(name)
    if ((await this.#find(zone, name, value)).length > 0) return
    const body = { type: 'TXT', name, content: quoted(value), ttl: TTL }
    await this.#ask(`/zones/${zone}/dns_records`, { method: 'POST', body })
  }

  async cleanUp(name: string, value: string): Promise<void> {
    const zone = await this.#zoneOf(name)
    for (const { id } of await this.#find(zone, name, value))
      await this.#ask(`/zones/${zone}/dns_records/${id}`, { method: 'DELETE' })
  }

  /** Returns the zone that holds a name: the longest of its parents that the token can see. */
  async #zoneOf(name: string): Promise<string> {
    const labels = name.split('.')
    for (let at = 1; at < labels.length - 1; at++) {
      const parent = labels.slice(at).join('.')
      const [zone] = Records.parse(await this.#ask('/zones', { query: { name: parent } }))
      if (zone) return zone.id
    }
    throw new Error(`Cloudflare has no zone for ${name}, or the token may not see it`)
  }

  async #find(zone: string, name: string, value: string): Promise<{ id: string }[]> {
    const query = { type: 'TXT', name, content: quoted(value) }
    return Records.parse(await this.#ask(`/zones/${zone}/dns_records`, { query }))
  }

  async #ask(path: string, question: JsonQuestion): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.#token}` }
    const signal = AbortSignal.timeout(ANSWER_MS)
    const bounds = { dispatcher, signal, maxBytes: MAX_ANSWER_BYTES }
    try {
      return resultOf(await askJson(this.#api + path, { ...question, headers }, bounds))
    } catch (error) {
      if (!signal.aborted) throw error
      throw new Error(`Cloudflare did not answer within ${ANSWER_MS / 1_000} s`, { cause: error })
    }
  }
}

/** The result in an answer; whether it is one, and the reason of a refusal, is in its body. */
function resultOf({ status, body }: JsonAnswer): unknown {
  const answer = Answer.safeParse(body).data
  if (!answer) throw new Error(`Cloudflare answered ${status} in an unexpected form`)
  if (answer.success) return answer.result
  const said = answer.errors.map(({ message }) => message).join('; ')
  throw new Error(`Cloudflare refused the request: ${plainLine(said, MAX_SAID_CHARACTERS)}`)
}

/** Quotes TXT content as the API expects it (RFC 1035 section 5.1). */
function quoted(value: string): string {
  return `"${value}"`
}
