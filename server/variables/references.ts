/** What a reference can point at. */
export type TargetKind = 'service' | 'datastore'

/** The properties of each kind; the first is meant where none is named. A service also has `env.KEY`. */
export const PROPERTIES = {
  service: ['hostport', 'host', 'port', 'url'],
  datastore: ['url', 'host', 'port', 'database', 'username', 'password'],
} as const satisfies Record<TargetKind, readonly string[]>

/** `${{service.api.host}}`, taken apart. */
export interface Reference {
  kind: TargetKind
  name: string
  /** A property of the kind, or `env.KEY`. */
  property: string
  /** Of `env.KEY`; null for every other property. */
  key: string | null
}

/** Text as it is delivered, or a reference in its place. */
export type Part = string | Reference

/** What is wrong with a reference, in words that may follow a field's path. */
export class ReferenceFault extends Error {
  override readonly name = 'ReferenceFault'
  /** The variable whose value cannot be resolved; empty where only a value was looked at. */
  readonly key: string
  /** What is not there, or lacks what is referred to; null where something else is wrong. */
  readonly missing: string | null

  constructor(message: string, key = '', missing: string | null = null) {
    super(message)
    this.key = key
    this.missing = missing
  }
}

/** Ends every refusal of a reference: its writer may have meant the text. */
export const ESCAPE_HINT = 'write $${{ where the text ${{ itself is meant'

/** How a reference begins. */
export const OPENING = '${{'
const CLOSING = '}}'

/**
 * Takes a value apart: text, references, and `$${{` as the text `${{`. Throws ReferenceFault where `${{` begins no
 * reference; it does not quote the value, which may be a secret.
 */
export function parseValue(value: string): Part[] {
  const parts: Part[] = []
  let at = 0
  for (let start = value.indexOf(OPENING); start !== -1; start = value.indexOf(OPENING, at)) {
    if (value[start - 1] === '$') {
      parts.push(value.slice(at, start - 1), OPENING)
      at = start + OPENING.length
      continue
    }
    const end = value.indexOf(CLOSING, start)
    if (end === -1) throw new ReferenceFault('holds ${{ without the }} that ends a reference')
    parts.push(value.slice(at, start), parseReference(value.slice(start + OPENING.length, end)))
    at = end + CLOSING.length
  }
  parts.push(value.slice(at))
  return parts.filter((part) => part !== '')
}

/** A reference as it is written, with its property. */
export function writeReference({ kind, name, property }: Reference): string {
  return `${OPENING}${kind}.${name}.${property}${CLOSING}`
}

/** `kind.name` or `kind.name.property`, with blanks around it. */
const REFERENCE = /^[ \t]*(service|datastore)\.([a-z0-9-]+)(?:\.([A-Za-z0-9_.]+))?[ \t]*$/
const OWN_VARIABLE = /^env\.([A-Za-z_][A-Za-z0-9_]*)$/

function parseReference(content: string): Reference {
  const [, kind, name, named] = (REFERENCE.exec(content) ?? []) as [unknown, TargetKind?, string?, string?]
  if (kind === undefined || name === undefined) {
    throw new ReferenceFault(
      'holds ${{ that begins no reference such as ${{service.NAME.PROP}} or ${{datastore.NAME.PROP}}',
    )
  }
  const property = named ?? PROPERTIES[kind][0]
  const key = kind === 'service' ? (OWN_VARIABLE.exec(property)?.[1] ?? null) : null
  if (key === null && !(PROPERTIES[kind] as readonly string[]).includes(property)) {
    const known = [...PROPERTIES[kind], ...(kind === 'service' ? ['env.KEY'] : [])]
    throw new ReferenceFault(
      `holds ${writeReference({ kind, name, property, key })}, but a ${kind} has ${known.join(', ')} only`,
    )
  }
  return { kind, name, property, key }
}
