import { z } from 'zod'
import type { Access } from '../access/access.ts'
import { text } from '../accounts/schema.ts'
import { timestamp } from '../clock.ts'
import { FutureMoment, Timestamp } from '../schema.ts'
import { AccessInput, TokenAccess } from './access-schema.ts'

const MAX_NAME = 200

/**
 * Refuses controls, characters that reorder or hide text (Unicode's format characters), unpaired surrogates, and line and
 * paragraph separators, because a name is read by people who trust it. The two joiners are allowed between letters: Persian
 * and Indian scripts need them, and so do emoji.
 */
const INVISIBLE_FREE =
  /^(?:[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?<=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d](?=(?!\p{ASCII})[\p{L}\p{M}\p{Extended_Pictographic}]))*$/u

/** The name that people give to a token or a terminal. */
export const TokenName = text(1, MAX_NAME)
  .regex(INVISIBLE_FREE, 'must not have control or invisible characters; joiners are allowed between letters')
  .meta({
    description: `1 to ${MAX_NAME} characters, without control or invisible ones except joiners between letters`,
    examples: ['laptop'],
  })

export const ApiToken = z
  .object({
    id: z.string().meta({ examples: ['tok-0123456789abcdef0123'] }),
    name: z.string().meta({ examples: ['laptop'] }),
    hint: z.string().meta({ description: 'The end of the token', examples: ['89ab'] }),
    created_at: Timestamp,
    expires_at: Timestamp.nullable().meta({
      description: 'When it stops working; null when it never expires',
    }),
    last_used_at: Timestamp.nullable().meta({
      description: 'Exact to a minute; null when it was never used',
    }),
    access: TokenAccess,
  })
  .meta({ id: 'ApiToken', description: 'An API token, without its secret' })

export const NewApiToken = z
  .strictObject({
    name: TokenName,
    expires_at: FutureMoment.nullish().meta({ description: 'When it expires; never when absent or null' }),
    access: AccessInput.optional().meta({ description: 'Everything when absent' }),
  })
  .meta({ id: 'NewApiToken', description: 'A token to create' })

export const CreatedApiToken = z
  .object({
    api_token: ApiToken,
    token: z.string().meta({
      description: 'The token itself; it appears only in this answer',
      examples: ['dpl_0123456789abcdef0123456789abcdef01234567'],
    }),
  })
  .meta({ id: 'CreatedApiToken', description: 'A new API token with its secret' })

/** Who acts with a token: a program it was made for, a terminal that signed in, or a command on the host. */
export type TokenHolder = 'token' | 'terminal' | 'host'

export interface TokenRow {
  id: string
  name: string
  hint: string
  holder: TokenHolder
  created_at: number
  expires_at: number | null
  last_used_at: number | null
  access: Access
}

/** A token as clients see it. */
export function toApiToken(row: TokenRow): z.input<typeof ApiToken> {
  return {
    id: row.id,
    name: row.name,
    hint: row.hint,
    created_at: timestamp(row.created_at),
    expires_at: timestamp(row.expires_at),
    last_used_at: timestamp(row.last_used_at),
    access: viewAccess(row.access),
  }
}

function viewAccess({ mode, secrets, environments, services }: Access): z.input<typeof TokenAccess> {
  return {
    mode,
    secrets,
    environments: environments && [...environments],
    services: services && [...services],
  }
}
