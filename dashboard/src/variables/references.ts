import { DATASTORE_KIND } from '../datastores/kind.ts'
import { SERVICE_TYPE } from '../service/type.ts'
import type { DatastoreKind, ServiceType } from '../api/types.ts'

/** What variables of an environment can refer to. */
export interface Targets {
  datastores: readonly { name: string; kind: DatastoreKind }[]
  /** Does not include the service that holds the variables. */
  services: readonly { name: string; type: ServiceType }[]
}

/** A reference that is being typed: where its content starts, and its content so far. */
export interface Spot {
  start: number
  typed: string
}

export interface Suggestion {
  /** What is between the braces. */
  content: string
  detail: string
  /** Whether more has to be typed after it. */
  isOpen: boolean
}

/** Opens a reference in a value. */
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
  ['ca_certificate', 'certificate to verify it'],
]

/** The reference that is being typed at the cursor; null elsewhere. `$${{` is literal. */
export function spotAt(text: string, cursor: number): Spot | null {
  const at = text.slice(0, cursor).lastIndexOf(OPENING)
  if (at < 0 || text[at - 1] === '$') return null
  const start = at + OPENING.length
  const written = text.slice(start, cursor)
  return /^[ \t]*[\w.-]*$/.test(written) ? { start, typed: written.trim() } : null
}

/** The service whose variables are being referred to; null for none. */
export function serviceNamed(typed: string): string | null {
  return /^service\.([a-z0-9-]+)\.env\./.exec(typed)?.[1] ?? null
}

/** The suggestions that match what is typed; `keys` are the variables of the service that `serviceNamed` returns. */
export function suggestionsFor(typed: string, targets: Targets, keys: readonly string[]): Suggestion[] {
  const service = serviceNamed(typed)
  const all =
    service === null
      ? [...targets.datastores.flatMap(ofDatastore), ...targets.services.flatMap(ofService)]
      : keys.map((key) => suggestion(`service.${service}.env.${key}`, `variable of ${service}`))
  const words = typed.toLowerCase().split('.').filter(Boolean)
  return all.filter(({ content }) => {
    // A name is found by its beginning, or that of a word in it.
    const text = `.${content.toLowerCase()}`
    return words.every((word) => ['.', '-', '_'].some((mark) => text.includes(mark + word)))
  })
}

/** The text with a suggestion in place of what was typed, and the new position of the cursor. */
export function complete(
  text: string,
  { start }: Spot,
  { content, isOpen }: Suggestion,
): { text: string; cursor: number } {
  // The rest of the word, and the closing braces if they are there.
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
