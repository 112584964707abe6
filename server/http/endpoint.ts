import {
  createError,
  defineEventHandler,
  getQuery,
  getRouterParams,
  setResponseHeader,
  type EventHandler,
  type H3Event,
} from 'h3'
import { z } from 'zod'
import { isUnlimited, MODES, type Access, type Mode } from '../access/access.ts'
import { asCaller, callersReach } from '../access/caller.ts'
import { assertMayCall, assertMayGive, type Within } from '../access/check.ts'
import { showing } from '../access/shown.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import { audited } from './audited.ts'
import { accessOf, assertNoOtherOrigin, authenticate, type AuthRule, type Principal } from './auth.ts'
import { assertLength, BODY_LIMIT_BYTES, readJson, readJsonFromAnyone } from './body.ts'
import { isHead } from './head.ts'
import { KeptAnswers, type KeptFrom } from './kept-answers.ts'
import { recordRefusal } from './refusals.ts'
import { sendJson } from './send.ts'
import { assertAccepted } from '../upgrade/trial.ts'
import { validate } from './validate.ts'
import type { SocketResponse } from './web-socket.ts'

/** A response that is not JSON: the handler writes it itself, and this describes it in the OpenAPI document. */
export interface RawResponse {
  contentType: string
  description: string
  /** Whether it supports `Range` and conditional requests. */
  ranges?: true
  /** Whether it never contains values of variables, keys or passwords; otherwise only those who may see them get it. */
  isOpen?: true
}

/** A body that is not JSON: the handler reads it from the event. */
export interface RawBody {
  contentType: string
  description: string
  /** The JSON form of the body, if the endpoint accepts one too; `readText` reads either. */
  json?: z.ZodType
  /** The maximum `content-length`; absent when the handler checks credentials first. */
  limitBytes?: number
}

/** The parameters of a request before any check. */
export interface Unjudged {
  params: Record<string, string>
  query: Record<string, unknown>
}

type Schema = z.ZodType | undefined
type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined
type Reply<R> = R extends z.ZodType ? z.input<R> : void

/** Everything about an endpoint except its path and method, which its file name says. */
export interface EndpointSpec<
  P extends Schema,
  Q extends Schema,
  B extends Schema | RawBody,
  R extends Schema | RawResponse | SocketResponse,
> {
  summary: string
  description?: string
  /** `token`: an API token or the dashboard's session; `session`: the session alone; `none`: anyone. */
  auth: AuthRule
  /** The least that a token must be allowed to call it: `read`, `deploy` or `full`. */
  least: Mode
  /** Which tokens may call it that are restricted to environments or services; none when absent. */
  within?: Within
  /** Checks a credential of the endpoint's own, which `auth` does not know, before anything else can be reported. */
  admit?(given: Unjudged): void
  /** Refuses whatever a page of another site sends, before anything else: only programs and the dashboard may call it. */
  refusesOtherOrigins?: true
  /** Refuses HEAD for a GET that changes something, since HEAD is used to check links. */
  refusesHead?: true
  /** Status of a success; 200 when there is a response, 204 when there is none. */
  status?: 200 | 201 | 202
  /**
   * What 200 means for an endpoint whose `status` is another; the handler chooses it with `event.context.existed`. An answer
   * of another shape is one of the alternatives of `response`.
   */
  existing?: string | { description: string; answer: z.ZodType }
  params?: P
  query?: Q
  body?: B
  response?: R
  /** The content types in which the handler itself writes the answer when the request asks for them, instead of JSON. */
  otherForms?: readonly string[]
  /** What the answer depends on besides path and query. The answer is computed once and reused until that changes. */
  keptFrom?: KeptFrom
  /**
   * What the audit log calls this operation, where its method and path do not say it; false if it changes nothing that lasts.
   * A GET is recorded only if this names it. A handler that changes nothing after all sets `event.context.changedNothing`.
   */
  audit?: string | false
  /** What the audit log calls it with this body, if that is something else; null for `audit`. */
  auditedAs?(body: Parsed<B>): string | null
  /** What the audit log says that was changed, where the fields of the body do not say it (null if they do); never a secret's value. */
  changes?(reply: Reply<R>, body: Parsed<B>): string[] | null
  /** Error codes of this operation beyond those that follow from its shape. */
  errors?: readonly ErrorCode[]
  handler(context: {
    event: H3Event
    principal: Principal
    params: Parsed<P>
    query: Parsed<Q>
    body: Parsed<B>
  }): Reply<R> | Promise<Reply<R>>
}

/** The contract of an endpoint with its types erased, as the OpenAPI document reads it. */
export type AnyEndpointSpec = Omit<
  EndpointSpec<Schema, Schema, Schema | RawBody, Schema | RawResponse | SocketResponse>,
  'handler'
>
export type Endpoint = EventHandler & {
  spec: AnyEndpointSpec
  /** Calls the handler for another part of the server, which has made sure that the caller may know the answer. */
  read(event: H3Event, params: Record<string, string>, query: Record<string, unknown>): unknown
}

/** Whether a declared body or response is a zod schema. */
export function isSchema(part: Schema | RawBody | RawResponse | SocketResponse): part is z.ZodType {
  return part instanceof z.ZodType
}

/** Whether a declared response is a WebSocket. */
export function isSocket(response: Schema | RawResponse | SocketResponse): response is SocketResponse {
  return response !== undefined && 'subprotocol' in response
}

/**
 * Defines an endpoint of the API; there is no other way to do it. The contract is enforced at run time (credentials, then
 * parameters, query and body, then the shape of the answer), and the OpenAPI document is generated from it.
 */
export function defineEndpoint<
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema | RawBody = undefined,
  R extends Schema | RawResponse | SocketResponse = undefined,
