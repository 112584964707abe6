import { existsSync, readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import type { Client } from 'acme-client'
import { accountKeyFile } from '#server/certificates/files.ts'
import { useContext } from '#server/context.ts'
import { writePrivateFile } from '#server/files.ts'
import { judgedAgents, KEEPS_CONNECTIONS } from '#server/network/agents.ts'
import { readRetryAfter } from '#server/network/answers.ts'
import { DESTINATIONS } from '#server/network/judged.ts'
import { VERSION } from '#server/version.ts'
import { AcmeProblem, AuthorityUnavailable } from './problem.ts'

/** Timeout of one request to an authority. Orders that take longer are polled. */
const ANSWER_MS = 30_000
/** A certificate chain takes some KiB; an endless response would fill the memory. */
const MAX_ANSWER_BYTES = 1024 * 1024

type Acme = typeof import('acme-client')

let loading: Promise<Acme> | undefined

/** Loads the ACME library for the first order: it is larger than all the rest of the control plane. */
export function loadAcme(): Promise<Acme> {
  loading ??= import('acme-client').then(({ default: acme }) => {
    prepare(acme)
    return acme
  })
  return loading
}

/**
 * Sets the library's defaults, which apply to the whole process. It brings an HTTP client of its own, which therefore gets
 * here what others get from `server/network/`: judged connections, a bound and a time limit. It follows redirects, as
 * authorities may use them; the signature of a request is for its first address, and nothing else in it is secret.
 */
function prepare(acme: Acme): void {
  const { trusted } = useContext().options.acme
  const { defaults, interceptors } = acme.axios
  defaults.timeout = ANSWER_MS
  defaults.maxContentLength = MAX_ANSWER_BYTES
  // Error responses are handled below.
  defaults.validateStatus = null
  defaults.headers.common['User-Agent'] = `deployer/${VERSION}`
  const agents = judgedAgents(() => DESTINATIONS, {
    ...KEEPS_CONNECTIONS,
    ...(trusted === null ? {} : { ca: [...rootCertificates, trusted] }),
  })
  defaults.httpAgent = agents.http
  defaults.httpsAgent = agents.https
  // The library's own interceptor would sleep and retry. Certification decides when to retry, and shows it.
  interceptors.request.clear()
  // The library's own timeout starts again with each byte that arrives.
  interceptors.request.use((request) => ({ ...request, signal: AbortSignal.timeout(ANSWER_MS) }))
  interceptors.response.clear()
  interceptors.response.use(
    (response) => {
      const { status, headers } = response
      const data = response.data as unknown
      const { type, detail } = (data ?? {}) as { type?: unknown; detail?: unknown }
      const kind = typeof type === 'string' ? type.split(':').at(-1)! : ''
      // The library fetches a new nonce by itself.
      if (kind === 'badNonce' && status >= 400) return response
      // The library passes on JSON that it cannot parse and fails later with an unclear error. A HEAD has an empty body.
      if (status < 400 && isJson(headers['content-type']) && typeof data !== 'object' && data !== '')
        throw new AuthorityUnavailable(
          'the certificate authority answered with something that is not JSON',
          null,
        )
      if (status < 400) return response
      const retryAfterMs = readRetryAfter(headers['retry-after'])
      // Not an ACME error: a gateway in front of the authority, which speaks for all of it.
      if (kind === '' && (status >= 500 || status === 429))
        throw new AuthorityUnavailable(
          `the certificate authority answers with status ${status}`,
          retryAfterMs,
        )
      const message =
        typeof detail === 'string' ? detail : `the certificate authority answered with status ${status}`
      throw new AcmeProblem(kind, message, retryAfterMs)
    },
    (error: Error & { code?: string }) => {
      if (error instanceof AcmeProblem || error instanceof AuthorityUnavailable) throw error
      const { code = error.message } = error
      const how = code === 'ERR_CANCELED' ? ` within ${ANSWER_MS / 1_000} s` : `: ${code}`
      throw new AuthorityUnavailable(`the certificate authority does not answer${how}`, null, {
        cause: error,
      })
    },
  )
}

function isJson(contentType: unknown): boolean {
  return /^application\/json\b/i.test(String(contentType))
}

/** The certificate authority of the options, with this server's account at it. */
export class Authority {
  #client: Promise<Client> | null = null
  /** Undefined until it was fetched. */
  #renewalInfo: string | null | undefined

  /** Runs `work` with the account. An account that the authority no longer knows is created again. */
  async withClient<Result>(work: (client: Client, acme: Acme) => Promise<Result>): Promise<Result> {
    const acme = await loadAcme()
    const client = await this.#account(acme)
    try {
      return await work(client, acme)
    } catch (error) {
      if (!(error instanceof AcmeProblem) || error.kind !== 'accountDoesNotExist') throw error
      this.#client = null
      return work(await this.#account(acme), acme)
    }
  }

  /** Returns the URL of its renewal advice (RFC 9773 section 4.1) without a trailing slash; null if it has none. */
  async renewalInfo(): Promise<string | null> {
    if (this.#renewalInfo !== undefined) return this.#renewalInfo
    const { axios } = await loadAcme()
    const { data } = await axios.get<{ renewalInfo?: unknown }>(useContext().options.acme.directory)
    const place = data.renewalInfo
    this.#renewalInfo = typeof place === 'string' ? place.replace(/\/$/, '') : null
    return this.#renewalInfo
  }

  #account(acme: Acme): Promise<Client> {
    this.#client ??= openAccount(acme).catch((error: unknown) => {
      this.#client = null
      throw error
    })
    return this.#client
  }
}

async function openAccount(acme: Acme): Promise<Client> {
  const { directory, email, externalAccount } = useContext().options.acme
  const client = new acme.Client({
    directoryUrl: directory,
    accountKey: await accountKey(acme, directory),
    ...(externalAccount
      ? { externalAccountBinding: { kid: externalAccount.kid, hmacKey: externalAccount.key } }
      : {}),
  })
  const wanted = { termsOfServiceAgreed: true, ...(email === null ? {} : { contact: [`mailto:${email}`] }) }
  await client.createAccount(wanted).catch((error: unknown) => {
    // For an existing account the library sends an update, which an authority may reject as needless.
    if (!hasAccount(client)) throw error
  })
  return client
}

function hasAccount(client: Client): boolean {
  try {
    return client.getAccountUrl() !== ''
  } catch {
    return false
  }
}

/** Returns the account's key, which is kept: a new key would be a new account, with rate limits of its own. */
async function accountKey(acme: Acme, directory: string): Promise<string> {
  const file = accountKeyFile(directory)
  if (existsSync(file)) return readFileSync(file, 'utf8')
  const key = (await acme.crypto.createPrivateEcdsaKey('P-256')).toString()
  writePrivateFile(file, key)
  return key
}
