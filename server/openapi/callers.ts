import type { Mode } from '../access/access.ts'
import type { Within } from '../access/check.ts'
import { isSchema, isSocket, type AnyEndpointSpec } from '../http/endpoint.ts'

/** Whether API tokens may call it, so that it depends on the token whether it does. */
export function takesTokens({ auth }: AnyEndpointSpec): boolean {
  return auth !== 'none' && auth !== 'session'
}

/** Sentences about who may call an operation. */
export function callersOf(spec: AnyEndpointSpec): string[] {
  const sentence = AUTH_SENTENCES[spec.auth]
  if (!takesTokens(spec)) return [sentence]
  const secrets = isOpenTo(spec) ? '' : ', and sees secrets'
  return [
    `${sentence} ${LEAST_SENTENCES[spec.least]}${secrets}; ${WITHIN_SENTENCES[spec.within ?? 'server']}.`,
  ]
}

/** Whether tokens that see no secrets may call it too; in JSON, secrets are null for them. */
function isOpenTo({ response }: AnyEndpointSpec): boolean {
  return !response || isSchema(response) || isSocket(response) || response.isOpen === true
}

const LEAST_SENTENCES: Record<Mode, string> = {
  read: 'A token with access needs any mode',
  deploy: 'A token with access needs the mode `deploy` or `full`',
  full: 'A token with access needs the mode `full`',
}

const WITHIN_SENTENCES: Record<Within | 'server', string> = {
  service: 'one that is restricted to environments or services reaches only those',
  environment:
    'one that is restricted to environments reaches only those, one that is restricted to services is refused',
  server: 'one that is restricted to environments or services is refused',
}

const AUTH_SENTENCES: Record<AnyEndpointSpec['auth'], string> = {
  token: "Needs an API token or the dashboard's session.",
  api_token: "Needs an API token; the dashboard's session is not accepted.",
  header_token: "Needs an API token in the header; the query and the dashboard's session are not accepted.",
  session: "Needs the dashboard's session; an API token is refused.",
  none: 'Needs no API token and no session.',
}
