import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { operationsOf, schemaOf, type NamedOperation, type OpenApi } from './document.ts'

let server: TestServer
let document: OpenApi
let operations: NamedOperation[]

beforeAll(async () => {
  server = await startServer()
  document = (await server.request('GET', '/api/openapi.json')).body as OpenApi
  operations = operationsOf(document)
})
afterAll(() => server.stop())

/** Ids that no resource has, so that no request of the walk changes anything. */
const NOBODY: Record<string, string> = {
  deploy_id: 'dep-00000000000000000000',
  backup_id: 'bak-00000000000000000000',
  job_id: 'job-00000000000000000000',
  service_id: 'srv-00000000000000000000',
}
const METHODS = ['get', 'post', 'put', 'patch', 'delete']

function address(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => NOBODY[name] ?? 'nobody')
}

function bearer(): RequestInit {
  return { headers: { authorization: `Bearer ${server.token}` } }
}

/** How an answer appears in a list of errors; undefined if it is the expected error. */
function unlessRefused(
  name: string,
  { status, headers, body }: ApiAnswer,
  expected: [number, string],
): string | undefined {
  const isJson = headers.get('content-type')?.startsWith('application/json')
  const { error } = (isJson ? body : {}) as { error?: { code: string; message: string } }
  if (status === expected[0] && error?.code === expected[1] && error.message) return undefined
  return `${name}: ${status} ${JSON.stringify(body)}`
}

async function faultsOf(
  chosen: NamedOperation[],
  check: (operation: NamedOperation) => Promise<string | undefined>,
): Promise<string[]> {
  expect(chosen.length).toBeGreaterThan(0)
  const faults: string[] = []
  for (const operation of chosen) {
    const fault = await check(operation)
    if (fault) faults.push(fault)
  }
  return faults
}

function needsCredentials({ operation }: NamedOperation): boolean {
  return operation.security.length > 0
}

function takesToken({ operation }: NamedOperation): boolean {
  return operation.security.some((scheme) => 'token' in scheme)
}

describe('every operation', () => {
  it('answers 401 without credentials and names the scheme it wants', async () => {
    const faults = await faultsOf(operations.filter(needsCredentials), async ({ name, method, path }) => {
      const answer = await server.request(method.toUpperCase(), address(path))
      if (!answer.headers.get('www-authenticate')) return `${name}: no WWW-Authenticate`
      return unlessRefused(name, answer, [401, 'unauthorized'])
    })
    expect(faults).toEqual([])
  })

  it('answers 401 to a token that nobody created', async () => {
    const init = { headers: { authorization: `Bearer dpl_${'0'.repeat(40)}` } }
    const faults = await faultsOf(operations.filter(needsCredentials), async ({ name, method, path }) => {
      const answer = await server.request(method.toUpperCase(), address(path), undefined, init)
      return unlessRefused(name, answer, [401, 'unauthorized'])
    })
    expect(faults).toEqual([])
  })

  it('of the account refuses an API token with 403', async () => {
    const chosen = operations.filter((operation) => needsCredentials(operation) && !takesToken(operation))
    const faults = await faultsOf(chosen, async ({ name, method, path }) => {
      const answer = await server.request(method.toUpperCase(), address(path), undefined, bearer())
      return unlessRefused(name, answer, [403, 'session_required'])
    })
    expect(faults).toEqual([])
  })

  it('that reads takes the token in the query', async () => {
    const chosen = operations.filter(({ operation }) =>
      operation.security.some((scheme) => 'query' in scheme),
    )
    const faults = await faultsOf(chosen, async ({ name, path, operation }) => {
      if (streams(operation)) return undefined
      const answer = await server.request('GET', `${address(path)}?access_token=${server.token}`)
      return answer.status === 401 || answer.status === 403 ? `${name}: ${answer.status}` : undefined
    })
    expect(faults).toEqual([])
  })

  it('answers 400 to an unknown query parameter', async () => {
    const chosen = operations.filter(
      (operation) => takesToken(operation) && !operation.path.endsWith('/upload'),
    )
    const faults = await faultsOf(chosen, async ({ name, method, path }) => {
      const answer = await server.request(
        method.toUpperCase(),
        `${address(path)}?no_such_parameter=1`,
        undefined,
        bearer(),
      )
      return unlessRefused(name, answer, [400, 'invalid_request'])
    })
    expect(faults).toEqual([])
  })

  it('answers 400 to an unknown field of the body, and names the field', async () => {
    const chosen = operations.filter(
      ({ operation }) =>
        operation.requestBody?.content['application/json'] &&
        (operation.security.length === 0 || 'token' in operation.security[0]!),
    )
    const faults = await faultsOf(chosen, async ({ name, method, path, operation }) => {
      const example = operation.requestBody!.content['application/json']!.example as object
      const answer = await server.request(
        method.toUpperCase(),
        address(path),
        { ...example, no_such_field: 1 },
        bearer(),
      )
      if (!/no_such_field/.test(String(answer.body?.error?.message)))
        return `${name}: ${JSON.stringify(answer.body)}`
      return unlessRefused(name, answer, [400, 'invalid_request'])
    })
    expect(faults).toEqual([])
  })

  it('answers 400 to a body that is not JSON', async () => {
    const chosen = operations.filter(
      (operation) => operation.operation.requestBody?.content['application/json'] && takesToken(operation),
    )
    const faults = await faultsOf(chosen, async ({ name, method, path }) => {
      const answer = await server.request(method.toUpperCase(), address(path), '{"name": ', bearer())
      return unlessRefused(name, answer, [400, 'invalid_request'])
    })
    expect(faults).toEqual([])
  })

  it('answers 413 to a body over 2 MiB', async () => {
    const chosen = operations.filter(
      (operation) => operation.operation.requestBody?.content['application/json'] && takesToken(operation),
    )
    const large = JSON.stringify({ name: 'x'.repeat(2 * 1024 * 1024) })
    const faults = await faultsOf(chosen, async ({ name, method, path }) => {
      const answer = await server.request(method.toUpperCase(), address(path), large, bearer())
      return unlessRefused(name, answer, [413, 'payload_too_large'])
    })
    expect(faults).toEqual([])
  })

  it('answers 404 when the path names something that does not exist', async () => {
    const chosen = operations.filter(
      (operation) =>
        takesToken(operation) && ['get', 'delete'].includes(operation.method) && operation.path.includes('{'),
    )
    const faults = await faultsOf(chosen, async ({ name, method, path }) => {
      const answer = await server.request(method.toUpperCase(), address(path), undefined, bearer())
      return unlessRefused(name, answer, [404, 'not_found'])
    })
    expect(faults).toEqual([])
  })

  it('that reads without a path parameter answers as the document says', async () => {
    const chosen = operations.filter(
      ({ method, path, operation }) =>
        method === 'get' &&
        !path.includes('{') &&
        !streams(operation) &&
        operation.responses['200']?.content?.['application/json'],
    )
    const faults = await faultsOf(
      chosen.filter((operation) => takesToken(operation) || !needsCredentials(operation)),
      async ({ name, path, operation }) => {
        if (operation.parameters?.some(({ required }) => required)) return undefined
        const answer = await server.request('GET', path, undefined, bearer())
        if (answer.status !== 200) return `${name}: ${answer.status} ${JSON.stringify(answer.body)}`
        const schema = schemaOf(document, operation.responses['200']!.content!['application/json']!.schema!)
        const result = z.fromJSONSchema(schema).safeParse(answer.body)
        return result.success ? undefined : `${name}: ${z.prettifyError(result.error)}`
      },
    )
    expect(faults).toEqual([])
  })
})

