import { z } from 'zod'

/** What a person may type around a recovery code; a longer text is no code. */
const MAX_CODE = 100
/** WebAuthn section 4, "credential ID": at most 1,023 bytes, as base64url. */
const MAX_CREDENTIAL_ID = 1_364
/** Real ones are some hundred bytes. */
const MAX_CLIENT_DATA = 8_192
const MAX_AUTHENTICATOR_DATA = 16_384
/** An attestation that was not asked for may come with certificates. */
const MAX_ATTESTATION = 65_536
/** The largest of the algorithms that are accepted, RSA with 16,384 bits, has 2,048 bytes. */
const MAX_SIGNATURE = 4_096

function base64url(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .regex(/^[A-Za-z0-9_-]*$/, 'must be base64url without padding')
}

const ClientData = base64url(MAX_CLIENT_DATA).meta({ examples: ['eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0'] })
const CredentialId = base64url(MAX_CREDENTIAL_ID).meta({ examples: ['ltQp1eJ2Y0gWqkF3'] })

export const Code = z
  .string()
  .min(1)
  .max(MAX_CODE)
  .meta({
    description:
      'The six digits that the authenticator app shows now, or a recovery code; spaces and hyphens do not matter. Each holds once.',
    examples: ['123456'],
  })

/**
 * What `PublicKeyCredential.toJSON()` of the browser returns when a passkey is used. Browsers may add fields, which are
 * ignored.
 */
export const Assertion = z
  .object({
    id: CredentialId,
    type: z.literal('public-key'),
    response: z.object({
      clientDataJSON: ClientData,
      authenticatorData: base64url(MAX_AUTHENTICATOR_DATA).meta({ examples: ['SZYN5YgOjGh0NBcP'] }),
      signature: base64url(MAX_SIGNATURE).meta({ examples: ['MEUCIQDx'] }),
    }),
  })
  .meta({
    id: 'PasskeyAssertion',
    description: 'A use of a passkey, as `PublicKeyCredential.toJSON()` of the browser returns it',
  })
export type Assertion = z.output<typeof Assertion>

/** The same when a passkey is created. */
export const Attestation = z
  .object({
    id: CredentialId,
    type: z.literal('public-key'),
    response: z.object({
      clientDataJSON: ClientData,
      attestationObject: base64url(MAX_ATTESTATION).meta({ examples: ['o2NmbXRkbm9uZQ'] }),
    }),
  })
  .meta({
    id: 'PasskeyAttestation',
    description: 'A new passkey, as `PublicKeyCredential.toJSON()` of the browser returns it',
  })
export type Attestation = z.output<typeof Attestation>
