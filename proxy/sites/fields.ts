import { ascii } from '../http1/bytes.ts'
import { mediaType } from './media-types.ts'
import type { Coding } from '../compression/codings.ts'
import type { SiteFile } from './file.ts'
import type { Field } from './rules.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATED = 'public, max-age=0, must-revalidate'

/** Of which file an answer is made, and how. */
export interface Represented {
  file: SiteFile
  /** The name of the file before it was encoded. */
  name: string
  coding: Coding
  /** There are other codings to choose from. */
  varies: boolean
  /** The path stands for this content for ever. */
  immutable: boolean
  /** It says that nothing is there. */
  missing: boolean
  /** Of the site's rules; they replace those of the same name. */
  rules: readonly Field[]
}

/** The header lines of an answer that do not depend on the request. */
export interface FieldLines {
  /** What a 304 repeats too (RFC 9110 15.4.5). */
  validators: Uint8Array
  /** The same with what tells about the body. */
  all: Uint8Array
}

/** Puts the lines together, each with its CRLF. */
export function fieldLines(represented: Represented): FieldLines {
  const { file, name, coding, varies, immutable, missing } = represented
  // A 404 that is kept for long would outlive the file that is missing.
  const rules = represented.rules.filter(([name]) => !(missing && /^(?:cache-control|expires)$/i.test(name)))
  const set = new Set(rules.map(([name]) => name.toLowerCase()))
  const own = (fields: Field[]) => fields.filter(([name]) => !set.has(name.toLowerCase()))
  const validators: Field[] = own([['Cache-Control', immutable ? IMMUTABLE : REVALIDATED]])
  if (!missing) {
    validators.push(['ETag', file.etag], ['Last-Modified', new Date(file.modifiedAt).toUTCString()])
  }
  // Added to what the rules say it varies by.
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
