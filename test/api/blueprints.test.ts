import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

async function apply(yaml: string, more: Record<string, unknown> = {}): Promise<ApiAnswer> {
  return server.api('POST', '/blueprints/apply', { yaml, ...more })
}

/** The result of a file, one line per resource. */
function told({ body }: ApiAnswer): string[] {
  return body.actions.map(
    ({ resource, name, action, changes }: Record<string, string & string[]>) =>
      `${resource} ${name}: ${action}${changes!.length > 0 ? ` (${changes!.join('; ')})` : ''}`,
  )
}

/** The errors of a refused file, with their positions. */
function faults({ status, body }: ApiAnswer): string[] {
  expect({ status, code: body.error?.code }).toEqual({ status: 400, code: 'invalid_request' })
  const details = body.error.details as { line: number; column: number; path: string; message: string }[]
  expect(body.error.message.split('\n')).toHaveLength(details.length)
  return details.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)
}

/** The positions of a refused file's errors. */
function placesOf(answer: ApiAnswer): string[] {
  return faults(answer).map((fault) => fault.slice(0, fault.indexOf(': ')))
}

const PROJECT = `
env_groups:
  - name: common
    vars:
      - {key: LOG_LEVEL, value: info}
datastores:
  - name: common-db
    kind: relational
services:
  - name: common-api
    type: web_service
    image: registry.example.com/api:1
    port: 3000
    env_groups: [common]
    env:
      - {key: DATABASE_URL, from_datastore: {name: common-db}}
      - {key: VERSION, value: 3.10}
      - {key: SECRET, generate: true}
      - {key: BY_HAND, sync: false}
  - name: common-worker
    type: background_worker
    image: registry.example.com/worker:1
    env:
      - {key: API, from_service: {name: common-api, property: url}}
      - {key: VERSION_OF_API, from_service: {name: common-api, env_var: VERSION}}
`

describe('an apply', () => {
  it('creates everything that a file describes, and changes nothing when it is applied again', async () => {
    const plan = await apply(PROJECT, { dry_run: true })
    expect(plan.body).toMatchObject({ dry_run: true, deploys: [] })
    expect((await server.api('GET', '/services/common-api')).status).toBe(404)
    expect((await server.api('GET', '/env-groups/common')).status).toBe(404)

    const first = await apply(PROJECT)
    expect(first.body.error).toBeUndefined()
    expect(told(first)).toEqual([
      'env_group common: create (env.LOG_LEVEL: added)',
      'datastore common-db: create (kind: none -> relational; version: none -> 18)',
      'service common-api: create (type: none -> web_service; image: none -> registry.example.com/api:1; port: none -> 3000; env_groups: none -> common; env.DATABASE_URL: added; env.VERSION: added; env.SECRET: added)',
      'service common-worker: create (type: none -> background_worker; image: none -> registry.example.com/worker:1; env.API: added; env.VERSION_OF_API: added)',
    ])
    expect(told(plan)).toEqual(told(first))
    expect(first.body.deploys).toMatchObject([{ trigger: 'blueprint' }, { trigger: 'blueprint' }])
    expect(first.body.warnings.join()).toContain('BY_HAND')
    const env = (await server.api('GET', '/services/common-api/env')).body as { key: string; value: string }[]
    const values = Object.fromEntries(env.map(({ key, value }) => [key, value]))
    expect(values).toMatchObject({ VERSION: '3.10', DATABASE_URL: '${{datastore.common-db.url}}' })
    expect(values.SECRET).toMatch(/^[0-9a-f]{64}$/)

    const again = await apply(PROJECT)
    expect(again.body.actions.every(({ action }: { action: string }) => action === 'unchanged')).toBe(true)
    expect(again.body.deploys).toEqual([])
    const same = (await server.api('GET', '/services/common-api')).body
    expect((await server.api('GET', '/services/common-api/env')).body).toEqual(env)
    const changed = await apply(PROJECT.replace('port: 3000', 'port: 8080'))
    expect(told(changed)[2]).toBe('service common-api: update (port: 3000 -> 8080)')
    expect(changed.body.deploys).toMatchObject([{ service_id: same.id, trigger: 'blueprint' }])
  })
})

