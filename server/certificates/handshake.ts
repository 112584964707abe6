import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import type { KeyedChain } from './pem.ts'

/** A handshake in memory takes milliseconds, with the longest keys some hundred. */
const HANDSHAKE_MS = 5_000

/**
 * Shows a certificate to a client of today's defaults, in memory: its key may be too short, or on a curve that TLS does
 * not have. Throws `Error` that says what to take instead.
 */
export async function assertShown({ chain, key }: KeyedChain): Promise<void> {
  // Loaded by the first who needs it: the library costs 8 MiB.
  const { connect, createSecureContext, TLSSocket } = await import('node:tls')
  const [ours, theirs] = duplexPair()
  try {
    const secureContext = createSecureContext({ cert: chain, key })
    const server = new TLSSocket(ours, { isServer: true, secureContext })
    // Whom it is from is its owner's to judge.
    const client = connect({ socket: theirs, rejectUnauthorized: false })
    // The client is told of the server's faults; of its own it tells twice.
    for (const side of [server, client]) side.on('error', () => {})
    await once(client, 'secureConnect', { signal: AbortSignal.timeout(HANDSHAKE_MS) })
  } catch (cause) {
    const { reason = 'no handshake' } = cause as { reason?: string }
    throw new Error(
      `certificate: no browser can be shown it (${reason}): it needs a key of RSA with 2048 bits, or of the curve P-256`,
      { cause },
    )
  } finally {
    ours.destroy()
    theirs.destroy()
  }
}
