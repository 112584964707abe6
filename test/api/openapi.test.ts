import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startServer, type TestServer } from '../support/server.ts'
import { operationsOf, schemaOf, type OpenApi } from './document.ts'

let server: TestServer
let document: OpenApi

beforeAll(async () => {
  server = await startServer()
  document = (await server.request('GET', '/api/openapi.json')).body as OpenApi
})
afterAll(() => server.stop())

describe('the OpenAPI document', () => {
  it('is served without credentials as OpenAPI 3.1 with the version of the server', async () => {
    const { status, headers, body } = await server.request('GET', '/api/openapi.json')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(body.openapi).toBe('3.1.0')
    expect(body.info.version).toBe((await server.api('GET', '/info')).body.version)
  })

  it('passes the strict rules of Redocly', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'deployer-openapi-'))
    try {
      const file = join(folder, 'openapi.json')
      writeFileSync(file, JSON.stringify(document))
      const root = fileURLToPath(new URL('../..', import.meta.url))
      const tool = join(root, 'node_modules/@redocly/cli/bin/cli.js')
      const config = join(root, 'test/support/redocly.yaml')
      // Nothing is sent or requested: the tool must work without a network.
      const env = {
        ...process.env,
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
        CI: 'true',
      }
      const run = promisify(execFile)(
        process.execPath,
        [tool, 'lint', '--config', config, '--format=stylish', file],
        { env },
      )
      const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error)
      expect(`${stdout}${stderr}`).toMatch(/Your API description is valid/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('passes every rule of Spectral', async () => {
    const linter = new spectral.Spectral()
    linter.setRuleset({
      extends: [[rulesets.oas, 'all']],
      // The project has no contact address, and names its licence by the identifier, which excludes a URL. A WebSocket has 101
      // in place of a success, which the next test checks.
      rules: { 'info-contact': 'off', 'license-url': 'off', 'operation-success-response': 'off' },
    } as unknown as Parameters<typeof linter.setRuleset>[0])
    const findings = await linter.run(document as unknown as Record<string, unknown>)
    expect(findings.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`)).toEqual([])
  })

  it('gives every operation a summary, a tag, an example of what it takes and returns, and the errors it knows', () => {
    const faults = operationsOf(document).flatMap(({ name, operation }) => {
      const missing = []
      if (!operation.summary) missing.push('summary')
      if (operation.tags?.length !== 1) missing.push('tag')
      if (!operation.responses['400']) missing.push('400')
      const successes = Object.keys(operation.responses).filter((status) => /^[123]/.test(status))
      if (successes.length === 0) missing.push('success')
      if (successes.includes('101') && !operation.responses['426']) missing.push('426')
      if (operation.security.length > 0 && !operation.responses['401']) missing.push('401')
      for (const response of Object.values(operation.responses)) {
        const json = response.content?.['application/json']
        if (json && json.example === undefined && json.examples === undefined)
          missing.push('example of an answer')
      }
      const body = operation.requestBody?.content['application/json']
      if (body && body.example === undefined) missing.push('example of the body')
      return missing.map((what) => `${name}: ${what}`)
    })
    expect(faults).toEqual([])
  })

  it('names what follows from the shape of an operation', () => {
    const statuses = (path: string, method: string) => Object.keys(document.paths[path]![method]!.responses)
    expect(statuses('/api/v1/services', 'get')).toContain('404')
    expect(statuses('/api/v1/services', 'post')).toContain('404')
    expect(statuses('/api/v1/services', 'get')).toContain('403')
    const faults = operationsOf(document).flatMap(({ name, method, operation }) => {
      const expected = ['421', ...(method === 'post' ? ['413'] : [])]
      if (method === 'post' && operation.security.length === 0) expected.push('503')
      const missing = expected.filter((status) => !operation.responses[status])
      const unchallenged = operation.responses['401'] && !operation.responses['401'].headers
      return [...missing, ...(unchallenged ? ['WWW-Authenticate'] : [])].map((what) => `${name}: ${what}`)
    })
    expect(faults).toEqual([])
  })

  it('says which of two answers a status has', () => {
    const { responses } = document.paths['/api/v1/nodes']!.post!
    const schemas = ['200', '201'].map((status) => responses[status]!.content!['application/json']!.schema)
    expect(schemas).toEqual([
      { type: 'array', items: { $ref: '#/components/schemas/Node' } },
      { $ref: '#/components/schemas/NodeInvitation' },
    ])
  })

  it('names every content type of the audit log', () => {
    const { content } = document.paths['/api/v1/audit-events']!.get!.responses['200']!
    expect(Object.keys(content!)).toEqual(['application/json', 'text/event-stream', 'application/x-ndjson'])
  })

  it('shows examples that fit their schemas', () => {
    const faults = operationsOf(document).flatMap(({ name, operation }) => {
      const contents = [operation.requestBody, ...Object.values(operation.responses)].map(
        (part) => part?.content?.['application/json'],
      )
      return contents.flatMap((content) => {
        if (!content?.schema || content.example === undefined) return []
        const result = z.fromJSONSchema(schemaOf(document, content.schema)).safeParse(content.example)
        return result.success ? [] : [`${name}: ${z.prettifyError(result.error)}`]
      })
    })
    expect(faults).toEqual([])
  })

  it('says how long an address, a login and a host may be', () => {
    type Bounds = Record<string, { maxLength?: number; anyOf?: Bounds[string][]; items?: Bounds[string] }>
    const fieldsOf = (name: string) =>
      (document.components.schemas[name] as { properties?: unknown }).properties as Bounds
    const { redirect_uri, base_url, organization } = fieldsOf('GitAuthorizeInput')
    const { custom_domains } = fieldsOf('ServiceInput')
    const longest = [redirect_uri, base_url, organization, custom_domains].map(
      (field) => (field!.anyOf?.[0] ?? field!.items ?? field!).maxLength,
    )
    expect(longest).toEqual([2_048, 2_048, 100, 254])
  })

  it.each(['ServiceInput', 'ServicePatch', 'DatastoreInput', 'DatastorePatch'])(
    'says what the limits of %s may be',
    (name) => {
      const { properties } = document.components.schemas[name] as { properties: Record<string, unknown> }
      expect(properties).toMatchObject({
        memory_limit_mb: { type: 'integer', anyOf: [{ const: 0 }, { minimum: 16, maximum: 1_048_576 }] },
        cpu_limit: { type: 'number', anyOf: [{ const: 0 }, { minimum: 0.01, maximum: 512 }] },
      })
    },
  )

  it('allows requesting more than a list returns, because that is clamped', () => {
    const limits = operationsOf(document).flatMap(({ operation }) =>
      (operation.parameters ?? []).filter(({ name }) => name === 'limit'),
    )
    expect(limits.map(({ schema }) => Object.keys(schema).toSorted())).toEqual(
      limits.map(() => ['default', 'type']),
    )
    expect(limits.map(({ description }) => /clamped to 1\.\.\d+$/.test(description!))).not.toContain(false)
  })

  it('says what a variable, a command and a commit may be', () => {
    const { EnvVar, EnvReplacement, EnvPatch, JobInput, DeployInput } = document.components.schemas
    const key = { pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 256 }
    const value = { maxLength: 65_536 }
    expect(EnvVar).toMatchObject({ properties: { key, value } })
    expect(EnvReplacement).toMatchObject({ properties: { vars: { maxItems: 1_000 } } })
    expect(EnvPatch).toMatchObject({
      properties: { set: { anyOf: [{}, { propertyNames: key, additionalProperties: value }] } },
    })
    expect(JobInput).toMatchObject({ properties: { command: { minLength: 1 } } })
    expect(DeployInput).toMatchObject({ properties: { commit: { minLength: 1 } } })
  })

  it('names how each kind of credential is sent', () => {
    const { securitySchemes } = document.components
    expect(securitySchemes.token).toMatchObject({ type: 'http', scheme: 'bearer' })
    expect(securitySchemes.query).toMatchObject({ type: 'apiKey', in: 'query', name: 'access_token' })
    expect(securitySchemes.session).toMatchObject({ type: 'apiKey', in: 'cookie' })
  })

  it('offers the token in the query only for reading operations', () => {
    const offering = operationsOf(document).filter(({ operation }) =>
      operation.security.some((scheme) => 'query' in scheme),
    )
    expect(offering.length).toBeGreaterThan(0)
    expect(offering.filter(({ method }) => method !== 'get')).toEqual([])
  })
})

describe('the page of the API', () => {
  it('comes completely from the server itself, without a script in the page', async () => {
    const page = await server.request('GET', '/api/docs')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
    const links = [...(page.body as string).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!)
    const files = links.filter((link) => link.startsWith('/api/docs/'))
    expect(files.length).toBe(3)
    expect(links.filter((link) => !link.startsWith('/') && !link.startsWith('data:'))).toEqual([])
    expect(page.body).not.toMatch(/<script(?![^>]* src=)/)
    for (const file of files) {
      const { status, headers } = await server.request('GET', file)
      expect([file, status]).toEqual([file, 200])
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  it('makes the browser load nothing from elsewhere', async () => {
    const { headers } = await server.request('GET', '/api/docs')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toMatch(/https?:|\*|unsafe/)
  })

  it('has no other files', async () => {
    const { status, body } = await server.request('GET', '/api/docs/package.json')
    expect(status).toBe(404)
    expect(body.error.code).toBe('not_found')
  })
})