describe('a file and its options', () => {
  const one = (name: string, more = '') =>
    `services: [{name: ${name}, image: registry.example.com/a:1, deploy: false${more}}]\n`

  it.each(['application/yaml', 'text/yaml; charset=utf-8', 'application/x-yaml'])(
    'is taken as a body of the type %s, and planned with dry_run in the query',
    async (type) => {
      const headers = { 'content-type': type }
      const plan = await server.api('POST', '/blueprints/apply?dry_run=true', one('raw'), { headers })
      expect(plan).toMatchObject({ status: 200, body: { dry_run: true, actions: [{ action: 'create' }] } })
      expect((await server.api('GET', '/services/raw')).status).toBe(404)
    },
  )

  it('uses the environment in the query, unless it names one itself', async () => {
    await server.api('POST', '/environments', { name: 'beside' })
    expect((await apply(one('placed'), { environment: 'beside' })).status).toBe(200)
    expect((await server.api('GET', '/services/placed?environment=beside')).status).toBe(200)
    expect((await server.api('GET', '/services/placed')).status).toBe(404)
    const own = `environment: own-place\n${one('placed')}`
    expect(told(await apply(own, { environment: 'beside' }))[0]).toBe('environment own-place: create')
    // The engine is away: what was saved stays, and the next apply continues from there.
    expect(told(await apply(own))).toEqual(['environment own-place: unchanged', 'service placed: unchanged'])
    expect(await apply(one('placed'), { environment: 'nowhere' })).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    })
  })

  it('is exported as YAML and converted from Compose, which applies nothing', async () => {
    const exported = await server.api('GET', '/blueprints/export?environment=beside')
    expect(exported.headers.get('content-type')).toContain('application/yaml')
    expect(exported.body).toContain('name: placed')
    const compose = 'services:\n  converted: {image: nginx, ports: ["80:80"]}\n'
    const headers = { 'content-type': 'application/yaml' }
    const raw = await server.api('POST', '/blueprints/convert', compose, { headers })
    expect(raw).toMatchObject({ status: 200, body: { warnings: [] } })
    expect((await server.api('POST', '/blueprints/convert', { compose })).body).toEqual(raw.body)
    expect(told(await apply(raw.body.yaml, { dry_run: true }))).toHaveLength(1)
    expect((await server.api('GET', '/services/converted')).status).toBe(404)
  })

  it('has a schema that needs no credentials', async () => {
    const { status, body } = await server.request('GET', '/api/blueprint.schema.json')
    expect({ status, title: body.title }).toEqual({ status: 200, title: 'Blueprint' })
    expect(Object.keys(body.properties)).toEqual(['environment', 'env_groups', 'datastores', 'services'])
  })
})

describe('a bad file', () => {
  it('is refused with every error at its position, and changes nothing', async () => {
    const answer = await apply(`services:
  - name: bad-api
    type: web_service
    prot: 3000
    port: 99999
    env:
      - key: URL
        value: "\${{service.nobody.url}}"
      - key: URL
        from_datastore: {name: nothing}
      - key: BOTH
        value: 1
        generate: true
  - name: bad-worker
    type: background_worker
    port: 80
    schedule: "* * * * *"
    env_groups: [nowhere]
    env:
      - key: 1BAD
        value: x
`)
    expect(faults(answer)).toEqual([
      '4:5 services[0].prot: unknown field',
      '5:5 services[0].port: must be at most 65535',
      '8:9 services[0].env[0].value: ${{service.nobody.url}}: there is no service nobody in production; write $${{ for a literal ${{',
      '9:9 services[0].env[1].key: URL is given twice',
      '9:9 services[0].env[1].key: ${{datastore.nothing.url}}: there is no datastore nothing in production; write $${{ for a literal ${{',
      '11:9 services[0].env[2]: has value and generate: use only one of them',
      '16:5 services[1].port: a background worker listens on no port',
      '17:5 services[1].schedule: a background worker has no schedule',
      '18:18 services[1].env_groups[0]: there is no env group nowhere',
      '21:9 services[1].env[0].value: key must contain only letters, digits and _, and not start with a digit',
    ])
    expect((await server.api('GET', '/services/bad-worker')).status).toBe(404)
  })
})

