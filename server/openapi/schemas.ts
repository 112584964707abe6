import { z } from 'zod'

/** A JSON Schema, or any other object of the document. */
export type Json = { [key: string]: unknown }

/** Which side a schema describes: what a client sends, or what it gets. They differ when a field has a default. */
export type Direction = 'input' | 'output'

/** zod 4 writes JSON Schema 2020-12, which is the dialect of OpenAPI 3.1, with the shared schemas under this key. */
const LOCAL_REFERENCE = '#/$defs/'
const COMPONENT_REFERENCE = '#/components/schemas/'

/** Converts zod schemas to JSON Schemas. Those with an `id` in their meta become shared components of the document. */
export class SchemaCollector {
  readonly components: Json = {}

  /** The JSON Schema of the input or output of `schema`; shared parts in it are references to `components`. */
  convert(schema: z.ZodType, direction: Direction): Json {
    const {
      $schema: _,
      $defs,
      ...root
    } = z.toJSONSchema(schema, {
      io: direction,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => tidy(zodSchema, jsonSchema as Json),
    }) as Json
    const shared = Object.entries(($defs ?? {}) as Record<string, Json>)
    const names = this.#nameAll(shared, direction)
    for (const [id, part] of shared) this.components[names.get(id)!] = withReferences(part, names)
    return withReferences(root, names) as Json
  }

  /** Resolves a reference made by `convert`; returns any other schema as it is. */
  resolve(schema: Json): Json {
    const name = typeof schema.$ref === 'string' ? schema.$ref.slice(COMPONENT_REFERENCE.length) : null
    return name === null ? schema : (this.components[name] as Json)
  }

  /**
   * Adds a component under the schema's id. When there is already a different one with that name, since input and output may
   * differ, it gets a name of its own, and so does every schema that refers to it.
   */
  #nameAll(shared: [string, Json][], direction: Direction): Map<string, string> {
    const names = new Map(shared.map(([id]) => [id, id]))
    const differing = () =>
      shared.find(([id, part]) => {
        const component = this.components[names.get(id)!]
        return component && JSON.stringify(component) !== JSON.stringify(withReferences(part, names))
      })
    for (let found = differing(); found; found = differing()) {
      const [id] = found
      if (names.get(id) !== id) throw new Error(`two schemas have the id ${id}`)
      names.set(id, direction === 'input' ? `${id}Request` : `${id}Response`)
    }
    return names
  }
}

/** Corrects what zod leaves out or writes too long, and applies a schema's own `override` from its meta. */
export function tidy(schema: z.core.$ZodType, json: Json): void {
  const meta = z.globalRegistry.get(schema)
  if (meta?.override) {
    for (const key of Object.keys(json)) if (key !== 'description') delete json[key]
    Object.assign(json, meta.override)
  }
  // zod drops the examples of a schema that transforms its input. Here they are examples of the input.
  if (meta?.examples) json.examples = meta.examples
  if (meta?.['x-secret'])
    json.description = [json.description, 'Null for a token that sees no secrets'].filter(Boolean).join('. ')
  if (meta?.['x-least-access'])
    json.description = `${String(json.description)}. Takes a token with the mode \`${meta['x-least-access'] as string}\``
  // JSON Schema validators do not agree on Unicode properties (JSON Schema 2020-12 core, section 6.4).
  if (typeof json.pattern === 'string' && /\\p\{/i.test(json.pattern)) delete json.pattern
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
}

function withReferences(value: unknown, names: Map<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key === '$ref' && typeof item === 'string' && item.startsWith(LOCAL_REFERENCE)) {
        const id = item.slice(LOCAL_REFERENCE.length)
        return [key, `${COMPONENT_REFERENCE}${names.get(id) ?? id}`]
      }
      // An example is data: a `$ref` in it would come from a user.
      return [key, key === 'examples' || key === 'default' ? item : withReferences(item, names)]
    }),
  )
}
