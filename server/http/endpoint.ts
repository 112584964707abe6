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
import { authenticate, type AuthRule, type Principal } from './auth.ts'
import { assertLength, BODY_LIMIT_BYTES, readJson, readJsonFromAnyone } from './body.ts'
import { isHead } from './head.ts'
import { KeptAnswers, type KeptFrom } from './kept-answers.ts'
import { sendJson } from './send.ts'
import { validate } from './validate.ts'

/** A response that is not JSON: the handler writes it itself, this says to the OpenAPI document what it is. */
export interface RawResponse {
  contentType: string
  description: string
  /** A part of it may be asked for by `Range`, and whether it is sent made to depend on what the client has. */
  ranges?: true
}

/** A body that is not JSON: the handler reads it from the event. */
export interface RawBody {
  contentType: string
  description: string
  /** What the same endpoint takes as JSON; `readText` reads either. */
  json?: z.ZodType
  /** What its head may declare; absent where the handler judges credentials. */
  limitBytes?: number
}

/** Of a request of which nothing is judged yet. */
export interface Unjudged {
  params: Record<string, string>
  query: Record<string, unknown>
}

type Schema = z.ZodType | undefined
type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined
type Reply<R> = R extends z.ZodType ? z.input<R> : void

/** Everything about an endpoint but its path and method, which its file name says. */
export interface EndpointSpec<
  P extends Schema,
  Q extends Schema,
  B extends Schema | RawBody,
  R extends Schema | RawResponse,
> {
  summary: string
  description?: string
  /** `token`: an API token or the dashboard's session; `session`: the session alone; `none`: anyone. */
  auth: AuthRule
  /** Judges a credential that is the endpoint's own, of which `auth` knows nothing, before whatever else may be wrong. */
  admit?(given: Unjudged): void
  /** Of a GET that changes something: a HEAD, with which links are only looked at, is no method of it. */
  refusesHead?: true
  /** Of a success; 200 when a response is declared, 204 when none is. */
  status?: 200 | 201 | 202
  /** What a 200 in place of `status` means; the handler says by `event.context.existed` that this is one. */
  existing?: string
  params?: P
  query?: Q
  body?: B
  response?: R
  /** What the answer follows from, beside path and query alone: it is made once for as long as that holds. */
  keptFrom?: KeptFrom
  /** Codes that this operation answers beyond those that follow from its shape. */
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
  EndpointSpec<Schema, Schema, Schema | RawBody, Schema | RawResponse>,
  'handler'
>
export type Endpoint = EventHandler & { spec: AnyEndpointSpec }

/** Whether a declared body or response is a zod schema. */
export function isSchema(part: Schema | RawBody | RawResponse): part is z.ZodType {
  return part instanceof z.ZodType
}

/**
 * The one way to define an endpoint of the API. The contract is enforced at run time (credentials, then parameters,
 * query and body, then the shape of the answer) and is what the OpenAPI document is made from.
 */
export function defineEndpoint<
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema | RawBody = undefined,
  R extends Schema | RawResponse = undefined,
>(spec: EndpointSpec<P, Q, B, R>): Endpoint {
  const kept = spec.keptFrom && new KeptAnswers(spec.keptFrom)
  const answer = async (event: H3Event) => {
    // The router takes a path that is a file of its own, but not for this method, to where any name may stand.
    const names = spec.params && Object.values(getRouterParams(event))
    if (names?.length === 0) throw createError({ statusCode: 405 })
    if (spec.refusesHead && isHead(event.node.req)) throw createError({ statusCode: 405 })
    // It takes two slashes for a name between them, too.
    if (names?.includes('')) throw createError({ statusCode: 404 })
    setResponseHeader(event, 'cache-control', 'no-store')
    const principal = authenticate(event, spec.auth)
    spec.admit?.({ params: getRouterParams(event, { decode: true }), query: getQuery(event) })
    const bodySchema: Schema | RawBody = spec.body ?? (takesBody(event.method) ? NoFields : undefined)
    // 413 goes before 400, and whatever the head alone refuses before a body is asked for.
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

/** Whether a method's body is read, although the contract has none: so that an unknown field is refused. */
export function takesBody(method: string): boolean {
  return ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method.toUpperCase())
}

const NoFields = z.strictObject({})

function parse(schema: Schema, input: unknown): unknown {
  return schema ? validate(schema, input) : undefined
}

/** h3 makes a list of a parameter that stands more than once, of which nobody could say which was meant. */
function parseQuery(schema: z.ZodType, given: Record<string, unknown>): unknown {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const repeated = known.find((name) => Array.isArray(given[name]))
  if (repeated !== undefined) throw new AppError('invalid_request', `${repeated}: stands more than once`)
  return validate(schema, given)
}

/** `access_token` is a credential that any GET may carry, not a field of the query. */
function withoutAccessToken(event: H3Event): Record<string, unknown> {
  const { access_token: _, ...query } = getQuery(event)
  const names = new URLSearchParams(event.path.split('?').slice(1).join('?'))
  // h3 takes the value of `?=force` for the name.
  if (names.has('')) throw new AppError('invalid_request', '"": unknown field')
  // h3 leaves these out before anybody could say that there are none such.
  const hidden = ['__proto__', 'constructor'].filter((name) => names.has(name))
  return { ...query, ...Object.fromEntries(hidden.map((name) => [name, ''])) }
}

/** h3 replaces a foreign error by one with that error's own cause, which would lose an AppError that has a cause. */
function rethrow(error: unknown): never {
  if (!(error instanceof AppError)) throw error
  throw createError({ statusCode: ERRORS[error.code], message: error.message, cause: error })
}
