import type { Json, SchemaCollector } from './schemas.ts'

/** A log stream as it is sent. */
const LOG_STREAM = [
  'event: log',
  'data: {"ts":"2026-01-02T03:04:05.678Z","stream":"stdout","line":"listening on 10000"}',
  '',
  'event: end',
  'data:',
  '',
  '',
].join('\n')

/** The change feed as it is sent. */
const CHANGE_STREAM = [
  'event: ready',
  'data: {}',
  '',
  'event: change',
  'data: {"kind":"deploy","id":"dep-4f1d0c9a7b3e5d2f6a80","service_id":"srv-4f1d0c9a7b3e5d2f6a80","action":"updated"}',
  '',
  ': keep-alive',
  '',
  '',
].join('\n')

/** A blueprint. */
const BLUEPRINT = [
  '# yaml-language-server: $schema=http://localhost:7878/api/blueprint.schema.json',
  'datastores:',
  '  - name: db',
  '    kind: relational',
  'services:',
  '  - name: api',
  '    type: web_service',
  '    repo_url: https://git.example.com/team/api.git',
  '    env:',
  '      - key: DATABASE_URL',
  '        from_datastore:',
  '          name: db',
  '',
].join('\n')

/** A Compose file. */
const COMPOSE = ['services:', '  web:', '    image: nginx', '    ports:', '      - 8080:80', ''].join('\n')

/** An example of a body that is not JSON; undefined when text cannot show it. */
export function rawExample(contentType: string, path: string): string | undefined {
  if (contentType === 'text/event-stream') return path.endsWith('/events') ? CHANGE_STREAM : LOG_STREAM
  if (contentType === 'application/yaml') return path.endsWith('/convert') ? COMPOSE : BLUEPRINT
  return undefined
}

/**
 * An example for a schema, composed of the examples of its fields. For a request it has the required fields and those of the
 * schema's own example; for an answer it has every field.
 */
export function exampleOf(schema: Json, collector: SchemaCollector): unknown {
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0]
  if (schema.$ref) return exampleOf(collector.resolve(schema), collector)
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const choices = (schema.anyOf ?? schema.oneOf) as Json[] | undefined
  if (choices) return exampleOf(choices.find((choice) => choice.type !== 'null') ?? choices[0]!, collector)
  const type: unknown = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object') return exampleObject(schema, collector)
  if (type === 'array') return schema.items ? [exampleOf(schema.items as Json, collector)] : []
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0
  if (type === 'boolean') return false
  return type === 'string' ? 'text' : null
}

function exampleObject(schema: Json, collector: SchemaCollector): Json {
  const example: Json = {}
  for (const [name, field] of Object.entries((schema.properties ?? {}) as Record<string, Json>)) {
    example[name] = exampleOf(field, collector)
  }
  const values = schema.additionalProperties
  if (typeof values === 'object' && values !== null && Object.keys(example).length === 0) {
    return { LOG_LEVEL: exampleOf(values as Json, collector) }
  }
  return example
}
