import { z } from 'zod'
import { timestamp } from '../../clock.ts'
import { idSchema, Timestamp } from '../../schema.ts'
import { TokenName } from '../../tokens/schema.ts'
import { Assertion, Attestation, Code } from './input.ts'

export const Passkey = z
  .object({
    id: idSchema('passkey'),
    name: z.string().meta({ examples: ['laptop'] }),
    host: z.string().meta({
      description: 'The host of the dashboard that it was created at; it works at no other',
      examples: ['deploy.example.com'],
    }),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable().meta({ description: 'Null when it was never used' }),
  })
  .meta({ id: 'Passkey', description: 'A passkey of the administrator' })

export const SecondFactors = z
  .object({
    totp: z
      .object({ confirmed_at: Timestamp, last_used_at: Timestamp })
      .nullable()
      .meta({ description: 'The authenticator app; null when none is set up' }),
    passkeys: z.array(Passkey).meta({ description: 'Oldest first' }),
    recovery_codes_left: z.int().meta({ examples: [10] }),
  })
  .meta({ id: 'SecondFactors', description: 'What is asked for besides the password' })

export const TotpSetup = z
  .object({
    secret: z.string().meta({
      description: 'The secret in base32, to be typed into an app',
      examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
    }),
    uri: z.string().meta({
      description: 'The same for a QR code',
      examples: [
        'otpauth://totp/Deployer%20deploy.example.com:admin%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      ],
    }),
  })
  .meta({ id: 'TotpSetup', description: 'The secret of an authenticator app that is not confirmed yet' })

export const TotpConfirmation = z
  .strictObject({ code: Code.meta({ description: 'What the app shows now', examples: ['123456'] }) })
  .meta({ id: 'TotpConfirmation' })

export const RecoveryCodes = z
  .object({
    recovery_codes: z
      .array(z.string())
      .meta({ description: 'Shown only here', examples: [['7k2m-x4qd-w9bt-5nhs', 'c3vz-8yrf-j6gp-2ekm']] }),
  })
  .meta({ id: 'RecoveryCodes', description: 'Ten codes, each of which holds once in place of the app' })

export const CurrentPassword = z
  .strictObject({ current_password: z.string().meta({ examples: ['correct horse battery staple'] }) })
  .meta({ id: 'CurrentPassword' })

export const PasskeyPurpose = z
  .strictObject({
    purpose: z.enum(['sign_in', 'register']).meta({
      description: 'To sign in or to verify a session (`sign_in`), or to create a passkey (`register`)',
      examples: ['sign_in'],
    }),
  })
  .meta({ id: 'PasskeyPurpose' })

/** WebAuthn's own names and forms. Optional ones are only in the options for a new passkey. */
export const PasskeyOptions = z
  .object({
    challenge: z
      .string()
      .meta({ description: 'Holds once, for 5 minutes', examples: ['dGhlIGNoYWxsZW5nZQ'] }),
    timeout: z.int().meta({ description: 'Milliseconds', examples: [300_000] }),
    rpId: z.string().optional(),
    userVerification: z.string().optional(),
    rp: z.object({ id: z.string(), name: z.string() }).optional(),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }).optional(),
    pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })).optional(),
    excludeCredentials: z.array(z.object({ type: z.literal('public-key'), id: z.string() })).optional(),
    authenticatorSelection: z
      .object({ residentKey: z.string(), requireResidentKey: z.boolean(), userVerification: z.string() })
      .optional(),
    attestation: z.string().optional(),
  })
  .meta({
    id: 'PasskeyOptions',
    description:
      'For `parseRequestOptionsFromJSON` (`sign_in`) or `parseCreationOptionsFromJSON` (`register`) of the browser',
    examples: [
      {
        challenge: 'dGhlIGNoYWxsZW5nZQ',
        timeout: 300_000,
        rpId: 'deploy.example.com',
        userVerification: 'required',
      },
    ],
  })

export const NewPasskey = z
  .strictObject({ name: TokenName, credential: Attestation })
  .meta({ id: 'NewPasskey', description: 'A passkey that the browser has created' })

export const Verification = z
  .strictObject({ code: Code.optional(), passkey: Assertion.optional() })
  .superRefine(({ code, passkey }, context) => {
    if ((code === undefined) === (passkey === undefined))
      context.addIssue({ code: 'custom', path: ['code'], message: 'send either code or passkey' })
  })
  .meta({ id: 'Verification', examples: [{ code: '123456' }] })

export interface TotpRow {
  secret: Uint8Array
  last_step: number
  confirmed_at: number
  last_used_at: number
}

export interface PasskeyRow {
  id: string
  name: string
  host: string
  credential_id: string
  public_key: Uint8Array<ArrayBuffer>
  counter: number
  created_at: number
  last_used_at: number | null
}

/** A passkey as clients see it. */
export function toPasskey(row: PasskeyRow): z.input<typeof Passkey> {
  return {
    id: row.id,
    name: row.name,
    host: row.host,
    created_at: timestamp(row.created_at),
    last_used_at: timestamp(row.last_used_at),
  }
}
