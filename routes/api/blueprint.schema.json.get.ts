import { z } from 'zod'
import { blueprintSchema } from '#server/blueprints/json-schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

const JsonSchema = z
  .looseObject({ $schema: z.string().meta({ examples: ['http://json-schema.org/draft-07/schema#'] }) })
  .meta({ id: 'JsonSchema', description: 'A JSON Schema' })

export default defineEndpoint({
  summary: 'Read the JSON Schema of blueprints',
  description:
    'For the native dialect, for use in editors: `# yaml-language-server: $schema=<this address>`.',
  auth: 'none',
  least: 'read',
  response: JsonSchema,
  keptFrom: 'program',
  handler: () => JsonSchema.parse(blueprintSchema()),
})
