import { ascii } from '../http1/bytes.ts'
import { mediaType } from './media-types.ts'
import type { Coding } from '../compression/codings.ts'
import type { SiteFile } from './file.ts'
import type { Field } from './rules.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATED = 'public, max-age=0, must-revalidate'

/** The file that an answer is made from, and how. */
export interface Represented {
  file: SiteFile
  /** The name of the file before it was encoded. */
  name: string
  coding: Coding
  /** Whether there are other codings to choose from. */
  varies: boolean
  /** Whether the path always means this content. */
  immutable: boolean
  /** Whether the answer says that the page was not found. */
  missing: boolean
  /** Fields of the site's rules; they replace those with the same name. */
  rules: readonly Field[]
}

/** The header lines of an answer that do not depend on the request. */
export interface FieldLines {
  /** Those that a 304 repeats (RFC 9110 15.4.5). */
  validators: Uint8Array
  /** The same, and those that describe the body. */
  all: Uint8Array
}

/** Builds the lines, each with its CRLF. */
export function fieldLines(represented: Represented): FieldLines {
  const { file, name, coding, varies, immutable, missing } = represented
  // A 404 that is cached for long would remain after the missing file exists.
  const rules = represented.rules.filter(([name]) => !(missing && /^(?:cache-control|expires)$/i.test(name)))
  const set = new Set(rules.map(([name]) => name.toLowerCase()))
  const own = (fields: Field[]) => fields.filter(([name]) => !set.has(name.toLowerCase()))
  const validators: Field[] = own([['Cache-Control', immutable ? IMMUTABLE : REVALIDATED]])
  if (!missing) {
    validators.push(['ETag', file.etag], ['Last-Modified', new Date(file.modifiedAt).toUTCString()])
  }
  // In addition to a Vary field of the rules.
  if (varies) validators.push(['Vary', 'Accept-Encoding'])
  const body: Field[] = own([
    ['Content-Type', mediaType(name)],
    ['X-Content-Type-Options', 'nosniff'],
  ])
  if (coding !== null) body.push(['Content-Encoding', coding])
  if (!missing) body.push(['Accept-Ranges', 'bytes'])
  validators.push(...rules)
  return { validators: lines(validators), all: lines([...validators, ...body]) }
}

function lines(fields: readonly Field[]): Uint8Array {
  return ascii(fields.map(([name, value]) => `${name}: ${value}\r\n`).join(''))
}
