import { z } from 'zod'
import { judged, Timestamp } from '../schema.ts'

const MAX_NAME_CHARACTERS = 100
const MAX_URL_CHARACTERS = 2_000
/** More than a server has; the list is looked through with each message. */
const MAX_SERVICES = 1_000

/** Where it is sent to, as far as `fault` can judge. */
export function destinationUrl(fault: (text: string) => string | null) {
  return judged((text) =>
    text.length > MAX_URL_CHARACTERS ? `must have at most ${MAX_URL_CHARACTERS} characters` : fault(text),
  ).meta({ minLength: 1, maxLength: MAX_URL_CHARACTERS })
}

/** What everything that is sent to is made with. */
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

/** What of it can be changed. */
export const destinationPatch = {
  ...destinationInput,
  name: destinationInput.name.optional(),
  enabled: z.boolean().optional(),
}

/** How it is answered. */
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

/** How a test of it ended. */
export const TestResult = z
  .object({
    ok: z.boolean(),
    status: z
      .int()
      .nullable()
      .meta({
        description: 'The status of the answer to a notification, where there is one; null for a log drain',
        examples: [200],
      }),
    error: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
  })
  .meta({ id: 'TestResult' })
export type TestResult = z.infer<typeof TestResult>
