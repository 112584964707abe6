import {
  browserSupportsWebAuthn,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser'
import { api } from '../api/client.ts'
import type { PasskeyAssertion, PasskeyAttestation } from '../api/types.ts'

type RequestOptions = Parameters<typeof startAuthentication>[0]['optionsJSON']
type CreationOptions = Parameters<typeof startRegistration>[0]['optionsJSON']

/** Why this page cannot use passkeys; null when it can. */
export function passkeysFault(): string | null {
  const { hostname } = location
  if (/^[\d.]+$|^\[/.test(hostname))
    return 'Passkeys belong to a host name, and this dashboard is open at an IP address.'
  if (!isSecureContext) return 'Browsers offer passkeys only over HTTPS.'
  return browserSupportsWebAuthn() ? null : 'This browser has no passkeys.'
}

/** Has the browser use a passkey of this host. Throws an error that says what the user can do. */
export async function usePasskey(): Promise<PasskeyAssertion> {
  const optionsJSON = await api('POST /auth/passkeys/options', { body: { purpose: 'sign_in' } })
  return startAuthentication({ optionsJSON: optionsJSON as RequestOptions }).catch(explain)
}

/** Has the browser create a passkey for this host. Throws an error that says what the user can do. */
export async function createPasskey(): Promise<PasskeyAttestation> {
  const optionsJSON = await api('POST /auth/passkeys/options', { body: { purpose: 'register' } })
  return startRegistration({ optionsJSON: optionsJSON as CreationOptions }).catch(explain)
}

/** The browser does not say whether the user canceled, had no passkey, or took too long. */
function explain(error: unknown): never {
  if (error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED')
    throw new Error('This device already has a passkey for this server.')
  if (error instanceof Error && ['NotAllowedError', 'AbortError'].includes(error.name))
    throw new Error('No passkey was used: it was canceled, took too long, or there is none for this host.')
  throw error
}
