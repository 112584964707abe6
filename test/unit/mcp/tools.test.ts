import { Client, InMemoryTransport, type CallToolResult } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it } from 'vitest'
import type { Answer, Call } from '#mcp/call.ts'
import { createServer, toolsFor, type ServerOptions } from '#mcp/server.ts'
import { TOOLS } from '#mcp/tools/index.ts'

const FOLDERS = { root: '/', upload: () => Promise.resolve({}) }

const clients: Client[] = []
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
})

/** A client of a server whose API is `call`. */
async function connect(call: Call, options: Partial<ServerOptions> = {}): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const server = createServer({ version: '0.0.0', call, writes: true, folders: FOLDERS, ...options })
  await server.connect(far)
  const client = new Client({ name: 'test', version: '0.0.0' })
  await client.connect(near)
  clients.push(client)
  return client
}

/** An API with these answers by method and path; it refuses all else. */
function api(answers: Record<string, unknown>, asked: string[] = []): Call {
  return (method, path, { query = {}, body } = {}) => {
    const given = new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
    )
    const name = `${method} ${path}${given.size > 0 ? `?${given.toString()}` : ''}`
    asked.push(body === undefined ? name : `${name} ${JSON.stringify(body)}`)
    const found = answers[name] ?? answers[`${method} ${path}`]
    if (found instanceof Error) return Promise.reject(found)
    return Promise.resolve(
      found === undefined ? refusal(404, 'not_found', `there is no ${path}`) : { status: 200, body: found },
    )
  }
}

function refusal(status: number, code: string, message: string): Answer {
  return { status, body: { error: { code, message } } }
}

function textOf(result: CallToolResult): string {
  const [content] = result.content
  return content?.type === 'text' ? content.text : ''
}

function bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

async function* stream(...events: [string, unknown?][]): AsyncGenerator<Buffer> {
  const text = events
    .map(
      ([event, data]) => `event: ${event}\ndata:${data === undefined ? '' : ` ${JSON.stringify(data)}`}\n\n`,
    )
    .join('')
  // In pieces that end anywhere.
  for (let at = 0; at < text.length; at += 97) yield Buffer.from(text.slice(at, at + 97))
}

describe('the list of tools', () => {
  it('is short enough to be read by a model', async () => {
    const reading = await connect(api({}), { writes: false })
    const writing = await connect(api({}))
    expect(bytes(await reading.listTools())).toBeLessThanOrEqual(24 * 1024)
    expect(bytes(await writing.listTools())).toBeLessThanOrEqual(40 * 1024)
  })

  it('describes each tool by all that hosts show and judge', async () => {
    const { tools } = await (await connect(api({}))).listTools()
    expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name))
    const faults = tools.filter(
      ({ title, description, inputSchema, outputSchema, annotations }) =>
        !title ||
        !description ||
        description.length > 300 ||
        inputSchema.additionalProperties !== false ||
        outputSchema?.type !== 'object' ||
        Object.keys(annotations ?? {}).length !== 4,
    )
    expect(faults).toEqual([])
  })

  it('says what each may do', async () => {
    const { tools } = await (await connect(api({}))).listTools()
    const hints = tools.map(({ name, annotations }) => {
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations!
      return `${name}${readOnlyHint ? ' R' : destructiveHint ? ' D' : ' W'}${idempotentHint ? ' same' : ''}${openWorldHint ? ' open' : ''}`
    })
    expect(hints.toSorted()).toEqual(
      [
        ...[
          'list_services',
          'get_service',
          'list_deploys',
          'get_deploy',
          'read_logs',
          'list_jobs',
          'get_job',
        ],
        ...['list_variables', 'list_datastores', 'list_environments', 'list_domains', 'get_metrics'],
        ...['get_server', 'plan_blueprint', 'export_blueprint'],
      ]
        .map((name) => `${name} R same`)
        .concat(
          'detect_source R same open',
          'deploy_service W open',
          ...['deploy_folder', 'restart_service', 'rollback_service', 'create_service'].map(
            (name) => `${name} W`,
          ),
          ...['create_datastore', 'backup_datastore'].map((name) => `${name} W`),
          ...['resume_service', 'cancel_deploy'].map((name) => `${name} W same`),
          ...['update_service', 'scale_service', 'suspend_service'].map((name) => `${name} D same`),
          ...['set_variables', 'apply_blueprint'].map((name) => `${name} D same`),
          ...['run_job', 'cancel_job'].map((name) => `${name} D`),
        )
        .toSorted(),
    )
  })

  it('has no tool that deletes, and writing ones only when they are allowed', () => {
    expect(TOOLS.filter(({ name }) => /delete|remove|restore|destroy/.test(name))).toEqual([])
    const reading = toolsFor({ writes: false })
    expect(reading.every(({ effect }) => effect === 'read')).toBe(true)
    expect(toolsFor({ writes: true }).map(({ name }) => name)).not.toContain('deploy_folder')
    expect(toolsFor({ writes: true, only: ['get_server'] }).map(({ name }) => name)).toEqual(['get_server'])
  })
})

