import { existsSync, readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { rootCertificates } from 'node:tls'
import type { Client } from 'acme-client'
import { accountKeyFile } from '#server/certificates/files.ts'
import { useContext } from '#server/context.ts'
import { writePrivateFile } from '#server/files.ts'
import { readRetryAfter } from '#server/network/answers.ts'
import { VERSION } from '#server/version.ts'
import { AcmeProblem, AuthorityAway } from './problem.ts'

/** An answer of an authority; orders that take longer are asked about again. */
const ANSWER_MS = 30_000
/** A chain of certificates takes some KiB; what has no end would fill the memory. */
const MAX_ANSWER_BYTES = 1024 * 1024

type Acme = typeof import('acme-client')

let loading: Promise<Acme> | undefined

/** The library, loaded by the first order: it is larger than all the rest of the control plane. */
export function loadAcme(): Promise<Acme> {
  loading ??= import('acme-client').then(({ default: acme }) => {
    prepare(acme)
    return acme
  })
  return loading
}

/** The library is one for the process, and so are these. */
function prepare(acme: Acme): void {
  const { trusted } = useContext().options.acme
  const { defaults, interceptors } = acme.axios
  defaults.timeout = ANSWER_MS
  defaults.maxContentLength = MAX_ANSWER_BYTES
  // Refusals are read below.
  defaults.validateStatus = null
  defaults.headers.common['User-Agent'] = `deployer/${VERSION}`
  defaults.httpsAgent = new Agent({
    keepAlive: true,
    ...(trusted === null ? {} : { ca: [...rootCertificates, trusted] }),
  })
  // Its own would sleep and ask again: when to do that is decided by all that is waiting, and told to people.
  interceptors.request.clear()
  // The library's own limit begins anew with each byte that comes.
  interceptors.request.use((request) => ({ ...request, signal: AbortSignal.timeout(ANSWER_MS) }))
  interceptors.response.clear()
  interceptors.response.use(
    (response) => {
      const { status, headers } = response
      const data = response.data as unknown
      const { type, detail } = (data ?? {}) as { type?: unknown; detail?: unknown }
      const kind = typeof type === 'string' ? type.split(':').at(-1)! : ''
      // A lost nonce is asked for anew by the library.
      if (kind === 'badNonce' && status >= 400) return response
      // The library leaves what it cannot read as it is, and fails on it in words of its own. To HEAD nothing is answered.
      if (status < 400 && isJson(headers['content-type']) && typeof data !== 'object' && data !== '')
        throw new AuthorityAway('the certificate authority answers what is no JSON', null)
      if (status < 400) return response
      const retryAfterMs = readRetryAfter(headers['retry-after'])
      // What stands before an authority speaks for all of it.
      if (kind === '' && (status >= 500 || status === 429))
        throw new AuthorityAway(`the certificate authority answers with status ${status}`, retryAfterMs)
      const said =
        typeof detail === 'string' ? detail : `the certificate authority answered with status ${status}`
      throw new AcmeProblem(kind, said, retryAfterMs)
    },
    (error: Error & { code?: string }) => {
      if (error instanceof AcmeProblem || error instanceof AuthorityAway) throw error
      const { code = error.message } = error
      const how = code === 'ERR_CANCELED' ? ` within ${ANSWER_MS / 1_000} s` : `: ${code}`
      throw new AuthorityAway(`the certificate authority does not answer${how}`, null, { cause: error })
    },
  )
}

function isJson(contentType: unknown): boolean {
  return /^application\/json\b/i.test(String(contentType))
}

/** The certificate authority of the options, with this server's account there. */
export class Authority {
  #client: Promise<Client> | null = null
  /** Undefined before it was asked. */
  #renewalInfo: string | null | undefined

  /** Does something with the account. One that the authority does not know any more is made anew. */
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

  /** Where it advises when to renew (RFC 9773 section 4.1), without a slash at the end; null when it does not. */
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
    // An account that is there is brought up to date by the library, which an authority may find needless.
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

/** The key of the account, which is kept: another one would be another account, with limits of its own to begin with. */
async function accountKey(acme: Acme, directory: string): Promise<string> {
  const file = accountKeyFile(directory)
  if (existsSync(file)) return readFileSync(file, 'utf8')
  const key = (await acme.crypto.createPrivateEcdsaKey('P-256')).toString()
  writePrivateFile(file, key)
  return key
}
