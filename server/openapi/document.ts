import { z } from 'zod'
import { actionOf } from '../audit/action.ts'
import { ERRORS, type ErrorCode } from '../errors.ts'
import { isRecorded } from '../http/attempts.ts'
import { isSchema, isSocket, readsBody, type AnyEndpointSpec } from '../http/endpoint.ts'
import { callersOf, takesTokens } from './callers.ts'
import { ERROR_SCHEMA, errorExamples, errorResponses } from './errors.ts'
import { exampleOf, rawExample } from './examples.ts'
import { parametersOf } from './parameters.ts'
import { SchemaCollector, type Json } from './schemas.ts'
import { tagOf } from './tags.ts'

/** A route as the build found it: Nitro's path (`/api/v1/services/:id`), method in lower case, the file's export. */
export interface ListedEndpoint {
  path: string
  method: string
  handler: { spec?: AnyEndpointSpec }
}

/** What the document says about the server that it describes. */
export interface DocumentInfo {
  version: string
}

/** Paths of pages, which programs do not use, and of the Model Context Protocol, which describes itself. */
const OTHERS = /^\/(?:api\/docs|mcp)(?:\/|$)/

/** The OpenAPI 3.1 document of every endpoint that has a contract, generated from the contracts alone. */
export function buildOpenApi(endpoints: readonly ListedEndpoint[], info: DocumentInfo): Json {
  const collector = new SchemaCollector()
  const paths: Record<string, Json> = {}
  const tags = new Map<string, Json>()
  const codes = new Set<ErrorCode>()
  for (const { path, method, spec } of documented(endpoints)) {
    const tag = tagOf(path)
    tags.set(tag.name, { ...tag })
    for (const code of codesOf(method, path, spec)) codes.add(code)
    const operations = (paths[path] ??= {})
    operations[method] = { tags: [tag.name], ...describeOperation(path, method, spec, collector) }
  }
  collector.components.Error = ERROR_SCHEMA
  return {
    openapi: '3.1.0',
    info: {
      title: 'Deployer',
      version: info.version,
      summary: 'A self-hosted deployment server',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This server' }],
    tags: [...tags.values()].toSorted((a, b) => String(a.name).localeCompare(String(b.name))),
    paths,
    components: {
      schemas: sorted(collector.components),
      examples: sorted(errorExamples(codes)),
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

const DESCRIPTION = `Builds and runs applications on one host from a git repository, a container image or an uploaded
archive, for one administrator.

- Bodies are JSON; an empty body counts as \`{}\`; a field, query parameter or duplicate key that is not documented is refused.
- A body may have at most 2 MiB, unless noted otherwise.
- Timestamps are RFC 3339 in UTC with milliseconds.
- Where a path says *id or name*, both work; a name is looked up in the environment given by the query \`environment\`, by default in production.
- Booleans in a query are true as \`true\`, \`1\`, \`yes\`, \`on\`, \`y\` or the bare name, false as \`false\`, \`0\`, \`no\`, \`off\`, \`n\`.
- Streams are Server-Sent Events without ids, with a comment every 15 seconds; the event \`end\` closes a stream that is
  complete, a stream that ends without it was interrupted.
- An unknown path answers 404 \`not_found\`; a known path with another method 405 \`method_not_allowed\` and \`Allow\`.`

const SECURITY_SCHEMES = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API token: the server token, or one created in the dashboard or by the sign-in of a terminal',
  },
  query: {
    type: 'apiKey',
    in: 'query',
    name: 'access_token',
    description:
      'The same token in the query of a GET request, for browser event sources, which cannot set headers. ' +
      'Prefer the header: URLs end up in histories and logs.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'deployer_session_7878',
    description:
      'The session of the dashboard, set by sign-in. The number in the name is the port of the address that the browser uses. ' +
      "A change must come from the dashboard's own origin.",
  },
}

interface Documented {
  path: string
  method: string
  spec: AnyEndpointSpec
}

function documented(endpoints: readonly ListedEndpoint[]): Documented[] {
  return endpoints
    .flatMap(({ path, method, handler }) => {
      if (!handler.spec || OTHERS.test(path) || path.includes('**')) return []
      return [{ path: path.replaceAll(/:(\w+)/g, '{$1}'), method: method.toLowerCase(), spec: handler.spec }]
    })
    .toSorted((a, b) => a.path.localeCompare(b.path) || a.method.localeCompare(b.method))
}

function describeOperation(
  path: string,
  method: string,
  spec: AnyEndpointSpec,
  collector: SchemaCollector,
): Json {
  const parameters = parametersOf(path, spec, collector)
  return {
    operationId: operationId(path, method),
    summary: spec.summary,
    description: [spec.description, ...callersOf(spec)].filter(Boolean).join('\n\n'),
    ...(takesTokens(spec) ? { 'x-least-access': spec.least } : {}),
    security: securityOf(method, spec),
    ...(isRecorded(method.toUpperCase(), spec)
      ? { 'x-audit-action': spec.audit || actionOf(method.toUpperCase(), path) }
      : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(spec.body ? { requestBody: requestBody(path, spec.body, collector) } : {}),
    responses: {
      ...successResponse(path, spec, collector),
      ...errorResponses(codesOf(method, path, spec)),
    },
  }
}

function securityOf(method: string, { auth }: AnyEndpointSpec): Json[] {
  if (auth === 'none') return []
  if (auth === 'session') return [{ session: [] }]
  if (auth === 'header_token') return [{ token: [] }]
  const session = auth === 'api_token' ? [] : [{ session: [] }]
  return [{ token: [] }, ...(method === 'get' ? [{ query: [] }] : []), ...session]
}

/** Turns `POST /api/v1/services/{id}/scale` into `postServicesByIdScale`. */
function operationId(path: string, method: string): string {
  const words = path
    .replace(/^\/api\/(v1\/)?/, '/')
    .replaceAll(/\{(\w+)\}/g, 'by/$1')
    .split(/[^a-zA-Z0-9]+/)
    .filter(Boolean)
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** The error codes of an operation: those that follow from its shape, then those that its contract names. */
function codesOf(method: string, path: string, spec: AnyEndpointSpec): ErrorCode[] {
  const codes: ErrorCode[] = ['invalid_request', 'misdirected_request']
  if (spec.auth !== 'none') codes.push('unauthorized')
  if (spec.auth === 'token' || spec.auth === 'session') codes.push('cross_site_request')
  if (spec.auth === 'session') codes.push('session_required')
  if (takesTokens(spec)) codes.push('forbidden')
  if (spec.refusesOtherOrigins) codes.push('cross_site_request')
  if (isSocket(spec.response)) codes.push('upgrade_required')
  if (path.includes('{') || namesEnvironment(spec)) codes.push('not_found')
  if (readsBody(method)) codes.push('payload_too_large')
  // While an upgrade is on trial, and when there is no room for bodies of strangers.
  if (readsBody(method) || spec.refusesHead) codes.push('service_unavailable')
  if (spec.response && 'ranges' in spec.response && spec.response.ranges)
    codes.push('precondition_failed', 'range_not_satisfiable')
  codes.push(...(spec.errors ?? []), 'internal_error', 'database_error', 'io_error')
  return [...new Set(codes)].toSorted((a, b) => ERRORS[a] - ERRORS[b])
}

/** Whether the query or the body can name an environment, which may not exist. */
function namesEnvironment({ query, body }: AnyEndpointSpec): boolean {
  const json = body && !isSchema(body) ? body.json : body
  return [query, json].some((part) => part instanceof z.ZodObject && 'environment' in part.shape)
}

function requestBody(
  path: string,
  body: NonNullable<AnyEndpointSpec['body']>,
  collector: SchemaCollector,
): Json {
  if (!isSchema(body)) {
    const content = { [body.contentType]: rawContent(path, body.contentType) }
    return {
      description: body.description,
      required: true,
      content: { ...(body.json ? jsonBody(body.json, collector).content : {}), ...content },
    }
  }
  return { ...jsonBody(body, collector) }
}

function jsonBody(body: z.ZodType, collector: SchemaCollector): { required: boolean; content: Json } {
  const schema = collector.convert(body, 'input')
  const required = ((collector.resolve(schema).required ?? []) as string[]).length > 0
  return { required, content: { 'application/json': { schema, example: exampleOf(schema, collector) } } }
}

function successResponse(path: string, spec: AnyEndpointSpec, collector: SchemaCollector): Json {
  const { response } = spec
  if (!response) return { 204: { description: 'Done; there is no content' } }
  if (isSocket(response)) return { 101: { description: response.description } }
  const status = String(spec.status ?? 200)
  if (!isSchema(response)) {
    const content = { [response.contentType]: rawContent(path, response.contentType) }
    const parts = {
      206: { description: 'The part that `Range` requests', content },
      304: { description: 'The client has it already' },
    }
    return { [status]: { description: response.description, content }, ...(response.ranges && parts) }
  }
  const description = SUCCESS_DESCRIPTIONS[status] ?? 'The answer'
  const contentOf = (answer: z.ZodType): Json => {
    const schema = collector.convert(answer, 'output')
    const others = (spec.otherForms ?? []).map((form): [string, Json] => [
      form,
      { schema: { type: 'string' } },
    ])
    return Object.fromEntries([
      ['application/json', { schema, example: exampleOf(schema, collector) }],
      ...others,
    ])
  }
  const { existing } = spec
  if (existing === undefined) return { [status]: { description, content: contentOf(response) } }
  const [made, found] =
    typeof existing === 'string'
      ? [response, { description: existing, answer: response }]
      : [alternativeTo(existing.answer, response), existing]
  return {
    200: { description: found.description, content: contentOf(found.answer) },
    [status]: { description, content: contentOf(made) },
  }
}

/** The other one of the two shapes that an answer can have. */
function alternativeTo(answer: z.ZodType, response: z.ZodType): z.ZodType {
  const options = response instanceof z.ZodUnion ? (response.options as z.ZodType[]) : []
  return options.find((option) => option !== answer) ?? response
}

const SUCCESS_DESCRIPTIONS: Record<string, string> = {
  200: 'Done; the current state',
  201: 'Created; the new resource',
  202: 'Accepted; the work is queued or under way',
}

/** In OpenAPI 3.1, a binary body has no schema, and a text is a string. */
function rawContent(path: string, contentType: string): Json {
  if (!/^text\/|\/yaml$/.test(contentType)) return {}
  const example = rawExample(contentType, path)
  return { schema: { type: 'string' }, ...(example === undefined ? {} : { example }) }
}

function sorted(object: Json): Json {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => a.localeCompare(b)))
}