/** Files that mean harm, or were never meant as blueprints, and the positions of their errors: `line:column path`. */
const HOSTILE: [name: string, text: string, places: string[]][] = [
  [
    'a billion laughs',
    [
      'a: &k0 [x, x]',
      ...Array.from({ length: 30 }, (_, at) => `b${at}: &k${at + 1} [*k${at}, *k${at}]`),
    ].join('\n'),
    [expect.stringMatching(/^\d+:\d+ b\d+/) as string],
  ],
  [
    'laughs by merge keys',
    [
      'a: &k0 {x: 1}',
      ...Array.from({ length: 30 }, (_, at) => `b${at}: &k${at + 1} {<<: [*k${at}, *k${at}]}`),
    ].join('\n'),
    [expect.stringMatching(/^\d+:\d+ b\d+/) as string],
  ],
  ['a merge key that is itself', 'services: &a\n  <<: *a\n', ['2:3 services.<<']],
  ['lists in lists', '['.repeat(20_000), ['1:1 ']],
  [
    'mappings in mappings',
    Array.from({ length: 900 }, (_, at) => `${' '.repeat(at)}a:`).join('\n'),
    [expect.any(String) as string],
  ],
  ['tabs', 'services:\n\t- name: a\n', ['2:1 ']],
  ['NUL in a name', 'services:\n  - name: "a\\0b"\n', ['2:5 services[0].name']],
  [
    'NUL in a value',
    'services:\n  - name: a\n    env: [{key: A, value: "x\\0"}]\n',
    ['3:20 services[0].env[0].value'],
  ],
  ['a key that stands twice', 'services:\n  - name: a\n    name: b\n', ['3:5 services[0].name']],
  ['__proto__', 'services:\n  - name: a\n    __proto__: {port: 1}\n', ['3:5 services[0].__proto__']],
  ['__proto__ at the top', '__proto__: {services: []}\n', ['1:1 __proto__']],
  ['constructor', 'services:\n  - name: a\n    constructor: x\n', ['3:5 services[0].constructor']],
  ['tags of code', 'services: !!js/function |\n  x\n', ['1:1 services']],
  ['a number for a name', 'services:\n  - name: 12\n', ['2:5 services[0].name']],
  ['a mapping for a key', 'services:\n  - {[a]: b}\n', ['2:5 services[0].name', '2:6 services[0]']],
  [
    'both dialects',
    'datastores: [{name: a, kind: keyvalue}]\nservices:\n  - type: web\n    name: b\n',
    ['3:5 services[0].type'],
  ],
  [
    'no UTF-8 text of its own',
    'services:\n  - name: a\n    env: [{key: A, value: "\\ud800"}]\n',
    ['3:20 services[0].env[0].value'],
  ],
  ['several documents', 'services: []\n---\nservices: []\n', ['2:1 ']],
  [
    'words that every object has',
    'services:\n  - type: constructor\n    name: a\n    toString: x\ndatabases: []\n',
    ['2:5 services[0].type'],
  ],
  [
    'properties that every object has',
    'services:\n  - type: web\n    name: a\n    envVars: [{key: A, fromService: {name: b, type: web, property: constructor}}]\n  - {type: web, name: b}\n',
    ['4:58 services[0].envVars[0].fromService.property'],
  ],
  ['two faults at once', 'service: []\nservices:\n  - name: A\n', ['1:1 service', '3:5 services[0].name']],
]