>(spec: EndpointSpec<P, Q, B, R>): Endpoint {
  if (!MODES.includes(spec.least)) throw new TypeError(`the contract "${spec.summary}" lacks \`least\``)
  const kept = spec.keptFrom && new KeptAnswers(spec.keptFrom)
  const response: Schema | RawResponse | SocketResponse = spec.response
  const shown = isSchema(response) ? showing(response) : undefined
  const hasSecrets = response !== undefined && 'contentType' in response && response.isOpen !== true
  /** Sends what the handler returned, as far as the caller may see it. */
  const send = (event: H3Event, access: Access, made: unknown) => {
    if (event.handled) return undefined
    if (!isSchema(response)) return null
    const status = event.context.existed === true ? 200 : (spec.status ?? 200)
    const whole: unknown = response.parse(made)
    if (isUnlimited(access)) return sendJson(event, status, whole)
    return sendJson(event, status, shown!(whole, { secrets: access.secrets, reach: callersReach() }))
  }
  const answer = async (event: H3Event) => {
    // For a path with a file of its own that lacks this method, the router falls back to a file that takes any name there.
    const names = spec.params && Object.values(getRouterParams(event))
    if (names?.length === 0) throw createError({ statusCode: 405 })
    if (spec.refusesHead && isHead(event.node.req)) throw createError({ statusCode: 405 })
    // The router also takes an empty segment, between two slashes, for a name.
    if (names?.includes('')) throw createError({ statusCode: 404 })
    setResponseHeader(event, 'cache-control', 'no-store')
    if (spec.refusesOtherOrigins) assertNoOtherOrigin(event)
    // A GET that refuses HEAD changes something.
    if (readsBody(event.method) || spec.refusesHead) assertAccepted()
    const principal = authenticate(event, spec.auth)
    const access = accessOf(principal)
    assertMayCall(access, { least: spec.least, within: spec.within, hasSecrets })
    spec.admit?.({ params: getRouterParams(event, { decode: true }), query: getQuery(event) })
    const bodySchema: Schema | RawBody = spec.body ?? (readsBody(event.method) ? NoFields : undefined)
    // 413, and whatever else the headers alone decide, goes before 400 and before the body is asked for.
    const limitBytes = isSchema(bodySchema) ? BODY_LIMIT_BYTES : bodySchema?.limitBytes
    if (limitBytes !== undefined) assertLength(event, limitBytes)
    const params = parse(spec.params, getRouterParams(event, { decode: true })) as Parsed<P>
    const query = parseQuery(spec.query ?? NoFields, withoutAccessToken(event)) as Parsed<Q>
    const read = spec.auth === 'none' ? readJsonFromAnyone : readJson
    const body = (isSchema(bodySchema) ? validate(bodySchema, await read(event)) : undefined) as Parsed<B>
    if (isSchema(bodySchema)) assertMayGive(access, bodySchema, body)
    return asCaller(access, async () => {
      const reply = async () => spec.handler({ event, principal, params, query, body })
      // What is kept is everything, so it is only for those who may see that.
      if (kept && isUnlimited(access))
        return (await kept.get(JSON.stringify([params, query]), reply)).send(event)
      return send(event, access, await audited({ event, spec, principal, body }, reply))
    })
  }
  return Object.assign(
    defineEventHandler((event) =>
      answer(event).catch((error: unknown) => {
        recordRefusal(event, spec, error)
        rethrow(error)
      }),
    ),
    { spec, read: readerOf(spec) },
  )
}

function readerOf<
  P extends Schema,
  Q extends Schema,
  B extends Schema | RawBody,
  R extends Schema | RawResponse | SocketResponse,
>(spec: EndpointSpec<P, Q, B, R>): Endpoint['read'] {
  const fields = Object.keys(spec.query instanceof z.ZodObject ? spec.query.shape : {})
  return (event, given, asked) => {
    const params = parse(spec.params, given) as Parsed<P>
    const own = Object.fromEntries(fields.filter((name) => name in asked).map((name) => [name, asked[name]]))
    const query = parse(spec.query ?? NoFields, own) as Parsed<Q>
    return spec.handler({ event, principal: { kind: 'none' }, params, query, body: undefined as Parsed<B> })
  }
}

/** Whether a body is read for this method even when the contract has none, so that unknown fields are refused. */
export function readsBody(method: string): boolean {
  return ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method.toUpperCase())
}

const NoFields = z.strictObject({})

function parse(schema: Schema, input: unknown): unknown {
  return schema ? validate(schema, input) : undefined
}

/** Refuses a repeated parameter, which h3 turns into a list: it is not clear which value was meant. */
function parseQuery(schema: z.ZodType, given: Record<string, unknown>): unknown {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const repeated = known.find((name) => Array.isArray(given[name]))
  if (repeated !== undefined) throw new AppError('invalid_request', `${repeated}: given more than once`)
  return validate(schema, given)
}

/** Removes `access_token`, a credential that any GET may carry and not a field of the query. */
function withoutAccessToken(event: H3Event): Record<string, unknown> {
  const { access_token: _, ...query } = getQuery(event)
  const names = new URLSearchParams(event.path.split('?').slice(1).join('?'))
  // h3 reads `?=force` as a parameter named `force`.
  if (names.has('')) throw new AppError('invalid_request', '"": unknown field')
  // h3 drops these, so they would never be reported as unknown.
  const hidden = ['__proto__', 'constructor'].filter((name) => names.has(name))
  return { ...query, ...Object.fromEntries(hidden.map((name) => [name, ''])) }
}

/** Wraps an AppError for h3, which replaces a foreign error by that error's cause. */
function rethrow(error: unknown): never {
  if (!(error instanceof AppError)) throw error
  throw createError({ statusCode: error.httpStatus, message: error.message, cause: error })
}
