import type { EdgeDefaultsPatch, Service, ServicePatch } from '../api/types.ts'
import {
  headersOf,
  headerLines,
  linesOf,
  redirectLines,
  redirectsOf,
  sourceLines,
  sourcesOf,
} from './lines.ts'

type EdgePatch = Required<
  Pick<
    ServicePatch,
    | 'ip_allow_list'
    | 'redirects'
    | 'maintenance'
    | 'rate_limit'
    | 'basic_auth'
    | 'headers'
    | 'session_affinity'
    | 'upstream_timeout_seconds'
    | 'max_body_mb'
    | 'access_log'
  >
>

type Shown = Pick<Service, keyof EdgePatch>

/** A user as the form has it; an empty password keeps the saved one. */
export interface FormUser {
  username: string
  password: string
}

/** Who gets in, as form fields: texts with an entry per line. */
export type AccessForm = {
  /** Whether only the addresses of the list get in. */
  restricts_addresses: boolean
  ip_allow_list: string
  /** JSON: a list of `FormUser`. */
  basic_auth: string
  except_paths: string
}

/** What a service asks for its requests, as form fields. */
export type EdgeForm = AccessForm & {
  redirects: string
  headers: string
  maintenance: boolean
  message: string
  page: string
  retry_after_seconds: string
  allow_ips: string
  requests: string
  period_seconds: string
  burst: string
  session_affinity: boolean
  upstream_timeout_seconds: string
  max_body_mb: string
  access_log: boolean
}

/** Fields that can show their own errors. */
export const EDGE_FIELDS = [
  'ip_allow_list',
  'basic_auth',
  'redirects',
  'headers',
  'maintenance',
  'rate_limit',
  'upstream_timeout_seconds',
  'max_body_mb',
]

/** How long clients are asked to wait, and how long a period is, unless it is said. */
const USUAL_SECONDS = 60

export function accessFormOf(shown: Pick<Shown, 'ip_allow_list' | 'basic_auth'>): AccessForm {
  const users = (shown.basic_auth?.users ?? []).map(({ username }): FormUser => ({ username, password: '' }))
  return {
    restricts_addresses: shown.ip_allow_list !== null,
    ip_allow_list: sourceLines(shown.ip_allow_list ?? []),
    basic_auth: JSON.stringify(users),
    except_paths: (shown.basic_auth?.except_paths ?? []).join('\n'),
  }
}

export function edgeFormOf(service: Shown): EdgeForm {
  const { maintenance, rate_limit } = service
  const number = (value: number | null | undefined): string => (value ? String(value) : '')
  return {
    ...accessFormOf(service),
    redirects: redirectLines(service.redirects ?? []),
    headers: headerLines(service.headers ?? []),
    maintenance: maintenance?.enabled ?? false,
    message: maintenance?.message ?? '',
    page: maintenance?.page ?? '',
    retry_after_seconds: String(maintenance?.retry_after_seconds ?? USUAL_SECONDS),
    allow_ips: (maintenance?.allow_ips ?? []).join('\n'),
    requests: number(rate_limit?.requests),
    period_seconds: String(rate_limit?.period_seconds ?? USUAL_SECONDS),
    burst: rate_limit && rate_limit.burst !== rate_limit.requests ? String(rate_limit.burst) : '',
    session_affinity: service.session_affinity,
    upstream_timeout_seconds: number(service.upstream_timeout_seconds),
    max_body_mb: number(service.max_body_mb),
    access_log: service.access_log,
  }
}

/** The users of a form, without empty rows. */
export function usersOf({ basic_auth }: Pick<AccessForm, 'basic_auth'>): FormUser[] {
  return JSON.parse(basic_auth) as FormUser[]
}

function accessOf(form: AccessForm): Required<EdgeDefaultsPatch> {
  const users = usersOf(form).filter(({ username, password }) => username !== '' || password !== '')
  return {
    ip_allow_list: form.restricts_addresses ? sourcesOf(form.ip_allow_list) : null,
    basic_auth:
      users.length === 0
        ? null
        : {
            users: users.map(({ username, password }) => ({ username, password: password || null })),
            except_paths: linesOf(form.except_paths),
          },
  }
}

/** The fields as the API takes them. */
function wireOf(form: EdgeForm): EdgePatch {
  const number = (text: string): number | null => (text === '' ? null : Number(text))
  const redirects = redirectsOf(form.redirects)
  const headers = headersOf(form.headers)
  const requests = number(form.requests)
  const burst = number(form.burst)
  return {
    ...accessOf(form),
    redirects: redirects.length === 0 ? null : redirects,
    headers: headers.length === 0 ? null : headers,
    maintenance: maintenanceOf(form),
    rate_limit:
      requests === null
        ? null
        : {
            requests,
            period_seconds: number(form.period_seconds) ?? USUAL_SECONDS,
            ...(burst !== null && { burst }),
          },
    session_affinity: form.session_affinity,
    upstream_timeout_seconds: number(form.upstream_timeout_seconds),
    max_body_mb: number(form.max_body_mb),
    access_log: form.access_log,
  }
}

/** What was written stays while maintenance is off, for the next time. */
function maintenanceOf(form: EdgeForm): EdgePatch['maintenance'] {
  const maintenance = {
    enabled: form.maintenance,
    message: form.message.trim() || null,
    page: form.page.trim() === '' ? null : form.page,
    retry_after_seconds: Number(form.retry_after_seconds) || USUAL_SECONDS,
    allow_ips: linesOf(form.allow_ips),
  }
  const { enabled, message, page, allow_ips } = maintenance
  return enabled || message !== null || page !== null || allow_ips.length > 0 ? maintenance : null
}

/** The changes of a form, so that saving touches nothing else. */
export function edgePatchOf(before: EdgeForm, after: EdgeForm): ServicePatch {
  return changesBetween(wireOf(before), wireOf(after))
}

export function accessPatchOf(before: AccessForm, after: AccessForm): EdgeDefaultsPatch {
  return changesBetween(accessOf(before), accessOf(after))
}

function changesBetween<T extends object>(before: T, after: T): Partial<T> {
  const names = Object.keys(after) as (keyof T)[]
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  return Object.fromEntries(changed.map((name) => [name, after[name]])) as Partial<T>
}
