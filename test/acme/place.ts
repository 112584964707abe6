import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { request, type RequestOptions } from 'node:https'
import { text } from 'node:stream/consumers'
import { connect, type ConnectionOptions, type DetailedPeerCertificate } from 'node:tls'
import { expect } from 'vitest'
import {
  startAuthority,
  startNameServer,
  type Authority,
  type AuthorityOptions,
  type NameServer,
} from '../stand/acme.ts'
import { databaseOf } from '../support/database.ts'
import { startServer, type ServerOptions, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'

/** A server on the real ports of its own loopback address, to which every name resolves, and an authority that looks there. */
export interface Place {
  ip: string
  names: NameServer
  authority: Authority
  server: TestServer
  /** The entry of a host in GET /certificates. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as an answer of the API
  entry(host: string): Promise<any>
  /** Waits until a host has this state; returns its entry. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as an answer of the API
  reaches(host: string, state: string, limitMs?: number): Promise<any>
  /** The certificate that a host shows, which must be from the authority unless told otherwise. */
  shown(host: string, options?: ConnectionOptions): Promise<DetailedPeerCertificate>
  /** Waits until one more host of this service has a certificate, and removes it: the check that found it due found all others. */
  certifiesAnother(service: string): Promise<void>
  /** Waits until the server has checked what is due, and asserts that it ordered nothing: one more host of this service waits too. */
  certifiesNone(service: string): Promise<void>
  /** A request over HTTPS; returns its status. */
  ask(host: string, options?: RequestOptions): Promise<{ status: number; body: string; headers: object }>
  stop(): Promise<void>
}

export interface PlaceOptions {
  server?: ServerOptions
  authority?: Partial<AuthorityOptions>
  /** The name server for everybody, given the address that names shall resolve to; by default one of the place's own. */
  names?: (ip: string) => Promise<NameServer>
  /** The port at which the authority looks for HTTP-01, 80 unless told otherwise. */
  httpPort?: number
  /** Puts a server in front of the authority; returns the directory to use in its place. */
  before?: (authority: Authority) => Promise<string>
}

export async function startPlace({ server: wanted = {}, ...options }: PlaceOptions = {}): Promise<Place> {
  const ip = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const { httpPort = 80 } = options
  const names = options.names ? await options.names(ip) : await startNameServer()
  await names.setDefault(ip)
  const authority = await startAuthority({ dns: names, httpPort, httpsPort: 443, ...options.authority })
  const directory = (await options.before?.(authority)) ?? authority.directory
  const server = await startServer({
    ...wanted,
    flags: [
      ...['--http-listen', `${ip}:${httpPort}`, '--https-listen', `${ip}:443`, '--public-ip', ip],
      ...['--dns-resolvers', names.address, '--base-domain', 'example.com', '--dashboard-host', 'off'],
      ...['--acme-directory', directory, '--acme-ca-file', authority.caFile],
      ...(wanted.flags ?? []),
    ],
  })
  let others = 0
  const withAnother = async (service: string, use: (host: string) => Promise<unknown>): Promise<void> => {
    const host = `another${++others}.example.net`
    await server.api('POST', `/services/${service}/domains`, { domain: host })
    await use(host)
    await server.api('DELETE', `/services/${service}/domains/${host}`)
  }
  /** A check records every host that it has not seen, before anything else. */
  const met = (host: string) =>
    waitFor(() => certificateRow(server.dataDirectory, host) !== undefined, `a look at ${host}`)
  const place: Place = {
    ip,
    names,
    authority,
    server,
    async entry(host) {
      const { body } = await server.api('GET', '/certificates')
      return body.find((entry: { host: string }) => entry.host === host)
    },
    reaches: (host, state, limitMs) =>
      waitFor(
        async () => {
          const entry = await place.entry(host)
          if (entry?.state !== state) throw new Error(`it is ${JSON.stringify(entry)}`)
          return entry
        },
        `${host} to be ${state}`,
        limitMs,
      ),
    certifiesAnother: (service) => withAnother(service, (host) => place.reaches(host, 'issued')),
    certifiesNone: (service) =>
      withAnother(service, async (first) => {
        await met(first)
        // The check that saw the first host has ended when the next one sees the second.
        await withAnother(service, met)
        expect(certificateRow(server.dataDirectory, first)).toMatchObject({ status: 'pending', error: null })
      }),
    async shown(host, more = {}) {
      const ca = more.rejectUnauthorized === false ? undefined : await authority.root()
      const socket = connect({ host: ip, port: 443, servername: host, ...(ca ? { ca } : {}), ...more })
      await once(socket, 'secureConnect')
      const certificate = socket.getPeerCertificate(true)
      socket.destroy()
      return certificate
    },
    async ask(host, more = {}) {
      const ca = await authority.root()
      const { promise, resolve, reject } = Promise.withResolvers<{
        status: number
        body: string
        headers: object
      }>()
      request(
        { host: ip, servername: host, ca, agent: false, ...more, headers: { host, ...more.headers } },
        (response) => {
          void text(response).then(
            (body) => resolve({ status: response.statusCode!, body, headers: response.headers }),
            reject,
          )
        },
      )
        .on('error', reject)
        .end()
      return promise
    },
    async stop() {
      await server.stop()
      await authority.stop()
      await names.stop()
    },
  }
  return place
}

/** What is stored about a certificate that a host needs. */
export interface CertificateRow {
  status: string
  error: string | null
  order_url: string | null
  retry_at: number | null
  version: string | null
}

export function certificateRow(dataDirectory: string, host: string): CertificateRow | undefined {
  const database = databaseOf(dataDirectory, { readOnly: true })
  try {
    return database.prepare('SELECT * FROM certificates WHERE id = ?').get(host) as CertificateRow | undefined
  } finally {
    database.close()
  }
}
