import { createHmac, randomBytes } from 'node:crypto'
import { request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import { answerOf, beginningOf } from '#server/network/answers.ts'
import { sameSecret } from '#server/secrets.ts'
import { VERIFICATION_PATH } from '#proxy/protocol.ts'
import { verificationKey } from '#server/domains/verification-key.ts'

/** Enough for a connection and an answer on a slow network. */
const PROBE_MS = 5_000
const NONCE_BYTES = 16
/** An answer is 64 characters. */
const MAX_ANSWER_CHARACTERS = 1_024

/** What answers at a host's address: this server, something else, or nothing that could be connected to. */
export interface Probe {
  outcome: 'here' | 'elsewhere' | 'unreachable'
  message: string
}

/** Where to ask. */
interface Place {
  address: string
  port: number
  /** Over TLS, whatever the certificate: the answer itself proves who gives it. */
  isSecure?: boolean
}

/**
 * Requests a proof from a host at an address that only this server's data plane can give. `signal` may end that earlier than
 * the 5 s that it takes at most.
 */
export async function probeHost(host: string, place: Place, signal?: AbortSignal): Promise<Probe> {
  const { address, port, isSecure = false } = place
  const nonce = randomBytes(NONCE_BYTES).toString('hex')
  const url = `${isSecure ? 'https' : 'http'}://${host}${VERIFICATION_PATH}`
  try {
    const { status, body } = await get(host, place, VERIFICATION_PATH + nonce, signal)
    const expected = createHmac('sha256', verificationKey()).update(nonce).digest('hex')
    if (status === 200 && sameSecret(body, expected))
      return { outcome: 'here', message: `this server answers ${url} at ${address}` }
    return {
      outcome: 'elsewhere',
      message: `something else answers ${url} at ${address} (status ${status})`,
    }
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    return {
      outcome: 'unreachable',
      message: `this host cannot connect to ${address} port ${port} (${why})`,
    }
  }
}

/** It does not use the client for other servers: the address was judged, and is asked as if the host resolved to it. */
async function get(
  host: string,
  { address, port, isSecure = false }: Place,
  path: string,
  signal: AbortSignal | undefined,
): Promise<{ status: number; body: string }> {
  const limit = AbortSignal.timeout(PROBE_MS)
  const asked = (isSecure ? requestByHttps : requestByHttp)({
    host: address,
    port,
    path,
    headers: { host },
    agent: false,
    signal: signal ? AbortSignal.any([limit, signal]) : limit,
    ...(isSecure ? { servername: host, rejectUnauthorized: false } : {}),
  })
  asked.end()
  const response = await answerOf(asked)
  // Even if the body was cut off, what arrived is compared.
  return { status: response.statusCode ?? 0, body: await beginningOf(response, MAX_ANSWER_CHARACTERS) }
}
