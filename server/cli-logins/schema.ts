import { z } from 'zod'
import { FutureMoment, Timestamp } from '../schema.ts'
import { TokenName } from '../tokens/schema.ts'

const Id = z.string().meta({ examples: ['cli-0123456789abcdef0123'] })
const Code = z
  .string()
  .meta({ description: 'Shown by the terminal, and typed in to approve it', examples: ['BCDF-GHJK'] })

export const NewCliLogin = z
  .strictObject({
    name: TokenName.optional().meta({
      description: 'What the API token will be called',
      examples: ['laptop'],
    }),
  })
  .meta({ id: 'NewCliLogin', description: 'A terminal that wants to sign in' })

export const StartedCliLogin = z
  .object({
    code: Code,
    expires_in: z.int().meta({ description: 'Seconds until the request is forgotten', examples: [600] }),
    id: Id,
    interval: z.int().meta({ description: 'Seconds between polls', examples: [2] }),
    secret: z.string().meta({
      description: 'Proves to the poll that it comes from this terminal',
      examples: ['0123456789abcdef0123456789abcdef01234567'],
    }),
  })
  .meta({ id: 'StartedCliLogin', description: 'A CLI login request, as its terminal sees it' })

export const CliLogin = z
  .object({
    id: Id,
    code: Code,
    name: z
      .string()
      .meta({ description: 'The name of the API token that approval creates', examples: ['laptop'] }),
    address: z.string().meta({ description: 'Where the terminal is', examples: ['203.0.113.7'] }),
    status: z.enum(['pending', 'approved', 'denied']).meta({ examples: ['pending'] }),
    created_at: Timestamp,
    expires_at: Timestamp.meta({
      description: '10 minutes after the start; a restart of the server forgets it too',
    }),
  })
  .meta({ id: 'CliLogin', description: 'A CLI login request, as the administrator sees it' })

export const CliLoginApproval = z
  .strictObject({
    code: z
      .string()
      .optional()
      .meta({
        description:
          'The code as the administrator typed it: refused when it is not the code of this request',
        examples: ['BCDF-GHJK'],
      }),
    expires_at: FutureMoment.nullish().meta({
      description: 'When the token expires; never when absent or null',
    }),
  })
  .meta({ id: 'CliLoginApproval', description: 'How a CLI login request is approved' })

export const CliLoginSecret = z
  .strictObject({
    secret: z.string().meta({
      description: 'The `secret` that starting it returned',
      examples: ['0123456789abcdef0123456789abcdef01234567'],
    }),
  })
  .meta({ id: 'CliLoginSecret', description: "The terminal's proof" })

export const CliLoginPoll = z
  .discriminatedUnion('status', [
    z.object({ status: z.enum(['pending', 'denied']).meta({ examples: ['pending'] }) }),
    z.object({
      status: z.literal('approved').meta({ examples: ['approved'] }),
      token: z.string().meta({
        description: 'The API token; it appears only in this answer',
        examples: ['dpl_0123456789abcdef0123456789abcdef01234567'],
      }),
    }),
  ])
  .meta({ id: 'CliLoginPoll', description: 'The state of the request' })
