import { takeRandom } from './random.ts'

/** The prefix of every kind of id. */
export const ID_PREFIXES = {
  service: 'srv',
  deploy: 'dep',
  job: 'job',
  datastore: 'dbs',
  backup: 'bak',
  serverBackup: 'sbk',
  diskBackup: 'dbk',
  envGroup: 'evg',
  gitConnection: 'git',
  delivery: 'dlv',
  token: 'tok',
  environment: 'env',
  domain: 'dom',
  session: 'ses',
  passkey: 'psk',
  user: 'usr',
  cliLogin: 'cli',
  certificate: 'crt',
  blueprint: 'blp',
  notification: 'ntf',
  logDrain: 'drn',
  auditEvent: 'aud',
  registryCredential: 'reg',
  redirectHost: 'rdr',
  serviceEvent: 'evt',
  shell: 'shl',
  node: 'nod',
} as const

export type IdKind = keyof typeof ID_PREFIXES

/** Anything that looks like an id. A name must not match it. */
export const ID_PATTERN = /^[a-z]{3}-[0-9a-f]{20}$/

/** A new id: the kind's prefix, a hyphen, 20 hex characters from the system's random source. */
export function newId(kind: IdKind): string {
  return `${ID_PREFIXES[kind]}-${takeRandom(10).toString('hex')}`
}

/** Whether `text` has the form of an id of this kind. */
export function isId(kind: IdKind, text: string): boolean {
  return ID_PATTERN.test(text) && text.startsWith(`${ID_PREFIXES[kind]}-`)
}

/** The kind of an id in the words of the API, such as `env_group`; null for a text that is not one. */
export function kindOfId(text: string): string | null {
  if (!ID_PATTERN.test(text)) return null
  const kind = Object.entries(ID_PREFIXES).find(([, prefix]) => text.startsWith(`${prefix}-`))?.[0]
  return kind?.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) ?? null
}

/** `bytes` random bytes as hex, for tokens, keys and secrets. */
export function randomHex(bytes: number): string {
  return takeRandom(bytes).toString('hex')
}