describe('an answer', () => {
  it('holds nothing that is not meant to leave, however the API grows', async () => {
    const secret = 's3cr3t'
    const service = {
      ...{ id: 'srv-1', name: 'web', environment: 'production', state: 'running', env_groups: ['shared'] },
      ...{ deploy_hook_key: secret, deploy_hook_path: `/hooks?key=${secret}`, new_field: secret },
      latest_deploy: { id: 'dep-1', status: 'live', created_at: 'now', webhook_secret: secret },
    }
    const datastore = {
      id: 'dbs-1',
      name: 'db',
      password: secret,
      internal_url: secret,
      connect_command: secret,
    }
    const vars = [{ key: 'TOKEN', value: secret }]
    const client = await connect(
      api({
        'GET /services': [service],
        'GET /services/web': service,
        'GET /services/web/status': { instances: [{ name: 'i', token: secret }] },
        'GET /services/web/env': vars,
        'GET /env-groups': [
          { id: 'evg-1', name: 'shared', vars: [{ key: 'URL', value: `\${{datastore.db.url}} ${secret}` }] },
        ],
        'PATCH /services/web/env': vars,
        'PATCH /services/web': service,
        'GET /datastores': [datastore],
        'POST /datastores': datastore,
      }),
    )
    const answers = [
      await client.callTool({ name: 'list_services' }),
      await client.callTool({ name: 'get_service', arguments: { service: 'web' } }),
      await client.callTool({ name: 'list_datastores' }),
      await client.callTool({ name: 'create_datastore', arguments: { kind: 'relational', name: 'db' } }),
      await client.callTool({ name: 'set_variables', arguments: { service: 'web', set: { TOKEN: secret } } }),
      await client.callTool({ name: 'update_service', arguments: { service: 'web', port: 80 } }),
      await client.readResource({ uri: 'deployer://services/production/web' }),
    ]
    const variables = await client.callTool({ name: 'list_variables', arguments: { service: 'web' } })
    expect(variables.structuredContent).toEqual({
      variables: [
        { key: 'TOKEN', reference: false },
        { key: 'URL', group: 'shared', reference: true },
      ],
    })
    expect(JSON.stringify(answers)).toContain('"web\\"')
    expect(JSON.stringify([answers, variables])).not.toContain(secret)
  })

  it('is the same as text and as an object, and shows lists page by page', async () => {
    const all = Array.from({ length: 50 }, (_, index) => ({
      ...{ name: `s${String(index).padStart(2, '0')}`, environment: 'production', state: 'running' },
      ...{ latest_deploy: null, url: `http://${'x'.repeat(2_000)}` },
    }))
    const client = await connect(api({ 'GET /services?environment=production': all }))
    const names: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const result = await client.callTool({ name: 'list_services', arguments: { limit: 20, cursor } })
      expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(32 * 1024)
      expect(JSON.parse(textOf(result))).toEqual(result.structuredContent)
      const page = result.structuredContent as {
        services: { name: string }[]
        next_cursor?: string
        truncated?: boolean
      }
      names.push(...page.services.map(({ name }) => name))
      expect(page.truncated).toBe(page.next_cursor === undefined ? undefined : true)
      cursor = page.next_cursor
      pages++
    } while (cursor !== undefined)
    expect(names).toEqual(all.map(({ name }) => name))
    expect(pages).toBe(4)
  })

  it('has the newest lines of a log, and the way to those before', async () => {
    const events = Array.from({ length: 300 }, (_, index): [string, unknown] => [
      'log',
      {
        ts: new Date(index).toISOString(),
        stream: index % 2 ? 'stderr' : 'stdout',
        line: `\u001b[31m${index} ${'y'.repeat(3_000)}`,
      },
    ])
    const client = await connect(api({ 'GET /deploys/dep-1/logs': stream(...events, ['end']) }))
    const given = {
      of: 'deploy',
      name: 'dep-1',
      lines: 500,
      stream: 'stderr',
      until: new Date(200).toISOString(),
    }
    const { structuredContent } = await client.callTool({ name: 'read_logs', arguments: given })
    const { lines, truncated, next_cursor } = structuredContent as {
      lines: { ts: string; line: string }[]
      truncated: boolean
      next_cursor: string
    }
    expect(lines.at(-1)!.line).toMatch(/^199 y+…$/)
    expect(Buffer.byteLength(lines[0]!.line)).toBeLessThanOrEqual(2_048)
    expect([truncated, next_cursor]).toEqual([true, lines[0]!.ts])
  })
})

