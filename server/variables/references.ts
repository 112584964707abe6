/** What a reference can refer to. */
export type TargetKind = 'service' | 'datastore'

/** The properties of each kind; the first is the default. A service also has `env.KEY`. */
export const PROPERTIES = {
  service: ['hostport', 'host', 'port', 'url'],
  datastore: ['url', 'host', 'port', 'database', 'username', 'password', 'ca_certificate'],
} as const satisfies Record<TargetKind, readonly string[]>

/** A parsed reference such as `${{service.api.host}}`. */
export interface Reference {
  kind: TargetKind
  name: string
  /** A property of the kind, or `env.KEY`. */
  property: string
  /** The key of `env.KEY`; null for every other property. */
  key: string | null
}

/** A piece of literal text, or a reference. */
export type Part = string | Reference

/** What is wrong with a reference, worded to follow a field's path. */
export class ReferenceFault extends Error {
  override readonly name = 'ReferenceFault'
  /** The variable whose value cannot be resolved; empty when only a value was checked. */
  readonly key: string
  /** What does not exist, or lacks the property; null when something else is wrong. */
  readonly missing: string | null

  constructor(message: string, key = '', missing: string | null = null) {
    super(message)
    this.key = key
    this.missing = missing
  }
}

/** The end of every message about a bad reference, since the text may have been meant literally. */
export const ESCAPE_HINT = 'write $${{ for a literal ${{'

/** How a reference begins. */
export const OPENING = '${{'
const CLOSING = '}}'

/**
 * Parses a value into text, references, and `$${{` as the text `${{`. Throws ReferenceFault when `${{` does not begin a
 * valid reference. The message does not quote the value, which may be a secret.
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
    if (end === -1) throw new ReferenceFault('contains ${{ without the }} that ends a reference')
    parts.push(value.slice(at, start), parseReference(value.slice(start + OPENING.length, end)))
    at = end + CLOSING.length
  }
  parts.push(value.slice(at))
  return parts.filter((part) => part !== '')
}

/** Formats a reference, with its property. */
export function writeReference({ kind, name, property }: Reference): string {
  return `${OPENING}${kind}.${name}.${property}${CLOSING}`
}

/** `kind.name` or `kind.name.property`, with optional spaces around it. */
const REFERENCE = /^[ \t]*(service|datastore)\.([a-z0-9-]+)(?:\.([A-Za-z0-9_.]+))?[ \t]*$/
const OWN_VARIABLE = /^env\.([A-Za-z_][A-Za-z0-9_]*)$/

function parseReference(content: string): Reference {
  const [, kind, name, named] = (REFERENCE.exec(content) ?? []) as [unknown, TargetKind?, string?, string?]
  if (kind === undefined || name === undefined) {
    throw new ReferenceFault(
      'contains ${{ that does not begin a reference such as ${{service.NAME.PROP}} or ${{datastore.NAME.PROP}}',
    )
  }
  const property = named ?? PROPERTIES[kind][0]
  const key = kind === 'service' ? (OWN_VARIABLE.exec(property)?.[1] ?? null) : null
  if (key === null && !(PROPERTIES[kind] as readonly string[]).includes(property)) {
    const known = [...PROPERTIES[kind], ...(kind === 'service' ? ['env.KEY'] : [])]
    throw new ReferenceFault(
      `contains ${writeReference({ kind, name, property, key })}, but a ${kind} only has ${known.join(', ')}`,
    )
  }
  return { kind, name, property, key }
}
