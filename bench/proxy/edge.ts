import { scryptSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Edge } from '../../proxy/protocol.ts'

/** An application that asks for much at its edge, the same of each proxy. */

export const EDGE_HOST = 'edge.test'
/** The host of an application that asks for nothing, but has an edge in the table. */
export const EMPTY_EDGE_HOST = 'empty-edge.test'

const USER = 'ada'
const PASSWORD = 'correct horse'
/** More than any load sends. */
const REQUESTS_PER_SECOND = 1_000_000
/** The address of the load comes last. */
const RANGES = [
  ...Array.from({ length: 999 }, (_, number) => `10.${number >> 8}.${number & 255}.0/24`),
  '127.0.0.0/8',
]
const REDIRECTS = Array.from({ length: 10 }, (_, number) => ({
  from: `/old-${number}`,
  to: `/new-${number}`,
}))
const HEADERS: readonly [name: string, value: string][] = [
  ['X-Frame-Options', 'DENY'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Permissions-Policy', 'camera=(), microphone=()'],
  ['Content-Security-Policy', "default-src 'self'"],
]

/** What the load sends in addition. */
export const EDGE_FIELDS = [`Authorization: Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`]

export const EDGE: Edge = {
  allow: RANGES,
  redirects: REDIRECTS.map(({ from, to }) => ({ from: `${from}/*`, to: `${to}/:splat`, status: 308 })),
  rate_limit: { requests: REQUESTS_PER_SECOND, period_seconds: 1, burst: REQUESTS_PER_SECOND },
  basic_auth: { users: [{ username: USER, hash: hash() }], except_paths: ['/webhooks/*'] },
  headers: HEADERS.map(([name, value]) => ({ path: '/*', name, value })),
}

function hash(): string {
  const salt = Buffer.alloc(16)
  const encode = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  return `$scrypt$ln=14,r=8,p=5$${encode(salt)}$${encode(scryptSync(PASSWORD, salt, 32, { N: 2 ** 14, r: 8, p: 5 }))}`
}

/** Returns the same for nginx, which compares the password in plain text: with a hash, each request would cost one. */
export function edgeConfiguration(folder: string): { http: string; server: string } {
  const users = join(folder, 'users')
  writeFileSync(users, `${USER}:{PLAIN}${PASSWORD}\n`)
  const lines = [
    ...RANGES.map((range) => `allow ${range};`),
    'deny all;',
    ...REDIRECTS.map(({ from, to }) => `rewrite ^${from}/(.*)$ ${to}/$1 permanent;`),
    `limit_req zone=clients burst=${REQUESTS_PER_SECOND} nodelay;`,
    `auth_basic Restricted; auth_basic_user_file ${users};`,
    ...HEADERS.map(([name, value]) => `add_header ${name} "${value}";`),
  ]
  return {
    http: `limit_req_zone $binary_remote_addr zone=clients:2m rate=${REQUESTS_PER_SECOND}r/s;`,
    server: lines.join('\n'),
  }
}