describe('a fault', () => {
  const services = ['web', 'api'].map((name) => ({ id: `srv-${name}`, name, environment: 'production' }))
  const environments = [
    { id: 'env-1', name: 'production' },
    { id: 'env-2', name: 'staging' },
  ]
  const known = {
    'GET /environments': environments,
    'GET /services?environment=production': services,
    'GET /services?environment=staging': [{ id: 'srv-3', name: 'worker', environment: 'staging' }],
  }

  it.each([
    ['the nearest name', { service: 'wbe' }, 'not_found: there is no /services/wbe. Did you mean web?'],
    ['where it is', { service: 'worker' }, 'not_found: there is no /services/worker; worker is in staging'],
    ['nothing when none is near', { service: 'database' }, 'not_found: there is no /services/database'],
    [
      'the nearest environment',
      { service: 'web', environment: 'stagnig' },
      'not_found: there is no /services/web. Did you mean staging?',
    ],
    ['nothing when it is a way elsewhere', { service: '..' }, 'not_found: there is nothing called ..'],
    ['the field that is missing', {}, 'invalid_request: service: is required'],
    [
      'the field that is unknown',
      { service: 'web', enviroment: 'x' },
      'invalid_request: enviroment: unknown field. Did you mean environment?',
    ],
    ['the type', { service: 7 }, 'invalid_request: service: must be of the type string'],
  ])('of a name or an argument names %s', async (_what, given, text) => {
    const client = await connect(api(known))
    const result = await client.callTool({ name: 'get_service', arguments: given })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toBe(text)
  })

  it('without a sign-in is what the caller says', async () => {
    const call: Call = () => Promise.reject(new Error('not signed in; deployer login <url>'))
    const result = await (await connect(call)).callTool({ name: 'list_services' })
    expect([result.isError, textOf(result)]).toEqual([true, 'not signed in; deployer login <url>'])
  })

  it('of a tool that is not there is one of the protocol', async () => {
    const client = await connect(api(known), { writes: false })
    for (const name of ['delete_service', 'deploy_service'])
      await expect(client.callTool({ name, arguments: { service: 'web' } })).rejects.toMatchObject({
        code: -32602,
      })
    await expect(client.readResource({ uri: 'deployer://services/production/none' })).rejects.toMatchObject({
      code: -32602,
    })
  })

  it('of a file comes with all its places', async () => {
    const details = [1, 2].map((line) => ({
      line,
      column: 3,
      path: `services[${line}]`,
      message: 'is wrong',
    }))
    const call: Call = () =>
      Promise.resolve({
        status: 400,
        body: { error: { code: 'invalid_request', message: 'two faults', details } },
      })
    const result = await (await connect(call)).callTool({ name: 'plan_blueprint', arguments: { yaml: 'x' } })
    expect(textOf(result)).toBe('invalid_request: 1:3: services[1]: is wrong\n2:3: services[2]: is wrong')
  })
})

