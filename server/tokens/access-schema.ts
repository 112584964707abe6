import { z } from 'zod'
import { MODES } from '../access/access.ts'
import { ID_PREFIXES } from '../ids.ts'
import { idSchema } from '../schema.ts'

/** More than anybody would name one by one. */
const MAX_LISTED = 1_000

const mode = z.enum(MODES).meta({
  description:
    '`read`: reads; `deploy`: also deploys, uploads, restarts, rolls back, cancels and runs cron jobs; `full`: changes everything but the account and its tokens',
  examples: ['deploy'],
})

const SERVICE_ID = new RegExp(`^${ID_PREFIXES.service}-[0-9a-f]{20}$`)

/** What a new token may do. */
export const AccessInput = z
  .strictObject({
    mode,
    secrets: z
      .boolean()
      .default(false)
      .meta({
        description: 'Whether it sees values of variables, keys, passwords and downloads',
        examples: [false],
      }),
    environments: z
      .array(z.string().min(1))
      .min(1)
      .max(MAX_LISTED)
      .nullish()
      .meta({
        description: 'Ids or names: only what is in these environments; all when null or absent',
        examples: [['staging']],
      }),
    services: z
      .array(z.string().regex(SERVICE_ID, 'must be the id of a service'))
      .min(1)
      .max(MAX_LISTED)
      .nullish()
      .meta({
        description: 'Ids: only these services; all when null or absent',
        examples: [['srv-4f1d0c9a7b3e5d2f6a80']],
      }),
  })
  .meta({ id: 'TokenAccessInput', examples: [{ mode: 'deploy', environments: ['staging'] }] })
export type AccessInput = z.output<typeof AccessInput>

/** What a token may do, as the API returns it. */
export const TokenAccess = z
  .object({
    mode,
    secrets: z.boolean().meta({ examples: [true] }),
    environments: z
      .array(idSchema('environment'))
      .nullable()
      .meta({ description: 'Null for all; those that were deleted are gone', examples: [null] }),
    services: z
      .array(idSchema('service'))
      .nullable()
      .meta({ description: 'Null for all; those that were deleted are gone', examples: [null] }),
  })
  .meta({ id: 'TokenAccess', description: 'What a token may do' })
