import { wrong } from '../fault.ts'
import { didYouMean, looksSecret } from '../suggest.ts'
import type { Api } from './api.ts'

/** The server describes its whole API in one document. */
const DOCUMENT = '/api/openapi.json'
const COMPONENTS = '#/components/schemas/'

type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null'

/** The parts of a JSON Schema that say which values a field takes. */
interface Schema {
  $ref?: string
  type?: JsonType | JsonType[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
}

interface Operation {
  requestBody?: { content?: Record<string, { schema?: Schema }> }
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** The fields that the body of an operation takes, each with the types of its value. */
export type Fields = ReadonlyMap<string, ReadonlySet<JsonType>>

/** Asks the server for the fields of an operation. Throws Fault if it has no such operation, or that takes no JSON. */
export async function fieldsOf(api: Api, method: string, path: string): Promise<Fields> {
  const document = await api.get<Document>(DOCUMENT)
  const schema = operationAt(document, method, path)?.requestBody?.content?.['application/json']?.schema
  if (!schema) throw wrong(`${method} ${path} takes no fields`)
  const { properties = {} } = resolved(document, schema)
  return new Map(Object.entries(properties).map(([name, field]) => [name, typesOf(document, field)]))
}

/** `path` is as it is asked for: `/api/v1/services/web`. */
function operationAt({ paths }: Document, method: string, path: string): Operation | undefined {
  const parts = path.split('/')
  const [template] = Object.keys(paths)
    .filter((each) => fits(each.split('/'), parts))
    .toSorted((one, other) => one.split('{').length - other.split('{').length)
  return template === undefined ? undefined : paths[template]![method.toLowerCase()]
}

function fits(template: readonly string[], parts: readonly string[]): boolean {
  return (
    template.length === parts.length &&
    template.every((part, index) => part.startsWith('{') || part === parts[index])
  )
}

function resolved({ components }: Document, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (components.schemas[schema.$ref.slice(COMPONENTS.length)] ?? {})
}

function typesOf(document: Document, given: Schema): Set<JsonType> {
  const schema = resolved(document, given)
  const ofValues = [...(schema.enum ?? []), ...('const' in schema ? [schema.const] : [])].map(typeOf)
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((each) => [
    ...typesOf(document, each),
  ])
  return new Set([schema.type ?? [], ofValues, inner].flat())
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : (typeof value as JsonType)
}

/** Splits `K=V`. Throws Fault for anything else. */
export function pairOf(word: string): [key: string, value: string] {
  const at = word.indexOf('=')
  if (at > 0) return [word.slice(0, at), word.slice(at + 1)]
  throw wrong(looksSecret(word) ? 'a word is not written K=V' : `'${word}' is not written K=V`)
}

/** Reads words such as `port=8080` by the types of the fields. Throws Fault for what the operation does not take. */
export function readFields(words: readonly string[], fields: Fields): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const word of words) {
    const [key, text] = pairOf(word)
    const types = fields.get(key)
    if (types === undefined) throw unknownField(key, fields)
    if (Object.hasOwn(result, key)) throw wrong(`${key} is given twice`)
    result[key] = valueOf(key, text, types)
  }
  return result
}

function unknownField(key: string, fields: Fields): Error {
  if (looksSecret(key)) return wrong('there is no such field')
  const hint = didYouMean(key, fields.keys())
  return wrong(`there is no field ${key}${hint || `; it takes ${[...fields.keys()].join(', ')}`}`)
}

function valueOf(key: string, text: string, types: ReadonlySet<JsonType>): unknown {
  if (text === '') return clearedValue(key, types)
  // A field that takes anything takes what is written.
  if (types.has('string') || types.size === 0) return text
  if (types.has('array') || types.has('object')) return jsonOf(key, text, types.has('array'))
  if (types.has('boolean')) {
    if (text === 'true' || text === 'false') return text === 'true'
    throw wrong(`${key} must be true or false`)
  }
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) throw wrong(`${key} must be a number`)
  return Number(text)
}

function clearedValue(key: string, types: ReadonlySet<JsonType>): unknown {
  if (types.has('null')) return null
  if (types.has('array')) return []
  if (types.has('string')) return ''
  throw wrong(`${key} cannot be cleared; give it a value`)
}

function jsonOf(key: string, text: string, isArray: boolean): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw wrong(`${key} must be JSON, such as ${isArray ? '\'["a", "b"]\'' : '\'{"a": "b"}\''}`)
  }
}