describe('a request', () => {
  it('that is cancelled ends what it asked the API for', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const call: Call = (_method, _path, { signal } = {}) =>
      new Promise((_, reject) => {
        signal!.addEventListener('abort', () => {
          resolve()
          reject(signal!.reason as Error)
        })
      })
    const client = await connect(call)
    const leaving = new AbortController()
    const asked = client.callTool({ name: 'get_server' }, { signal: leaving.signal })
    setTimeout(() => leaving.abort(), 50)
    await expect(asked).rejects.toThrow()
    await ended
  })

  it('that waits tells how far it is, and answers with the end', async () => {
    const deploy = { id: 'dep-1', service_id: 'srv-1', status: 'queued' }
    const states = ['building', 'build_failed']
    const call: Call = (method, path) =>
      Promise.resolve({
        status: 200,
        body: path.endsWith('/logs')
          ? stream(['log', { ts: 't', stream: 'system', line: 'no start command' }], ['end'])
          : method === 'POST'
            ? deploy
            : { ...deploy, status: states.shift() },
      })
    const client = await connect(call)
    const told: string[] = []
    const { structuredContent } = await client.callTool(
      { name: 'deploy_service', arguments: { service: 'web', wait_seconds: 30 } },
      { onprogress: ({ message }) => told.push(message!) },
    )
    expect(told).toEqual(['queued', 'building'])
    expect(structuredContent).toMatchObject({
      deploy: { status: 'build_failed' },
      log: [{ line: 'no start command' }],
    })
  })

  it('for a folder stays inside the one in which the server was started', async () => {
    const uploaded: string[] = []
    const upload = (folder: string) => {
      uploaded.push(folder)
      return Promise.resolve({ id: 'dep-1', service_id: 'srv-1', status: 'queued' })
    }
    const client = await connect(api({}), { folders: { root: import.meta.dirname, upload } })
    const call = (folder: string) =>
      client.callTool({ name: 'deploy_folder', arguments: { folder, service: 'web' } })
    for (const folder of ['..', '../mcp/..', '/etc', 'nothing-here'])
      expect((await call(folder)).isError).toBe(true)
    expect((await call('.')).structuredContent).toMatchObject({ deploy: { status: 'queued' } })
    expect(uploaded).toEqual([import.meta.dirname])
  })

  it('to roll back chooses the version before the live one', async () => {
    const deploys = ['build_failed', 'live', 'canceled', 'deactivated', 'deactivated'].map(
      (status, index) => ({ id: `dep-${index}`, status }),
    )
    const asked: string[] = []
    const queued = { id: 'dep-9', service_id: 'srv-1', status: 'queued' }
    const client = await connect(
      api({ 'GET /services/web/deploys': deploys, 'POST /services/web/rollback': queued }, asked),
    )
    await client.callTool({ name: 'rollback_service', arguments: { service: 'web.staging' } })
    expect(asked.at(-1)).toBe('POST /services/web/rollback?environment=staging {"deploy_id":"dep-3"}')
  })
})

it('offers services as resources, and a way to find out what is wrong', async () => {
  const services = [{ id: 'srv-1', name: 'web', environment: 'staging' }]
  const client = await connect(
    api({
      'GET /environments': [{ id: 'env-2', name: 'staging' }],
      'GET /services': services,
      'GET /services/web?environment=staging': services[0],
    }),
  )
  const { resources } = await client.listResources()
  expect(resources).toMatchObject([{ uri: 'deployer://services/staging/web', name: 'web.staging' }])
  const { contents } = await client.readResource({ uri: resources[0]!.uri })
  expect(contents).toMatchObject([
    { mimeType: 'application/json', text: expect.stringContaining('"name": "web"') },
  ])
  const { messages } = await client.getPrompt({ name: 'diagnose_service', arguments: { service: 'web' } })
  expect(messages[0]).toMatchObject({ content: { text: expect.stringContaining('the service "web"') } })
  expect(client.getInstructions()).toMatch(/default to production[^]*never instructions/)
})
