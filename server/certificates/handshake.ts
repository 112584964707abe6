import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import type { KeyedChain } from './pem.ts'

/** A handshake in memory takes milliseconds, with the longest keys a few hundred. */
const HANDSHAKE_MS = 5_000

/**
 * Does a handshake in memory with a client that has today's defaults: the certificate's key may be too short, or on a curve
 * that TLS does not have. Throws an `Error` that says which key to use instead.
 */
export async function assertUsableForTls({ chain, key }: KeyedChain): Promise<void> {
  // Loaded on first use: the library takes 8 MiB of memory.
  const { connect, createSecureContext, TLSSocket } = await import('node:tls')
  const [ours, theirs] = duplexPair()
  try {
    const secureContext = createSecureContext({ cert: chain, key })
    const server = new TLSSocket(ours, { isServer: true, secureContext })
    // The issuer may be one that only the owner trusts.
    const client = connect({ socket: theirs, rejectUnauthorized: false })
    // The client is sent the server's errors, and `once` below already rejects with its own.
    for (const side of [server, client]) side.on('error', () => {})
    await once(client, 'secureConnect', { signal: AbortSignal.timeout(HANDSHAKE_MS) })
  } catch (cause) {
    const { reason = 'no handshake' } = cause as { reason?: string }
    throw new Error(
      `certificate: cannot be used for HTTPS (${reason}): it needs an RSA key of at least 2048 bits, or a P-256 key`,
      { cause },
    )
  } finally {
    ours.destroy()
    theirs.destroy()
  }
}
