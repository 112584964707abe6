import { once } from 'node:events'
import { join } from 'node:path'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import type { CertificateFiles, RouteTable, Upstream } from '../../proxy/protocol.ts'
import { ADDRESS, HOST, tableOf } from './stand.ts'

/** The plain and the encrypted listener: two addresses, since a table names each once. */
const SECURE_ADDRESS = '127.0.0.2:0'

/** A certificate of the tests by its name. */
export function certificate(name: 'app' | 'renewed' | 'wildcard'): CertificateFiles {
  const folder = join(import.meta.dirname, 'certificates')
  return { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) }
}

/** A table with one host that is served with and without TLS. */
export function secureTable(upstreams: Upstream[], more: Partial<RouteTable> = {}): RouteTable {
  return tableOf(upstreams, {
    listeners: [
      { address: ADDRESS, protocol: 'http' },
      { address: SECURE_ADDRESS, protocol: 'https' },
    ],
    certificates: { [HOST]: certificate('app') },
    ...more,
  })
}

/** A connection whose handshake is done; rejects if that fails. */
export async function secureConnection(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({
    host: '127.0.0.2',
    port,
    servername: HOST,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: false,
    ...options,
  })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  return socket
}

/** The name in the certificate that was shown. */
export function shownName(socket: TLSSocket): unknown {
  return socket.getPeerCertificate().subject.CN
}