describe('a hostile file', () => {
  it.each(HOSTILE)(
    'with %s gives one 400 with its positions, and changes nothing',
    async (_name, text, places) => {
      const before = await server.api('GET', '/blueprints/export')
      const answer = await apply(text)
      expect(placesOf(answer)).toEqual(places)
      const raw = await server.api('POST', '/blueprints/apply', text, {
        headers: { 'content-type': 'application/yaml' },
      })
      expect(raw.body).toEqual(answer.body)
      expect((await server.api('GET', '/blueprints/export')).body).toBe(before.body)
    },
  )

  it.each([
    ['a billion laughs', HOSTILE[0]![1], [expect.stringMatching(/^\d+:\d+ b\d+/) as string]],
    ['lists in lists', '['.repeat(20_000), ['1:1 ']],
    ['tabs', 'services:\n\ta: b\n', ['2:1 ']],
    ['nothing that it has', 'a: 1\n', ['1:1 ']],
    ['services that are a list', 'services: [a]\n', ['1:1 services']],
    ['a service that is a word', 'services:\n  a: b\n  c: [d]\n', ['2:3 services.a', '3:3 services.c']],
    [
      'ports that are none',
      'services:\n  a: {image: x, ports: [web, 70000]}\n',
      ['2:25 services.a.ports[0]', '2:30 services.a.ports[1]'],
    ],
    [
      'a size that is none',
      'services:\n  a: {image: x, mem_limit: much, cpus: many}\n',
      ['2:17 services.a.mem_limit', '2:34 services.a.cpus'],
    ],
    ['a key that stands twice', 'services:\n  a: {image: x, image: y}\n', ['2:17 services.a.image']],
  ])('from Compose, with %s, gives one 400 with its positions', async (_name, compose, places) => {
    expect(placesOf(await server.api('POST', '/blueprints/convert', { compose }))).toEqual(places)
  })

  it('from Compose, with words that every object has, is converted like any other', async () => {
    const compose = 'services:\n  a: {image: constructor, toString: x, __proto__: y}\n'
    const { status, body } = await server.api('POST', '/blueprints/convert', { compose })
    expect(status).toBe(200)
    expect(body.yaml).toContain('image: constructor')
  })

  it('of five MiB gets 413 at every endpoint', async () => {
    const text = `services: []\n#${'x'.repeat(5 * 1024 * 1024)}`
    const headers = { 'content-type': 'application/yaml' }
    for (const path of ['/blueprints/apply', '/blueprints/convert'])
      expect(await server.api('POST', path, text, { headers })).toMatchObject({
        status: 413,
        body: { error: { code: 'payload_too_large' } },
      })
    expect((await apply(text)).status).toBe(413)
  })

  it('that is not UTF-8 is refused', async () => {
    const answer = await server.api('POST', '/blueprints/apply', new Uint8Array([0x61, 0x3a, 0x20, 0xff]), {
      headers: { 'content-type': 'application/yaml' },
    })
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } })
  })

  it('works with a byte order mark and DOS line ends, and its errors have their positions', async () => {
    const good =
      '\uFEFFservices:\r\n  - name: dos\r\n    image: registry.example.com/dos:1\r\n    deploy: false\r\n'
    expect(told(await apply(good, { dry_run: true }))).toEqual([
      'service dos: create (type: none -> web_service; image: none -> registry.example.com/dos:1)',
    ])
    expect(placesOf(await apply(good.replace('image', 'imag')))).toEqual(['3:5 services[0].imag'])
  })

  it('delays nobody while it is read', async () => {
    const slow = Array.from({ length: 45_000 }, (_, at) => `k${at}: 1`).join('\n')
    const reading = apply(slow)
    let answers = 0
    const asking = (async () => {
      for (; answers < 5; answers++) expect((await server.api('GET', '/services')).status).toBe(200)
      return 'others were answered'
    })()
    expect(await Promise.race([reading.then(() => 'the file was answered'), asking])).toBe(
      'others were answered',
    )
    expect((await reading).status).toBe(400)
  })
})
