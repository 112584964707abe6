import { z } from 'zod'
import { judged, Timestamp } from '../schema.ts'

const MAX_NAME_CHARACTERS = 100
const MAX_URL_CHARACTERS = 2_000
/** More than a server has. The list is searched for each message. */
const MAX_SERVICES = 1_000

/** Where to send to, as far as `fault` can judge it. */
export function destinationUrl(fault: (text: string) => string | null) {
  return judged((text) =>
    text.length > MAX_URL_CHARACTERS ? `must have at most ${MAX_URL_CHARACTERS} characters` : fault(text),
  ).meta({ minLength: 1, maxLength: MAX_URL_CHARACTERS })
}

/** The fields for creating any destination. */
export const destinationInput = {
  name: z
    .string()
    .min(1)
    .max(MAX_NAME_CHARACTERS)
    .regex(/^[^\p{Cc}\p{Cf}\p{Cs}]*$/u, 'must have no control characters')
    .meta({ examples: ['Team'] }),
  environment: z
    .string()
    .min(1)
    .nullable()
    .optional()
    .meta({
      description: 'Id or name: only what belongs to that environment; null for all',
      examples: ['production'],
    }),
  services: z
    .array(z.string().min(1))
    .min(1)
    .max(MAX_SERVICES)
    .nullable()
    .optional()
    .meta({ description: 'Ids or names: only these services; null for all', examples: [['api']] }),
}

/** The fields of a destination that can be changed. */
export const destinationPatch = {
  ...destinationInput,
  name: destinationInput.name.optional(),
  enabled: z.boolean().optional(),
}

/** The fields of any destination in answers. */
export const destinationAnswer = {
  name: z.string().meta({ examples: ['Team'] }),
  environment: z
    .string()
    .nullable()
    .meta({ description: 'Name', examples: [null] }),
  services: z
    .array(z.string())
    .nullable()
    .meta({ description: 'Ids', examples: [null] }),
  enabled: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
}

/** The result of a test of a destination. */
export const TestResult = z
  .object({
    ok: z.boolean(),
    status: z
      .int()
      .nullable()
      .meta({
        description:
          'The HTTP status of the answer to a notification, if there was one; null for a log drain',
        examples: [200],
      }),
    error: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
  })
  .meta({ id: 'TestResult' })
export type TestResult = z.infer<typeof TestResult>
