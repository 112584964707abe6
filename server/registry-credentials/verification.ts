import { messageOf } from '../errors.ts'
import { registryReach } from '../images/registry.ts'
import { bareHost } from '../network/addresses.ts'
import { judgedDispatcher } from '../network/agents.ts'
import { askJson, type JsonAnswer } from '../network/json.ts'
import { ForbiddenPlace } from '../network/judged.ts'
import { plainLine } from '../text/plain-line.ts'
import { openCredential } from './choice.ts'
import type { RegistryVerification } from './schema.ts'
import type { RegistryCredentialRow } from './store.ts'

/** How long all its requests may take together: a user waits for the result. */
const WITHIN_MS = 15_000
/** A token with many permissions has a few KiB. */
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_REASON_CHARACTERS = 200
/** Where Docker Hub has its API. */
const HUB_API = 'registry-1.docker.io'
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1)$/
/** What can be sent in a header. */
const TOKEN = /^[!-~]+$/

/** Why a credential was not accepted, as one sentence. */
class Unaccepted extends Error {}

const dispatcher = judgedDispatcher(registryReach, WITHIN_MS)

/**
 * Signs in at a registry as an engine does, and pulls nothing: a request to its API, with the password or with the token that
 * its token service gives for it (https://distribution.github.io/distribution/spec/auth/token/). Never throws.
 */
export async function verifyCredential(
  row: RegistryCredentialRow,
  left: AbortSignal,
): Promise<RegistryVerification> {
  const signal = AbortSignal.any([left, AbortSignal.timeout(WITHIN_MS)])
  try {
    await new SignIn(row, signal).run()
    return { ok: true, error: null }
  } catch (error) {
    return { ok: false, error: sentenceOf(row, error, signal) }
  }
}

function sentenceOf({ host }: RegistryCredentialRow, error: unknown, signal: AbortSignal): string {
  if (error instanceof Unaccepted) return error.message
  if (signal.aborted) return `${host} did not answer within ${WITHIN_MS / 1_000} s`
  if (error instanceof ForbiddenPlace) return `${host} may not be asked: ${error.message}`
  return `${host} cannot be reached: ${plainLine(messageOf(error), MAX_REASON_CHARACTERS)}`
}

/** One attempt to sign in. */
class SignIn {
  readonly #host: string
  readonly #username: string
  readonly #basic: string
  readonly #signal: AbortSignal

  constructor(row: RegistryCredentialRow, signal: AbortSignal) {
    const { username, password } = openCredential(row)
    this.#host = row.host
    this.#username = username
    this.#basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    this.#signal = signal
  }

  async run(): Promise<void> {
    const { base, answer } = await this.#begin()
    if (answer.status !== 401) this.#assertRegistry(answer)
    const challenge = answer.headers.get('www-authenticate') ?? ''
    const isBearer = answer.status === 401 && /\bbearer\s/i.test(challenge)
    if (answer.status === 401 && !isBearer && !/\bbasic\b/i.test(challenge))
      throw new Unaccepted(`${this.#host} does not say how to sign in: is this the host of a registry?`)
    const authorization = isBearer ? `Bearer ${await this.#token(base, challenge)}` : this.#basic
    const signedIn = await this.#ask(base, authorization)
    this.#assertAccepted(signedIn)
    this.#assertRegistry(signedIn)
  }

  /** The address of the registry's API, and its first answer. As for engines, only one on this host may be without TLS. */
  async #begin(): Promise<{ base: URL; answer: JsonAnswer }> {
    const host = this.#host === 'docker.io' ? HUB_API : this.#host
    const base = new URL(`https://${host}/v2/`)
    try {
      return { base, answer: await this.#ask(base) }
    } catch (error) {
      const isAnswer = error instanceof Unaccepted || this.#signal.aborted
      if (isAnswer || !LOOPBACK.test(bareHost(base.hostname))) throw error
      const plain = new URL(`http://${host}/v2/`)
      return { base: plain, answer: await this.#ask(plain) }
    }
  }

  async #token(base: URL, challenge: string): Promise<string> {
    const parameters = new Map(
      [...challenge.matchAll(/(?<=[\s,])(realm|service)="([^"]*)"/gi)].map(([, name, value]) => [
        name!.toLowerCase(),
        value!,
      ]),
    )
    const realm = URL.parse(parameters.get('realm') ?? '')
    const isSafe = realm?.protocol === 'https:' || (realm?.protocol === 'http:' && base.protocol === 'http:')
    if (!realm || !isSafe)
      throw new Unaccepted(`${this.#host} names no token service with TLS: is this the host of a registry?`)
    const service = parameters.get('service')
    if (service !== undefined) realm.searchParams.set('service', service)
    realm.searchParams.set('account', this.#username)
    const answer = await this.#ask(realm, this.#basic)
    this.#assertAccepted(answer)
    const { token, access_token } = (answer.body ?? {}) as Record<string, unknown>
    const given = token ?? access_token
    if (answer.status === 200 && typeof given === 'string' && TOKEN.test(given)) return given
    throw new Unaccepted(`the token service of ${this.#host} answered ${answer.status} without a token`)
  }

  async #ask(url: URL, authorization?: string): Promise<JsonAnswer> {
    const bounds = { dispatcher, signal: this.#signal, maxBytes: MAX_ANSWER_BYTES }
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    const answer = await askJson(url.href, { headers }, bounds)
    if (answer.status >= 300 && answer.status < 400)
      throw new Unaccepted(`${url.host} answered ${answer.status}: redirects are not followed`)
    return answer
  }

  #assertAccepted({ status }: JsonAnswer): void {
    if (status === 401 || status === 403)
      throw new Unaccepted(`${this.#host} refuses the user name or the password: correct them`)
  }

  /** A web server may answer 200 to anything. */
  #assertRegistry({ status, headers, body }: JsonAnswer): void {
    const isRegistry = headers.has('docker-distribution-api-version') || body !== undefined
    if (status !== 200 || !isRegistry)
      throw new Unaccepted(`${this.#host} answered ${status}, not as a registry does: is this its host?`)
  }
}
