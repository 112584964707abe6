import { z } from 'zod'
import { TokenName } from '../tokens/schema.ts'

const Timestamp = z.string().meta({ format: 'date-time', examples: ['2026-01-02T03:04:05.678Z'] })
const Id = z.string().meta({ examples: ['cli-0123456789abcdef0123'] })
const Code = z
  .string()
  .meta({ description: 'Shown by the terminal; compare it before approving', examples: ['BCDF-GHJK'] })

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
      .meta({ description: 'The API token created on approval is named so', examples: ['laptop'] }),
    status: z.enum(['pending', 'approved', 'denied']).meta({ examples: ['pending'] }),
    created_at: Timestamp,
    expires_at: Timestamp.meta({
      description: '10 minutes after the start; a restart of the server forgets it too',
    }),
  })
  .meta({ id: 'CliLogin', description: 'A CLI login request, as the administrator sees it' })

export const CliLoginSecret = z
  .strictObject({
    secret: z
      .string()
      .meta({ description: 'From the start', examples: ['0123456789abcdef0123456789abcdef01234567'] }),
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
  .meta({ id: 'CliLoginPoll', description: 'How the request stands' })
