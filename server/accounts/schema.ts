import { z } from 'zod'
import { timestamp } from '../clock.ts'
import { Assertion, Code } from './second-factors/input.ts'

/** RFC 5321 section 4.5.3.1.3: a path has at most 256 octets, two of them the angle brackets. */
const MAX_EMAIL = 254
const MIN_PASSWORD = 8
/** Far beyond any passphrase; bounds the input of the hash. */
const MAX_PASSWORD = 256

const Timestamp = z.string().meta({ format: 'date-time', examples: ['2026-01-02T03:04:05.678Z'] })

/** One `@`, no spaces, no invisible characters: people must be able to type it at sign-in. */
export const Email = z
  .string()
  .max(MAX_EMAIL)
  .regex(
    /^[^\s@\p{Cc}\p{Cf}\p{Cs}]+@[^\s@\p{Cc}\p{Cf}\p{Cs}]+$/u,
    'must be an e-mail address: one @, no spaces or invisible characters',
  )
  .meta({
    description: 'E-mail address; letter case does not matter at sign-in',
    examples: ['admin@example.com'],
  })

/** A text of `min` to `max` characters, counted as people and JSON Schema count them, not in UTF-16 units. */
export function text(min: number, max: number) {
  return z
    .string()
    .refine((given) => [...given].length >= min, `must have at least ${min} character${min === 1 ? '' : 's'}`)
    .refine((given) => [...given].length <= max, `must have at most ${max} characters`)
    .meta({ minLength: min, maxLength: max })
}

export const Password = text(MIN_PASSWORD, MAX_PASSWORD).meta({
  description: `${MIN_PASSWORD} to ${MAX_PASSWORD} characters, any characters`,
  examples: ['correct horse battery staple'],
})

export const User = z
  .object({
    id: z.string().meta({ examples: ['usr-0123456789abcdef0123'] }),
    email: z.string().meta({ examples: ['admin@example.com'] }),
    created_at: Timestamp,
  })
  .meta({ id: 'User', description: 'The administrator' })

export const AuthStatus = z
  .object({
    auth: z
      .enum(['session', 'token'])
      .nullable()
      .meta({
        description: 'How the request was authenticated; null when it was not',
        examples: ['session'],
      }),
    setup_required: z
      .boolean()
      .meta({ description: 'True while the server has no account', examples: [false] }),
    user: User.nullable().meta({ description: 'Null when not signed in' }),
  })
  .meta({ id: 'AuthStatus', description: 'Who is signed in' })

export const Session = z
  .object({
    id: z.string().meta({ examples: ['ses-0123456789abcdef0123'] }),
    created_at: Timestamp,
    last_used_at: Timestamp.meta({ description: 'After a restart of the server, exact to a minute' }),
    expires_at: Timestamp.meta({ description: '30 days after the last use' }),
    current: z.boolean().meta({ description: 'The session of this request', examples: [true] }),
    user_agent: z
      .string()
      .nullable()
      .meta({
        description: "The browser's user agent at sign-in",
        examples: ['Mozilla/5.0 Firefox/146.0'],
      }),
  })
  .meta({ id: 'Session', description: 'A browser that is signed in' })

/** Any two strings are accepted: those that no account could have are simply wrong credentials. */
export const SignIn = z
  .strictObject({
    email: z
      .string()
      .optional()
      .meta({ examples: ['admin@example.com'] }),
    password: z
      .string()
      .optional()
      .meta({ examples: ['correct horse battery staple'] }),
    code: Code.optional(),
    passkey: Assertion.optional().meta({ description: 'Signs in by itself, without the other fields' }),
  })
  .superRefine(({ passkey, ...others }, context) => {
    const refuse = (field: keyof typeof others, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    for (const field of ['email', 'password', 'code'] as const) {
      if (passkey && others[field] !== undefined) refuse(field, 'must be absent with a passkey')
      if (!passkey && others[field] === undefined && field !== 'code') refuse(field, 'is required')
    }
  })
  .meta({
    id: 'SignIn',
    description:
      'Credentials of the administrator: `email` and `password`, with `code` if there is a second factor, or `passkey`',
    examples: [{ email: 'admin@example.com', password: 'correct horse battery staple' }],
  })

export const Setup = z
  .strictObject({
    code: z.string().meta({
      description: 'The setup code, from the link that the server prints or from <data-dir>/setup_code',
      examples: ['0123456789abcdef0123456789abcdef01234567'],
    }),
    email: Email,
    password: Password,
  })
  .meta({ id: 'Setup', description: 'The account to create' })

export const PasswordChange = z
  .strictObject({
    current_password: z.string().meta({ examples: ['correct horse battery staple'] }),
    new_password: Password,
  })
  .meta({ id: 'PasswordChange', description: 'The current password and the new one' })

export interface AccountRow {
  id: string
  email: string
  password_hash: string
  created_at: number
}

export interface SessionRow {
  id: string
  user_agent: string | null
  created_at: number
  last_used_at: number
  expires_at: number
}

/** The account as clients see it. */
export function toUser(row: AccountRow): z.input<typeof User> {
  return { id: row.id, email: row.email, created_at: timestamp(row.created_at) }
}

/** A session as clients see it. */
export function toSession(row: SessionRow, currentId: string): z.input<typeof Session> {
  return {
    id: row.id,
    created_at: timestamp(row.created_at),
    last_used_at: timestamp(row.last_used_at),
    expires_at: timestamp(row.expires_at),
    current: row.id === currentId,
    user_agent: row.user_agent,
  }
}
