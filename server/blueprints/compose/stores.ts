import type { DatastoreKind } from '../../datastores/kinds.ts'
import { mappingAt, scalarAt } from '../builder.ts'
import { lookUp, warn, type Notes } from '../foreign.ts'
import type { Node } from '../nodes.ts'
import { wordsOf } from './commands.ts'
import type { ComposeVariable } from './environment.ts'
import { isBuilt, type ComposeProgram } from './file.ts'
import { missingIn, writtenIn, type ComposeScalar } from './interpolation.ts'
import { readLimits } from './limits.ts'
import { lostOfStore } from './volumes.ts'

/** Images that a datastore replaces, by their path at any registry. Similar ones contain extensions or modules. */
const STORE_IMAGES: Record<string, DatastoreKind> = {
  'library/postgres': 'relational',
  'docker/library/postgres': 'relational',
  'bitnami/postgresql': 'relational',
  'bitnamilegacy/postgresql': 'relational',
  'library/redis': 'keyvalue',
  'docker/library/redis': 'keyvalue',
  'bitnami/redis': 'keyvalue',
  'bitnamilegacy/redis': 'keyvalue',
  'valkey/valkey': 'keyvalue',
  'bitnami/valkey': 'keyvalue',
  'bitnamilegacy/valkey': 'keyvalue',
  'eqalpha/keydb': 'keyvalue',
}
/** Those whose tags also exist for the images here. */
const SAME_TAGS = new Set(['library/postgres', 'docker/library/postgres', 'valkey/valkey'])

export const PASSWORD_KEYS = ['POSTGRES_PASSWORD', 'POSTGRESQL_PASSWORD', 'REDIS_PASSWORD', 'VALKEY_PASSWORD']
export const USER_KEYS = ['POSTGRES_USER', 'POSTGRESQL_USERNAME']
export const DATABASE_KEYS = ['POSTGRES_DB', 'POSTGRESQL_DATABASE']

/** A setting of a database, in the file and here. */
export interface StoreSetting {
  /** In the form that variables are compared with; null when the file does not set it. */
  there: string | null
  /** Null when the server chooses. */
  here: string | null
}

/** A database of the file that becomes a datastore. */
export interface ComposeStore {
  program: ComposeProgram
  name: string
  kind: DatastoreKind
  password: string | null
  username: StoreSetting
  database: StoreSetting
}

/** The datastore that a program becomes, if it is one. */
export function readStore(program: ComposeProgram): ComposeStore | null {
  const { mapping, here, variables } = program
  const image = mapping.node.entries.get('image')
  if (image?.kind !== 'scalar' || isBuilt(mapping.node)) return null
  const kind = lookUp(STORE_IMAGES, splitImage(image.text).path)
  if (!kind) return null
  const given = (keys: readonly string[]) => variables.find(({ key }) => keys.includes(key))
  const isRelational = kind === 'relational'
  const user = isRelational ? given(USER_KEYS) : undefined
  const database = isRelational ? (given(DATABASE_KEYS) ?? user) : undefined
  const password = given(PASSWORD_KEYS)
  return {
    program,
    name: here,
    kind,
    password: (password && textOf(password)) || passwordOf(mapping.node.entries.get('command')),
    username: settingOf(user, isRelational),
    database: settingOf(database, isRelational),
  }
}

/** A variable's value, in the form that variables are compared with. */
function textOf({ key, value }: ComposeVariable): string {
  return value ? writtenIn(value) : `\${${key}}`
}

/** The password that the command of a key-value store sets, before interpolation. */
function passwordOf(command: Node | undefined): string | null {
  const { words } = wordsOf(command, writtenIn)
  const at = words.indexOf('--requirepass')
  // Otherwise it may be inside a script for a shell.
  return (
    words[at < 0 ? words.length : at + 1] ??
    /--requirepass[\s=]+["']?([^\s"']+)/.exec(words.join(' '))?.[1] ??
    null
  )
}

/** By default the image creates a user named postgres, and a database with the user's name. */
function settingOf(variable: ComposeVariable | undefined, isRelational: boolean): StoreSetting {
  if (!variable) return { there: isRelational ? 'postgres' : null, here: null }
  return { there: textOf(variable), here: variable.value && identifier(variable.value) }
}

/** A name that PostgreSQL accepts without quotes; null for one that comes from outside the file. */
function identifier(node: ComposeScalar): string | null {
  if (node.text === '' || missingIn(node).length > 0) return null
  return node.text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/g, '_')
    .replace(/^(?=\d|pg_)/, '_')
    .slice(0, 63)
}

