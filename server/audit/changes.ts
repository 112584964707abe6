import { z } from 'zod'
import { showing } from '../access/shown.ts'
import { kindOfId } from '../ids.ts'

/** At most so many changes of one event are told, and so many characters of a value. */
const MAX_CHANGES = 50
const MAX_CHARACTERS = 200

/** Fields that change by themselves. */
const OWN = /(?:^|_)at$/

/** Something that is compared, and never told. */
class Hidden {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

/**
 * What the log may tell of an answer with this schema: what a caller sees who may see no secrets. Undefined for an answer
 * without a schema. Throws ZodError for an answer that does not fit.
 */
export function tellable(schema: unknown, answer: unknown): unknown {
  if (!(schema instanceof z.ZodType)) return undefined
  const sight = { secrets: false, reach: null, inPlace: (secret: unknown) => new Hidden(secret) }
  return showing(schema)(schema.parse(answer), sight)
}

/**
 * What an update changed of a state that may be told, as sentences: `port: 3000 -> 8080`, `env.KEY: changed`. What else follows
 * from the fields that were given is not what was changed. If the state has none of them, as variables do not have `set` and
 * `unset`, all of it is compared.
 */
export function changesBetween(before: unknown, after: unknown, given: unknown, name = ''): string[] {
  const fields = Object.keys(given ?? {}).filter((field) => hasField(before, field))
  if (fields.length === 0) return capped(differences(name, before, after))
  const changed = [...differences(name, picked(before, fields), picked(after, fields))]
  // Of what a state does not show, such as a password, or only the end of, nobody can say whether it is another one.
  const unseen = leaves(name, given, after).filter(
    (leaf) => isUnseen(leaf) && !changed.some((sentence) => sentence.startsWith(`${leaf.path}:`)),
  )
  return capped([...changed, ...unseen.map(sentenceOf)])
}

/**
 * The fields that were given, as sentences: `image: nginx` if `told`, what may be told of the answer, has the field, and
 * otherwise `env.KEY: set`. So the log has no value that the answer does not show.
 */
export function fieldsOf(given: unknown, told?: unknown): string[] {
  return capped(leaves('', given, told).map(sentenceOf))
}

/** The value of a variable is there as it is. Null in the place of a value is how answers show passwords. */
function isUnseen({ given, told }: Leaf): boolean {
  if (told === null) return given !== null && given !== ''
  if (isMasked(told)) return given !== told
  return told === undefined || (told instanceof Hidden && !(given instanceof Hidden))
}

/** Whether a text is shown with asterisks in the place of a secret part, as the credentials of a repository's URL are. */
function isMasked(told: unknown): boolean {
  return typeof told === 'string' && told.includes('***')
}

/** A value that was given, and what may be told of it. */
interface Leaf {
  path: string
  given: unknown
  told: unknown
}

/** The values inside of what was given, at any depth. */
function leaves(path: string, given: unknown, told: unknown): Leaf[] {
  const known = new Map(partsOf(told))
  return partsOf(given).flatMap(([key, value]) => {
    const leaf = { path: join(path, key), given: value, told: known.get(key) }
    const isDeeper = !isWhole(value) && (leaf.told === undefined || !isWhole(leaf.told))
    return isDeeper ? leaves(leaf.path, value, leaf.told) : [leaf]
  })
}

function sentenceOf(leaf: Leaf): string {
  const { path, given, told } = leaf
  if (told instanceof Hidden || (isMasked(told) && isUnseen(leaf))) return `${path}: set`
  if (!isUnseen(leaf)) return `${path}: ${textOf(told)}`
  return `${path}: ${told === undefined && isPlain(given) ? textOf(given) : 'set'}`
}

/** Whether a value is none that could be a secret, whatever it is for. */
function isPlain(given: unknown): boolean {
  if (typeof given === 'string') return kindOfId(given) !== null
  return given === null || typeof given === 'boolean' || typeof given === 'number'
}

function* differences(path: string, before: unknown, after: unknown): Generator<string> {
  const [old, now] = [new Map(partsOf(before)), new Map(partsOf(after))]
  for (const key of new Set([...old.keys(), ...now.keys()])) {
    const name = join(path, key)
    const [left, right] = [old.get(key), now.get(key)]
    if (OWN.test(key) || JSON.stringify(left) === JSON.stringify(right)) continue
    if (!now.has(key)) yield `${name}: removed`
    else if (!old.has(key)) yield `${name}: added`
    else if (left instanceof Hidden || right instanceof Hidden) yield `${name}: changed`
    else if (isWhole(left) || isWhole(right)) yield `${name}: ${textOf(left)} -> ${textOf(right)}`
    else yield* differences(name, left, right)
  }
}

/** The parts of an object that have a value; of a list of records, its members by their names. */
function partsOf(given: unknown): [string, unknown][] {
  if (isWhole(given)) return []
  const parts: [string, unknown][] = Array.isArray(given)
    ? uniquely(given.map(memberOf))
    : Object.entries(given as object)
  return parts.filter(([, value]) => value !== undefined)
}

/** Members of which two have the same name are told by their places. */
function uniquely(members: [string, unknown][]): [string, unknown][] {
  const isUnique = new Set(members.map(([name]) => name)).size === members.length
  return isUnique ? members : members.map(([, member], at) => [String(at), member])
}

/** Of a variable, nothing but its name is told. */
function memberOf(member: unknown, index: number): [string, unknown] {
  const { key, name, username, id, ...rest } = member as Record<string, unknown>
  if (typeof key === 'string') return [key, new Hidden(rest)]
  return [[name, username, id].find((each) => typeof each === 'string') ?? String(index), member]
}

/** Whether something is told as one value: not a record, nor a list of records. */
function isWhole(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || given instanceof Hidden) return true
  return (
    Array.isArray(given) && !(given.length > 0 && given.every((each) => typeof each === 'object' && each))
  )
}

function hasField(record: unknown, field: string): boolean {
  return (
    typeof record === 'object' && record !== null && !Array.isArray(record) && Object.hasOwn(record, field)
  )
}

function picked(record: unknown, fields: readonly string[]): unknown {
  return Object.fromEntries(Object.entries(record ?? {}).filter(([field]) => fields.includes(field)))
}

function textOf(value: unknown): string {
  if (!isWhole(value)) return 'set'
  if (value === null || value === undefined || value === '') return 'none'
  const text = typeof value === 'string' ? value : JSON.stringify(value, masked)
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}...` : text
}

/** For values inside of one that is told as a whole. */
function masked(_: string, part: unknown): unknown {
  return part instanceof Hidden ? '***' : part
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function capped(sentences: Iterable<string>): string[] {
  const all = [...sentences]
  const more = all.length - MAX_CHANGES
  return more > 0 ? [...all.slice(0, MAX_CHANGES), `${more} more`] : all
}
