import { createHmac, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { answerOf, beginningOf } from '#server/network/answers.ts'
import { publicHttpPort } from '#server/network/public-address.ts'
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

/** Requests a proof from a host at an address that only this server's data plane can give. */
export async function probeHost(host: string, address: string): Promise<Probe> {
  const nonce = randomBytes(NONCE_BYTES).toString('hex')
  const url = `http://${host}${VERIFICATION_PATH}`
  try {
    const { status, body } = await get(host, address, VERIFICATION_PATH + nonce)
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
      message: `this host cannot connect to ${address} port ${publicHttpPort()} (${why})`,
    }
  }
}

/** It does not use the client for other servers: the address was judged, and is asked as if the host resolved to it. */
async function get(host: string, address: string, path: string): Promise<{ status: number; body: string }> {
  const asked = request({
    host: address,
    port: publicHttpPort(),
    path,
    headers: { host },
    agent: false,
    signal: AbortSignal.timeout(PROBE_MS),
  })
  asked.end()
  const response = await answerOf(asked)
  // Even if the body was cut off, what arrived is compared.
  return { status: response.statusCode ?? 0, body: await beginningOf(response, MAX_ANSWER_CHARACTERS) }
}