/** Writes the datastore, and warns of each field of the file that has no counterpart in it. */
export function composeStore({ program, name, kind, username, database }: ComposeStore, notes: Notes): Node {
  const { mapping, variables } = program
  const { node } = mapping
  warn(notes, node, `becomes the datastore ${name}, with a password of its own and no data yet`)
  const image = mapping.scalar('image')!
  const { path, tag, digest } = splitImage(image.text)
  const missing = missingIn(image)
  const isPinned = digest !== undefined || (tag !== undefined && tag !== 'latest')
  const version = SAME_TAGS.has(path) && isPinned && !digest && missing.length === 0 ? tag : undefined
  if (missing.length > 0)
    warn(notes, image, `uses ${missing.join(', ')} from outside the file: set the version by hand`)
  else if (isPinned && version === undefined)
    warn(notes, image, `the datastore runs the server's own image and not ${image.text}`)
  for (const variable of variables) warnOfVariable(variable, { kind, username, database }, notes)
  for (const item of mapping.list('volumes')) warn(notes, item, lostOfStore(item))
  mapping.take('build')
  const { instances, ...limits } = readLimits(mapping, notes)
  if (instances) warn(notes, instances, 'a datastore runs one instance')
  mapping.end({
    command: "the datastore uses the server's settings: these are left out",
    entrypoint: "the datastore uses the server's settings: these are left out",
    ports: 'a datastore can be reached inside its environment, and from the host at its host_port',
    expose: 'a datastore can be reached inside its environment, and from the host at its host_port',
    healthcheck: 'the server checks a datastore itself',
    env_file:
      'the file is not read: if it names the database and its user, set database and username by hand',
    ...UNNEEDED,
  })
  const text = (value: string | null) => (value === null ? undefined : scalarAt(node.place, value))
  return mappingAt(node.place, {
    name: scalarAt(node.place, name),
    kind: scalarAt(node.place, kind),
    version: version === undefined ? undefined : scalarAt(image.place, version),
    database: text(database.here),
    username: text(username.here),
    ...limits,
  })
}

/** Fields that need no counterpart, and why. */
export const UNNEEDED: Record<string, string> = {
  restart: 'programs are always restarted here',
  depends_on:
    'services do not wait for each other here: a program must retry until what it needs is available',
  container_name: 'services are reached by name here',
  hostname: 'services are reached by name here',
  networks: 'an environment is one network here: it is left out',
  extends: 'what it extends is in another file, which is not read: copy its fields here',
  logging: 'the server keeps the logs',
  pull_policy: 'an image is pulled at each deploy',
}

function warnOfVariable(
  { key, value, node }: ComposeVariable,
  { kind, username, database }: Pick<ComposeStore, 'kind' | 'username' | 'database'>,
  notes: Notes,
): void {
  const isOfDatabase = DATABASE_KEYS.includes(key)
  if (PASSWORD_KEYS.includes(key)) warn(notes, node, `${key} is left out: the server generates the password`)
  else if (kind !== 'relational' || (!isOfDatabase && !USER_KEYS.includes(key)))
    warn(notes, node, `${key} is left out: a datastore does not use its image's settings`)
  else {
    const { here } = isOfDatabase ? database : username
    if (here === null) warn(notes, node, `the file does not say what ${key} is: the server chooses a name`)
    else if (here !== value?.text)
      warn(notes, node, `${key} is ${here} here, since names have only lowercase letters, digits and _`)
  }
}

/** An image's path without the registry, in Docker Hub's full form, with the tag and digest. */
function splitImage(image: string): { path: string; tag: string | undefined; digest: string | undefined } {
  const [, name = image, tag, digest] = /^([^@]*?)(?::([^:/@]*))?(?:@([^@]+))?$/.exec(image) ?? []
  const parts = name.split('/')
  const isHost = parts.length > 1 && /[.:]|^localhost$/.test(parts[0]!)
  const host = isHost ? parts.shift() : 'docker.io'
  const isHub = host === 'docker.io' || host === 'index.docker.io'
  return { path: (isHub && parts.length === 1 ? ['library', ...parts] : parts).join('/'), tag, digest }
}
