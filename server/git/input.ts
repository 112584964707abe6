import { z } from 'zod'
import { bareHost } from '../bare-host.ts'
import { AppError } from '../errors.ts'
import { hostFault } from '../reach/addresses.ts'
import { ownReach } from '../reach/judged.ts'
import { parseRepositoryUrl, repositoryUrlFault, usualPort } from './url.ts'

/** Longer addresses are nobody's. */
const MAX_URL_CHARACTERS = 2_048

/** Why a text is no repository address that this server may clone; null when it is one. A name is judged at the clone. */
export function deployableUrlFault(text: string): string | null {
  const fault = repositoryUrlFault(text)
  if (fault !== null) return fault
  const { host, port, protocol } = parseRepositoryUrl(text)!
  const found = hostFault(host, port ?? usualPort(protocol), ownReach())
  return found === null ? null : `must lead elsewhere: ${host} ${found}`
}

/** A repository address in a query or body. */
export const DEPLOYABLE_URL = z
  .string()
  .superRefine((text, context) => {
    const fault = deployableUrlFault(text)
    if (fault) context.addIssue(fault)
  })
  .meta({ examples: ['https://git.example.com/team/api.git'] })

/** The address of a self-hosted instance, without a slash at the end; null for none. Throws `invalid_request`. */
export function readBaseUrl(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null
  const url = readUrl(text, 'base_url')
  const fault = hostFault(bareHost(url.hostname), portOf(url), ownReach())
  if (fault !== null) throw refusal('base_url', `must lead elsewhere: ${url.hostname} ${fault}`)
  const path = url.pathname.split('/').filter((part) => part !== '')
  return [url.origin, ...path].join('/')
}

/** Where the browser comes back to. Throws `invalid_request`. */
export function readRedirectUri(text: string): URL {
  const url = readUrl(text, 'redirect_uri')
  if (!url.pathname.endsWith('/git/callback'))
    throw refusal('redirect_uri', "must be the dashboard's page /git/callback")
  return url
}

/** The port of a web address. */
export function portOf(url: URL): number {
  return url.port === '' ? usualPort(url.protocol === 'https:' ? 'https' : 'http') : Number(url.port)
}

function readUrl(text: string, field: string): URL {
  const url = text.length > MAX_URL_CHARACTERS ? null : URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw refusal(field, 'must be an absolute http or https URL')
  if (url.username !== '' || url.password !== '') throw refusal(field, 'must not carry credentials')
  if (/[?#]/.test(text)) throw refusal(field, 'must not have a query or fragment')
  return url
}

function refusal(field: string, message: string): AppError {
  return new AppError('invalid_request', `${field}: ${message}`)
}
