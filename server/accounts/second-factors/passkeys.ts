import { z } from 'zod'
import { AppError, messageOf } from '../../errors.ts'
import { logger } from '../../log.ts'
import { parsedJson } from '../../text/parsed-json.ts'
import { CHALLENGE_MS, newChallenge, useChallenge, type Use } from './challenges.ts'
import type { Assertion, Attestation } from './input.ts'
import type { PasskeyOptions, PasskeyRow } from './schema.ts'
import type { Site } from './site.ts'

/** EdDSA, ECDSA on P-256 and RSA (COSE's numbers): every authenticator has one of them. */
const ALGORITHMS = [-8, -7, -257]

/** A scheme, a host name of at most 253 characters and a port. */
const MAX_ORIGIN = 300

const log = logger('accounts')

/** Who gets a new passkey. */
export interface PasskeyOwner {
  id: string
  email: string
  sessionId: string
}

type Library = typeof import('@simplewebauthn/server') & typeof import('@simplewebauthn/server/helpers')

let loading: Promise<Library> | undefined

/** Loads the library when the first passkey is verified. */
function load(): Promise<Library> {
  return (loading ??= Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]).then(([main, helpers]) => ({ ...main, ...helpers })))
}

/**
 * Options for using a passkey. They name none, so they tell nobody what there is: the authenticator knows which of its
 * passkeys are for this host.
 */
export function signInOptions({ host }: Site): z.input<typeof PasskeyOptions> {
  return {
    challenge: newChallenge(useToSignIn(host)),
    timeout: CHALLENGE_MS,
    rpId: host,
    userVerification: 'required',
  }
}

/** Options for creating a passkey, in an authenticator that has none of the `known` ones. */
export function registrationOptions(
  { host }: Site,
  owner: PasskeyOwner,
  known: readonly PasskeyRow[],
): z.input<typeof PasskeyOptions> {
  return {
    challenge: newChallenge(useToRegister(host, owner.sessionId)),
    timeout: CHALLENGE_MS,
    rp: { id: host, name: 'Deployer' },
    user: {
      id: Buffer.from(owner.id).toString('base64url'),
      name: owner.email,
      displayName: owner.email,
    },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: known.map(({ credential_id: id }) => ({ type: 'public-key', id })),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
  }
}

/**
 * Verifies the use of a known passkey, and uses up its challenge. Returns the new counter. Throws `invalid_credentials`.
 */
export async function verifyAssertion(assertion: Assertion, known: PasskeyRow, site: Site): Promise<number> {
  const challenge = clientDataOf(assertion.response.clientDataJSON, 'webauthn.get', site).challenge
  if (known.host !== site.host) {
    throw refused(`it belongs to ${known.host}, and this dashboard is open at ${site.host}`)
  }
  useChallenge(challenge, useToSignIn(site.host))
  const { verifyAuthenticationResponse } = await load()
  const { id, type, response } = assertion
  const result = await verifyAuthenticationResponse({
    response: { id, rawId: id, type, response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.host,
    credential: { id, publicKey: known.public_key, counter: known.counter },
    requireUserVerification: true,
  }).catch(failVerification)
  if (!result.verified) failVerification('the signature is wrong')
  return result.authenticationInfo.newCounter
}

/** Verifies a new passkey, and uses up its challenge. Returns its key and counter. Throws `invalid_credentials`. */
export async function verifyAttestation(
  attestation: Attestation,
  sessionId: string,
  site: Site,
): Promise<{ id: string; publicKey: Uint8Array<ArrayBuffer>; counter: number }> {
  const challenge = clientDataOf(attestation.response.clientDataJSON, 'webauthn.create', site).challenge
  useChallenge(challenge, useToRegister(site.host, sessionId))
  const { verifyRegistrationResponse, decodeAttestationObject } = await load()
  const { id, type, response } = attestation
  const result = await verify().catch(failVerification)
  if (!result.verified) failVerification('the attestation is wrong')
  return result.registrationInfo.credential

  async function verify() {
    // None is asked for, and the library would fetch revocation lists for the certificates of one.
    const statement = decodeAttestationObject(Buffer.from(response.attestationObject, 'base64url'))
    const format = statement.get('fmt')
    const isSelfMade = format === 'packed' && statement.get('attStmt').get('x5c') === undefined
    if (format !== 'none' && !isSelfMade) throw new Error(`it has an attestation of the format ${format}`)
    return verifyRegistrationResponse({
      response: { id, rawId: id, type, response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.host,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
  }
}

/** The refusal of a passkey, for people. */
export function refused(reason: string): AppError {
  return new AppError('invalid_credentials', `the passkey was refused: ${reason}`)
}

const ClientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string().max(MAX_ORIGIN),
  crossOrigin: z.boolean().optional(),
})

/** What the browser says that the passkey was used for (WebAuthn section 5.8.1). */
function clientDataOf(encoded: string, type: string, site: Site): z.output<typeof ClientData> {
  const { success, data } = ClientData.safeParse(parsedJson(Buffer.from(encoded, 'base64url').toString()))
  if (!success || data.type !== type) throw refused(`clientDataJSON is not that of ${type}`)
  if (data.origin !== site.origin)
    throw refused(`it was used on ${data.origin}, and this dashboard is open at ${site.origin}`)
  if (data.crossOrigin) throw refused('it was used inside a page of another site')
  return data
}

function useToSignIn(host: string): Use {
  return { purpose: 'sign_in', host, sessionId: null }
}

function useToRegister(host: string, sessionId: string): Use {
  return { purpose: 'register', host, sessionId }
}

/** Refuses a passkey. What the library found is of use to developers, so it is only logged. */
function failVerification(cause: unknown): never {
  log.warn('a passkey was refused', { error: messageOf(cause) })
  throw refused('what the authenticator sent does not verify')
}
