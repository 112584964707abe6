import { DATASTORE_KIND } from '../datastores/kind.ts'
import { SERVICE_TYPE } from '../service/type.ts'
import type { DatastoreKind, ServiceType } from '../api/types.ts'

/** What variables of an environment can refer to. */
export interface Targets {
  datastores: readonly { name: string; kind: DatastoreKind }[]
  /** The service that holds the variables is none of them. */
  services: readonly { name: string; type: ServiceType }[]
}

/** A reference that is being written: where what it says begins, and that. */
export interface Spot {
  start: number
  typed: string
}

export interface Suggestion {
  /** What stands between the braces. */
  content: string
  detail: string
  /** Whether more is to be written after it. */
  isOpen: boolean
}

/** Begins a reference in a value. */
export const OPENING = '${{'
const CLOSING = '}}'
/** Types whose hosts are on the internet. */
const PUBLIC: ReadonlySet<ServiceType> = new Set(['web_service', 'static_site'])

const DATASTORE_PROPERTIES: [property: string, detail: string][] = [
  ['url', 'address with password'],
  ['host', 'host'],
  ['port', 'port'],
  ['database', 'database'],
  ['username', 'user'],
  ['password', 'password'],
]

/** The reference that is being written where the cursor stands; null elsewhere. `$${{` is meant as it stands. */
export function spotAt(text: string, cursor: number): Spot | null {
  const at = text.slice(0, cursor).lastIndexOf(OPENING)
  if (at < 0 || text[at - 1] === '$') return null
  const start = at + OPENING.length
  const written = text.slice(start, cursor)
  return /^[ \t]*[\w.-]*$/.test(written) ? { start, typed: written.trim() } : null
}

/** The service whose own variables are being named; null when none is. */
export function serviceNamed(typed: string): string | null {
  return /^service\.([a-z0-9-]+)\.env\./.exec(typed)?.[1] ?? null
}

/** What fits what is written; `keys` are the variables of the service that `serviceNamed` tells. */
export function suggestionsFor(typed: string, targets: Targets, keys: readonly string[]): Suggestion[] {
  const service = serviceNamed(typed)
  const all =
    service === null
      ? [...targets.datastores.flatMap(ofDatastore), ...targets.services.flatMap(ofService)]
      : keys.map((key) => suggestion(`service.${service}.env.${key}`, `variable of ${service}`))
  const words = typed.toLowerCase().split('.').filter(Boolean)
  return all.filter(({ content }) => {
    // A name is found by how it, or a word of it, begins.
    const text = `.${content.toLowerCase()}`
    return words.every((word) => ['.', '-', '_'].some((mark) => text.includes(mark + word)))
  })
}

/** The text with a suggestion in the place of what was written of it, and where the cursor stands then. */
export function complete(
  text: string,
  { start }: Spot,
  { content, isOpen }: Suggestion,
): { text: string; cursor: number } {
  // What follows of the word, and the braces where they were closed already.
  const rest = text.slice(start).replace(/^[ \t]*[\w.-]*([ \t]*\}\})?/, '')
  const written = content + (isOpen ? '' : CLOSING)
  return { text: text.slice(0, start) + written + rest, cursor: start + written.length }
}

function ofDatastore({ name, kind }: Targets['datastores'][number]): Suggestion[] {
  const { label } = DATASTORE_KIND[kind]
  return DATASTORE_PROPERTIES.filter(([property]) => property !== 'database' || kind === 'relational').map(
    ([property, detail]) => suggestion(`datastore.${name}.${property}`, `${label}, ${detail}`),
  )
}

function ofService({ name, type }: Targets['services'][number]): Suggestion[] {
  const { label, listens } = SERVICE_TYPE[type]
  const own = (property: string, detail: string) =>
    suggestion(`service.${name}.${property}`, `${label}, ${detail}`)
  return [
    ...(listens ? [own('hostport', 'host and port'), own('host', 'host'), own('port', 'port')] : []),
    ...(PUBLIC.has(type) ? [own('url', 'public address')] : []),
    { ...own('env.', 'one of its variables'), isOpen: true },
  ]
}

function suggestion(content: string, detail: string): Suggestion {
  return { content, detail, isOpen: false }
}
