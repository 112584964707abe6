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
import { AppError, ERRORS, type ErrorCode } from '../errors.ts'
import { assertNoOtherOrigin, authenticate, type AuthRule, type Principal } from './auth.ts'
import { assertLength, BODY_LIMIT_BYTES, readJson, readJsonFromAnyone } from './body.ts'
import { isHead } from './head.ts'
import { KeptAnswers, type KeptFrom } from './kept-answers.ts'
import { sendJson } from './send.ts'
import { validate } from './validate.ts'
import type { SocketResponse } from './web-socket.ts'

/** A response that is not JSON: the handler writes it itself, and this describes it in the OpenAPI document. */
export interface RawResponse {
  contentType: string
  description: string
  /** Whether it supports `Range` and conditional requests. */
  ranges?: true
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
  /** Checks a credential of the endpoint's own, which `auth` does not know, before anything else can be reported. */
  admit?(given: Unjudged): void
  /** Refuses whatever a page of another site sends, before anything else: only programs and the dashboard may call it. */
  refusesOtherOrigins?: true
  /** Refuses HEAD for a GET that changes something, since HEAD is used to check links. */
  refusesHead?: true
  /** Status of a success; 200 when there is a response, 204 when there is none. */
  status?: 200 | 201 | 202
  /** What 200 means for an endpoint whose `status` is another; the handler chooses it with `event.context.existed`. */
  existing?: string
  params?: P
  query?: Q
  body?: B
  response?: R
  /** What the answer depends on besides path and query. The answer is computed once and reused until that changes. */
  keptFrom?: KeptFrom
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
export type Endpoint = EventHandler & { spec: AnyEndpointSpec }

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
  const kept = spec.keptFrom && new KeptAnswers(spec.keptFrom)
  const answer = async (event: H3Event) => {
    // For a path with a file of its own that lacks this method, the router falls back to a file that takes any name there.
    const names = spec.params && Object.values(getRouterParams(event))
    if (names?.length === 0) throw createError({ statusCode: 405 })
    if (spec.refusesHead && isHead(event.node.req)) throw createError({ statusCode: 405 })
    // The router also takes an empty segment, between two slashes, for a name.
    if (names?.includes('')) throw createError({ statusCode: 404 })
    setResponseHeader(event, 'cache-control', 'no-store')
    if (spec.refusesOtherOrigins) assertNoOtherOrigin(event)
    const principal = authenticate(event, spec.auth)
    spec.admit?.({ params: getRouterParams(event, { decode: true }), query: getQuery(event) })
    const bodySchema: Schema | RawBody = spec.body ?? (readsBody(event.method) ? NoFields : undefined)
    // 413, and whatever else the headers alone decide, goes before 400 and before the body is asked for.
    const limitBytes = isSchema(bodySchema) ? BODY_LIMIT_BYTES : bodySchema?.limitBytes
    if (limitBytes !== undefined) assertLength(event, limitBytes)
    const params = parse(spec.params, getRouterParams(event, { decode: true })) as Parsed<P>
    const query = parseQuery(spec.query ?? NoFields, withoutAccessToken(event)) as Parsed<Q>
    const read = spec.auth === 'none' ? readJsonFromAnyone : readJson
    const body = (isSchema(bodySchema) ? validate(bodySchema, await read(event)) : undefined) as Parsed<B>
    const reply = async () => spec.handler({ event, principal, params, query, body })
    if (kept) return (await kept.get(JSON.stringify([params, query]), reply)).send(event)
    const made = await reply()
    if (event.handled) return undefined
    if (!isSchema(spec.response)) return null
    const status = event.context.existed === true ? 200 : (spec.status ?? 200)
    return sendJson(event, status, spec.response.parse(made))
  }
  return Object.assign(
    defineEventHandler((event) => answer(event).catch(rethrow)),
    { spec },
  )
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
  throw createError({ statusCode: ERRORS[error.code], message: error.message, cause: error })
}