describe('every path', () => {
  it('answers 405 to a method it does not have and lists those it has in Allow', async () => {
    const faults: string[] = []
    for (const [path, methods] of Object.entries(document.paths)) {
      const has = Object.keys(methods)
      const other = METHODS.find((method) => !has.includes(method))
      if (!other) continue
      const answer = await server.request(other.toUpperCase(), address(path), undefined, bearer())
      const allow = (answer.headers.get('allow') ?? '').split(/,\s*/).map((method) => method.toLowerCase())
      const fault = unlessRefused(`${other.toUpperCase()} ${path}`, answer, [405, 'method_not_allowed'])
      if (fault) faults.push(fault)
      else if (!has.every((method) => allow.includes(method)) || allow.includes(other))
        faults.push(`${path}: Allow ${allow.join(', ')}`)
    }
    expect(faults).toEqual([])
  })

  it('of the API that needs credentials says 401 before 405', async () => {
    const paths = Object.entries(document.paths).filter(([, methods]) =>
      Object.values(methods).every(({ security }) => security.length > 0),
    )
    const faults: string[] = []
    for (const [path, methods] of paths) {
      const other = METHODS.find((method) => !(method in methods))
      if (!other) continue
      const answer = await server.request(other.toUpperCase(), address(path))
      const fault = unlessRefused(`${other.toUpperCase()} ${path}`, answer, [401, 'unauthorized'])
      if (fault) faults.push(fault)
    }
    expect(faults).toEqual([])
  })

  it('answers HEAD where it answers GET', async () => {
    const { status, headers } = await server.request('HEAD', '/healthz')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/plain/)
  })
})

describe('an unknown route under /api/', () => {
  it.each([
    '/api/v1/nothing',
    '/api/nothing',
    '/api/v1/',
    '/api/v1/services/x/y/z',
    '/api/v1/services//deploys',
    '/api/v1/services/x/domains//verify',
    '/api',
  ])('is a JSON 404 with or without credentials: %s', async (path) => {
    for (const init of [{}, bearer()]) {
      for (const method of ['GET', 'POST']) {
        const answer = await server.request(method, path, undefined, init)
        expect(unlessRefused(`${method} ${path}`, answer, [404, 'not_found'])).toBeUndefined()
      }
    }
  })
})

describe('the probe', () => {
  it('answers ok as plain text to anyone', async () => {
    const { status, headers, body } = await server.request('GET', '/healthz')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/plain/)
    expect(body).toBe('ok')
  })

  it.each(['?_=1792468', '?probe', '?__proto__=1', '?access_token=none', '?a=%ff'])(
    'ignores what a load balancer adds: %s',
    async (query) => {
      expect((await server.request('GET', `/healthz${query}`)).body).toBe('ok')
    },
  )
})

describe('a request that is not an HTTP API call', () => {
  it('never crashes the server', async () => {
    for (const path of [
      '//',
      '/%00',
      '/%',
      '/api/v1/services/%2e%2e%2f',
      '/api/v1/services/%ff',
      '/..%2f..%2fetc/passwd',
    ]) {
      const status = await rawStatus(path)
      expect([path, status >= 200 && status < 500]).toEqual([path, true])
    }
    expect((await server.request('GET', '/healthz')).body).toBe('ok')
  })
})

function streams(operation: NamedOperation['operation']): boolean {
  return Object.values(operation.responses).some((response) => response.content?.['text/event-stream'])
}

/** Sends a path as it is; fetch would normalize it first. */
function rawStatus(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    request({ hostname, port, path, headers: { authorization: `Bearer ${server.token}` } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })
}
