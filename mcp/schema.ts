import { z } from 'zod'

/** A JSON Schema. */
export type JsonSchema = Record<string, unknown>
type Side = 'input' | 'output'

/**
 * The JSON Schema of what a tool takes or answers, as short as it can be: a model reads all of them before it does anything.
 * Fields without a value are left out of answers, so no schema of one speaks of null.
 */
export function jsonSchemaOf(schema: z.ZodType, side: Side): JsonSchema {
  return compact(z.toJSONSchema(schema, { io: side }), side)
}

function compact(schema: JsonSchema, side: Side): JsonSchema {
  const whole = side === 'output' ? withoutNull(schema) : schema
  const kept = Object.entries(whole).filter(([key, value]) => !isNoise(key, value, side))
  return Object.fromEntries(kept.map(([key, value]) => [key, compactPart(key, value, side)]))
}

/** What holds further schemas: the fields of an object, the items of a list, the choices. */
function compactPart(key: string, value: unknown, side: Side): unknown {
  if (key === 'anyOf') return (value as JsonSchema[]).map((each) => compact(each, side))
  if (key === 'properties') {
    const fields = Object.entries(value as Record<string, JsonSchema>)
    return Object.fromEntries(fields.map(([name, field]) => [name, compact(field, side)]))
  }
  const isSchema = (key === 'items' || key === 'additionalProperties') && typeof value === 'object'
  return isSchema ? compact(value as JsonSchema, side) : value
}

/** A schema that also takes null, without that. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, type, ...rest } = schema
  if (Array.isArray(type)) {
    const [only, ...others] = (type as string[]).filter((each) => each !== 'null')
    return others.length === 0 ? { type: only, ...rest } : schema
  }
  if (!Array.isArray(anyOf)) return schema
  const [only, ...others] = (anyOf as JsonSchema[]).filter((choice) => choice.type !== 'null')
  return others.length === 0 ? { ...only, ...rest } : schema
}

/**
 * What says nothing to a reader: the dialect, which is the protocol's own; the bounds of any number; that a name has a
 * letter; that answers may grow.
 */
function isNoise(key: string, value: unknown, side: Side): boolean {
  if (key === '$schema') return true
  if (key === 'minLength') return value === 1
  if (key === 'minimum' || key === 'maximum') return Math.abs(value as number) === Number.MAX_SAFE_INTEGER
  return side === 'output' && key === 'additionalProperties' && value === false
}
