import { getQuery, getRouterParams, type H3Event } from 'h3'
import { clientAddress } from '../accounts/client-address.ts'
import { viewUser } from '../accounts/operations.ts'
import { itemNounOf } from '../audit/action.ts'
import type { Attempt } from '../audit/recording.ts'
import type { Actor, Resource } from '../audit/schema.ts'
import { useContext } from '../context.ts'
import { kindOfId } from '../ids.ts'
import { selectTokenLabel } from '../tokens/store.ts'
import type { Principal } from './auth.ts'
import type { Request } from './request.ts'

/** Longer names of things are not names. */
const MAX_NAME = 256

/** What a contract says about its place in the audit log (`EndpointSpec`). */
export interface AuditedContract {
  audit?: string | false
  refusesHead?: true
}

/** Whether the audit log has a place for an operation. */
export function isRecorded(method: string, contract: AuditedContract): boolean {
  const { audit } = contract
  return audit !== false && (audit !== undefined || changesSomething(method, contract))
}

/** Whether an operation can change something; a GET does if it refuses HEAD. */
export function changesSomething(method: string, { refusesHead }: AuditedContract): boolean {
  return method !== 'GET' || refusesHead === true
}

/** The path of a request's contract, such as `/api/v1/services/:id`. */
export function routeOf(event: H3Event): string {
  return (event.context.matchedRoute as { path?: string } | undefined)?.path ?? event.path
}

/** Who wants to do an action, and from where. */
export function attemptOf(event: H3Event, principal: Principal, action: string): Attempt {
  const { req } = event.node
  return {
    actor: actorOf(event, principal),
    action,
    requestId: (req as Request).id,
    ip: clientAddress(req, useContext().options.trustedProxies) || null,
    userAgent: req.headers['user-agent'],
  }
}

/** What a request names in its path, without looking for it: a refusal must take as long for what exists as for what does not. */
export function namedIn(event: H3Event): Resource | null {
  const path = routeOf(event)
  const parameter = path.split('/').findLast((part) => part.startsWith(':'))
  const text = parameter && getRouterParams(event, { decode: true })[parameter.slice(1)]
  if (!text) return null
  const kind = kindOfId(text)
  if (kind) return { kind, id: text, name: null, environment: null }
  return { kind: itemNounOf(path), id: null, name: text.slice(0, MAX_NAME), environment: null }
}

function actorOf(event: H3Event, principal: Principal): Actor {
  switch (principal.kind) {
    case 'session':
      return { kind: 'session', id: principal.sessionId, name: viewUser()?.email ?? null }
    case 'token': {
      const { tokenId } = principal
      if (tokenId === null) return { kind: 'server_token', id: null, name: null }
      const label = selectTokenLabel(tokenId)
      return { kind: label?.holder ?? 'token', id: tokenId, name: label?.name ?? null }
    }
    case 'none':
      if (event.path.startsWith('/hooks/deploy/')) return { kind: 'deploy_hook', id: null, name: null }
      if (event.path.startsWith('/hooks/')) return { kind: 'webhook', id: null, name: null }
      return { kind: bearsToken(event) ? 'token' : 'session', id: null, name: null }
  }
}

function bearsToken(event: H3Event): boolean {
  return event.node.req.headers.authorization !== undefined || 'access_token' in getQuery(event)
}
