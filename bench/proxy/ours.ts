import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProxyClient } from '../../daemon/proxy/client.ts'
import { findProxy } from '../../daemon/proxy/find.ts'
import { connectOwnProxy } from '../../daemon/proxy/own-proxy.ts'
import type { RouteTable } from '../../proxy/protocol.ts'
import { processesWith } from '../lib/processes.ts'
import { EDGE, EDGE_HOST, EMPTY_EDGE_HOST } from './edge.ts'
import { moveTo, type Program, type Start } from './programs.ts'

/** A host without a certificate: requests for a host with one are redirected to TLS. */
export const PLAIN_HOST = 'app.test'
/** A host with a certificate. Tools send it as the TLS server name if it is in the URL. */
export const SECURE_HOST = 'localhost'
/** The host of the site. */
export const FILES_HOST = 'files.test'
/** The host of the application behind a bridge. */
export const BRIDGED_HOST = 'bridged.test'
/** The host of the application whose answers are compressed. */
export const WORDS_HOST = 'words.test'
/** The host of the application whose requests are logged. */
export const LOGGED_HOST = 'logged.test'
/** The host of the same site with a certificate. */
export const SECURE_FILES_HOST = 'files.localhost'

/** The host of the application that takes uploads. */
export const UPLOADS_HOST = 'uploads.localhost'

/** A data plane with its control connection. */
export interface OurProgram extends Program {
  client: ProxyClient
  table: RouteTable
}

/** Starts this project's data plane from its bundled program. */
export async function startOurs(start: Start, program: string): Promise<OurProgram> {
  const { folder, ports } = start
  const site = join(folder, 'site')
  mkdirSync(site)
  cpSync(start.files, join(site, 'files'), { recursive: true })
  writeFileSync(join(site, 'rules.json'), '{"redirects":[],"headers":[]}')
  const app = { instance: 'app-a', host: '127.0.0.1', port: start.upstreamPort }
  const bridged = start.bridged ? [{ instance: 'bridged-a', ...start.bridged }] : []
  const table: RouteTable = {
    version: 1,
    listeners: [
      { address: `127.0.0.1:${ports.plain}`, protocol: 'http' },
      { address: `127.0.0.1:${ports.secure}`, protocol: 'https' },
    ],
    hosts: {
      [PLAIN_HOST]: 'app',
      [SECURE_HOST]: 'app',
      [BRIDGED_HOST]: 'bridged',
      [WORDS_HOST]: 'words',
      [EDGE_HOST]: 'edge',
      [EMPTY_EDGE_HOST]: 'empty-edge',
      [LOGGED_HOST]: 'logged',
      [FILES_HOST]: 'files',
      [SECURE_FILES_HOST]: 'files',
      [UPLOADS_HOST]: 'uploads',
    },
    targets: {
      app: { id: 'app', state: 'serving', upstreams: [app] },
      bridged: {
        id: 'bridged',
        state: 'serving',
        upstreams: bridged.map(({ instance, host, port }) => ({ instance, host, port })),
      },
      uploads: {
        id: 'uploads',
        state: 'serving',
        upstreams: [{ instance: 'uploads-a', host: '127.0.0.1', port: start.uploadsPort }],
      },
      edge: { id: 'edge', state: 'serving', upstreams: [app], edge: EDGE },
      'empty-edge': { id: 'empty-edge', state: 'serving', upstreams: [app], edge: {} },
      logged: { id: 'logged', state: 'serving', upstreams: [app], edge: { access_log: true } },
      words: { id: 'words', state: 'serving', upstreams: [app], compression: true },
      files: { id: 'files', state: 'serving', upstreams: [], site: { folder: site, earlier: [] } },
    },
    zones: {},
    certificates: {
      [SECURE_HOST]: start.certificate,
      [SECURE_FILES_HOST]: start.certificate,
      [UPLOADS_HOST]: start.certificate,
    },
    acme_challenges: {},
    tls_challenges: {},
    verification_key: '',
    hsts_seconds: 0,
    h2c: false,
    trusted_proxies: [],
    upstream_timeout_ms: 30_000,
    max_connections_per_ip: 10_000,
  }
  const client = await connectOwnProxy({
    dataDirectory: folder,
    serverId: 'bench',
    version: '0',
    program,
    node: process.execPath,
    workers: start.workers,
    log: () => {},
    table,
  }).catch(async (error: unknown) => {
    // Without a table, it would keep running.
    await (await findProxy(folder))?.stop()
    throw error
  })
  const pids = () => processesWith('deployer-proxy', folder)
  moveTo(start.cores, pids())
  return {
    client,
    table,
    plainPort: ports.plain,
    securePort: ports.secure,
    filesPort: ports.plain,
    pids,
    workers: () => processesWith('deployer-proxy worker', folder),
    stop: () => client.stopAll(),
  }
}
