import { z } from 'zod'
import { tidy, type Json } from '../openapi/schemas.ts'
import { Blueprint } from './schema.ts'

let schema: Json | undefined

/** The JSON Schema of the native dialect, for editors: all of them support draft 7. */
export function blueprintSchema(): Json {
  schema ??= z.toJSONSchema(Blueprint, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      tidy(zodSchema, jsonSchema)
      liftNull(jsonSchema)
      // Without quotes, a version is a number in YAML; it is read as it is written.
      if (path.at(-1) === 'version') jsonSchema.type = ['string', 'number', 'null']
    },
  }) as Json
  return schema
}

/** Writes "a type or null" as one schema where that is equivalent, so that editors show one type with its description. */
function liftNull(json: Json): void {
  const choices = json.anyOf as Json[] | undefined
  const [value, nothing] = choices ?? []
  if (choices?.length !== 2 || nothing?.type !== 'null' || typeof value?.type !== 'string') return
  delete json.anyOf
  const { enum: values } = value
  Object.assign(json, { ...value, ...json, type: [value.type, 'null'] })
  if (Array.isArray(values)) json.enum = [...(values as unknown[]), null]
}
