import { ofetch, type FetchOptions } from 'ofetch'
import { z } from 'zod'
import type { TxtProvider } from './txt-provider.ts'

const API = 'https://api.cloudflare.com/client/v4'
const ANSWER_MS = 30_000
/** In seconds: the minimum that Cloudflare accepts. */
const TTL = 60

const Answer = z.object({
  success: z.boolean(),
  errors: z.array(z.object({ message: z.string() })).default([]),
  result: z.unknown(),
})
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
    await this.#ask(`/zones/${zone}/dns_records`, {
      method: 'POST',
      body: { type: 'TXT', name, content: quoted(value), ttl: TTL },
    })
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

  async #ask(path: string, options: FetchOptions<'json'>): Promise<unknown> {
    const answer = Answer.parse(
      await ofetch<unknown>(this.#api + path, {
        ...options,
        headers: { authorization: `Bearer ${this.#token}` },
        timeout: ANSWER_MS,
        retry: 0,
        // The reason is in the body.
        ignoreResponseError: true,
      }),
    )
    if (answer.success) return answer.result
    throw new Error(
      `Cloudflare refused the request: ${answer.errors.map(({ message }) => message).join('; ')}`,
    )
  }
}

/** Quotes TXT content as the API expects it (RFC 1035 section 5.1). */
function quoted(value: string): string {
  return `"${value}"`
}
