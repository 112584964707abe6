import { z } from 'zod'
import { tidy, type Json } from '../openapi/schemas.ts'
import { Blueprint } from './schema.ts'

let made: Json | undefined

/** The JSON Schema of the native dialect, for editors: draft 7 is what they all know. */
export function blueprintSchema(): Json {
  made ??= z.toJSONSchema(Blueprint, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      tidy(zodSchema, jsonSchema)
      liftNull(jsonSchema)
      // Without quotes a version is a number, and is taken as it is written.
      if (path.at(-1) === 'version') jsonSchema.type = ['string', 'number', 'null']
    },
  }) as Json
  return made
}

/** Writes "this or null" as one schema where that says the same, so that editors show one type with its description. */
function liftNull(json: Json): void {
  const choices = json.anyOf as Json[] | undefined
  const [value, nothing] = choices ?? []
  if (choices?.length !== 2 || nothing?.type !== 'null' || typeof value?.type !== 'string') return
  delete json.anyOf
  const { enum: values } = value
  Object.assign(json, { ...value, ...json, type: [value.type, 'null'] })
  if (Array.isArray(values)) json.enum = [...(values as unknown[]), null]
}
