import { bareHost, hostFault, portOf } from '../network/addresses.ts'
import { ownReach } from '../network/judged.ts'
import { judged } from '../schema.ts'
import { hiddenFault } from '../text/redaction.ts'
import { parseRepositoryUrl, repositoryUrlFault, usualPort } from './url.ts'

/** No real address is longer. */
const MAX_URL_CHARACTERS = 2_048
const LENGTHS = { minLength: 1, maxLength: MAX_URL_CHARACTERS }

/**
 * Why a text is not a repository address that this server may clone; null when it is one. Host names are resolved and judged
 * when cloning.
 */
export function deployableUrlFault(text: string): string | null {
  const fault = repositoryUrlFault(text)
  if (fault !== null) return fault
  const { host, port, protocol } = parseRepositoryUrl(text)!
  const found = hostFault(host, port ?? usualPort(protocol), ownReach())
  return found === null ? null : `must use another host: ${host} ${found}`
}

/** A repository address in a query or body. */
export const DEPLOYABLE_URL = judged(deployableUrlFault).meta({
  examples: ['https://git.example.com/team/api.git'],
})

/** A repository address that is read once and not stored, so its credentials are part of it. */
export const ASKED_URL = judged((text) => deployableUrlFault(text) ?? hiddenFault(text)).meta({
  examples: ['https://git.example.com/team/api.git'],
})

/** The address of a self-hosted instance, stored without a trailing slash. */
export const BASE_URL = judged((text) => {
  const fault = webUrlFault(text)
  if (fault !== null) return fault
  const url = new URL(text)
  const found = hostFault(bareHost(url.hostname), portOf(url), ownReach())
  return found === null ? null : `must use another host: ${url.hostname} ${found}`
})
  .meta(LENGTHS)
  .transform((text) => {
    const url = new URL(text)
    const path = url.pathname.split('/').filter((part) => part !== '')
    return [url.origin, ...path].join('/')
  })

/** Where the browser returns to. */
export const REDIRECT_URI = judged((text) => {
  const fault = webUrlFault(text)
  if (fault !== null) return fault
  return new URL(text).pathname.endsWith('/git/callback')
    ? null
    : "must be the dashboard's page /git/callback"
}).meta(LENGTHS)

function webUrlFault(text: string): string | null {
  const url = text.length > MAX_URL_CHARACTERS ? null : URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an absolute http or https URL'
  if (url.username !== '' || url.password !== '') return 'must not carry credentials'
  return /[?#]/.test(text) ? 'must not have a query or fragment' : null
}
