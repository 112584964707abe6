import type { AuditEvent } from '../api/types.ts'

/** What the page can show of the audit log; an empty text is everything. */
export interface AuditFilter {
  actor: string
  action: string
  resource: string
  environment: string
  outcome: string
  /** One of `TIMES`, or `BETWEEN` with its bounds. */
  time: string
  /** Moments of a field of date and time, in the user's own time zone. */
  since: string
  until: string
}

export const AUDIT_FILTERS: {
  name: 'actor' | 'action' | 'resource' | 'environment'
  label: string
  example: string
}[] = [
  { name: 'actor', label: 'Who', example: 'token, ci' },
  { name: 'action', label: 'Action', example: 'service, deploy.created' },
  { name: 'resource', label: 'What', example: 'web, srv-…' },
  { name: 'environment', label: 'Environment', example: 'production' },
]

const HOUR_MS = 3_600_000

/** Times to choose from, back from now. */
export const TIMES: Record<string, { label: string; ms: number }> = {
  '1h': { label: 'last hour', ms: HOUR_MS },
  '24h': { label: 'last 24 hours', ms: 24 * HOUR_MS },
  '7d': { label: 'last 7 days', ms: 7 * 24 * HOUR_MS },
  '30d': { label: 'last 30 days', ms: 30 * 24 * HOUR_MS },
}
/** The choice of a time with a beginning and an end. */
export const BETWEEN = 'between'

/** A filter as the API takes it, at this moment. */
export function queryOf(filter: AuditFilter, now: number): Record<string, string> {
  const { time, since, until, ...texts } = filter
  const back = TIMES[time]
  const moments =
    time === BETWEEN
      ? { since: instant(since), until: instant(until) }
      : { since: back ? new Date(now - back.ms).toISOString() : '' }
  return Object.fromEntries(Object.entries({ ...texts, ...moments }).filter(([, value]) => value !== ''))
}

/** What a field of date and time holds, as a moment; nothing for a text that is none. */
function instant(local: string): string {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}

/** How the page calls who acted. */
export function actorText({ kind, name, id }: AuditEvent['actor']): string {
  const words: Record<AuditEvent['actor']['kind'], string> = {
    session: name ?? 'the dashboard',
    token: name === null ? 'a token that is not known' : `token ${name}`,
    terminal: `terminal ${name ?? ''}`.trim(),
    server_token: 'the server token',
    deploy_hook: 'the deploy hook',
    webhook: 'a webhook',
    system: 'the server',
    host: name === null ? 'a command on the host' : `${name}, on the host`,
  }
  return words[kind] ?? id ?? kind
}

/** What an event was about: its name, outside of production with its environment. */
export function resourceText({ resource }: AuditEvent): string | null {
  if (resource === null) return null
  const name = resource.name ?? resource.id
  const isElsewhere = resource.environment !== null && resource.environment !== 'production'
  return name === null ? null : isElsewhere ? `${name}.${resource.environment}` : name
}

/** An action in words: `service.env_group_linked` as "service env group linked". */
export function actionText(action: string): string {
  const text = action.replace(/[._]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
