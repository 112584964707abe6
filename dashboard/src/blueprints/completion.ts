/** The parts of a JSON Schema that completion reads. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  description?: string
  examples?: unknown[]
  properties?: Record<string, Schema>
  items?: Schema
  definitions?: Record<string, Schema>
}

/** A completion that fits at the cursor. */
export interface Suggestion {
  label: string
  detail: string
  info?: string
  insert: string
}

/** Where the cursor is: the keys that lead there (`[]` is an item of a list), and what is being written. */
interface Spot {
  path: string[]
  /** The key whose value is being written; null while a key is being written. */
  key: string | null
  /** The keys that the mapping already has. */
  taken: Set<string>
  word: string
}

const LINE = /^( *)((?:- +)*)(?:([\w$-]+):(?: +(.*))?)?$/
const KEY_BEING_WRITTEN = /^( *)((?:- +)*)([\w$-]*)$/
const VALUE_BEING_WRITTEN = /^( *)((?:- +)*)([\w$-]+): +([\w.-]*)$/

/** Completions for the end of the last of these lines, with the length of what is already written. */
export function suggestionsAt(
  before: readonly string[],
  after: readonly string[],
  schema: Schema,
): { suggestions: Suggestion[]; length: number } {
  const spot = spotAt(before, after)
  const place = spot && spot.path.reduce<Schema | undefined>((at, step) => stepInto(at, step, schema), schema)
  if (!spot || !place) return { suggestions: [], length: 0 }
  const suggestions =
    spot.key === null ? keysOf(place, spot.taken, schema) : valuesOf(stepInto(place, spot.key, schema))
  return { suggestions, length: spot.word.length }
}

/** Finds the path to the last line by indentation only: a file that is being written is rarely valid. */
function spotAt(before: readonly string[], after: readonly string[]): Spot | null {
  const line = before.at(-1) ?? ''
  const value = VALUE_BEING_WRITTEN.exec(line)
  const found = value ?? KEY_BEING_WRITTEN.exec(line)
  if (!found) return null
  const [, indent = '', dashes = ''] = found
  const column = indent.length + dashes.length
  const taken = new Set<string>()
  const path: string[] = []
  let at = column
  let inList = dashes !== ''
  if (inList) {
    path.unshift('[]')
    at = indent.length
  }
  let isOwn = !inList
  for (const text of before.slice(0, -1).toReversed()) {
    if (/^\s*(?:#|$)/.test(text)) continue
    const [, spaces = '', marks = '', key] = LINE.exec(text) ?? []
    const start = spaces.length
    const keyColumn = start + marks.length
    if (isOwn && keyColumn === column && key !== undefined) taken.add(key)
    if (marks !== '' && start < at) {
      // The item that this belongs to; its list is the value of a key at most as far in.
      path.unshift('[]')
      at = start
      inList = true
      isOwn = false
    } else if (marks === '' && key !== undefined && (inList ? keyColumn <= at : keyColumn < at)) {
      path.unshift(key)
      at = keyColumn
      inList = false
      isOwn = false
    }
  }
  for (const text of after) {
    if (/^\s*(?:#|$)/.test(text)) continue
    const [, spaces = '', marks = '', key] = LINE.exec(text) ?? []
    if (spaces.length < column || marks !== '') break
    if (spaces.length === column && key !== undefined) taken.add(key)
  }
  return { path, key: value ? value[3]! : null, taken, word: (value ? value[4] : found[3]) ?? '' }
}

function stepInto(at: Schema | undefined, step: string, root: Schema): Schema | undefined {
  const next = step === '[]' ? at?.items : at?.properties?.[step]
  return next?.$ref ? root.definitions?.[next.$ref.split('/').at(-1)!] : next
}

function keysOf({ properties = {} }: Schema, taken: ReadonlySet<string>, root: Schema): Suggestion[] {
  return Object.keys(properties)
    .filter((key) => !taken.has(key))
    .map((key) => {
      const schema = stepInto({ properties }, key, root)!
      const type = typeOf(schema)
      const info = schema.description ?? exampleOf(schema)
      return {
        label: key,
        detail: type,
        ...(info === undefined ? {} : { info }),
        insert: type === 'list' || type === 'mapping' ? `${key}:` : `${key}: `,
      }
    })
}

function valuesOf(schema: Schema | undefined): Suggestion[] {
  const isBoolean = [schema?.type].flat().includes('boolean') && schema?.const === undefined
  const values =
    schema?.enum ?? (schema?.const === undefined ? (isBoolean ? [true, false] : []) : [schema.const])
  return values
    .filter((value) => value !== null)
    .map((value) => {
      const label = typeof value === 'string' ? value : JSON.stringify(value)
      return { label, detail: '', insert: label }
    })
}

function exampleOf({ examples }: Schema): string | undefined {
  const example = examples?.[0]
  return example === undefined || example === null ? undefined : `For example ${JSON.stringify(example)}`
}

const TYPES: Record<string, string> = { array: 'list', object: 'mapping', integer: 'number', string: 'text' }

function typeOf({ type, properties }: Schema): string {
  if (properties) return 'mapping'
  const [first = ''] = [type].flat()
  return TYPES[first] ?? first
}
