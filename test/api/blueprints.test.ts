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

/** What a file did, one line a resource. */
function told({ body }: ApiAnswer): string[] {
  return body.actions.map(
    ({ resource, name, action, changes }: Record<string, string & string[]>) =>
      `${resource} ${name}: ${action}${changes!.length > 0 ? ` (${changes!.join('; ')})` : ''}`,
  )
}

/** The faults of a refused file, with their places. */
function faults({ status, body }: ApiAnswer): string[] {
  expect({ status, code: body.error?.code }).toEqual({ status: 400, code: 'invalid_request' })
  const details = body.error.details as { line: number; column: number; path: string; message: string }[]
  expect(body.error.message.split('\n')).toHaveLength(details.length)
  return details.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)
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
  it('creates all that a file describes, and changes nothing when it is applied again', async () => {
    const plan = await apply(PROJECT, { dry_run: true })
    expect(plan.body).toMatchObject({ dry_run: true, deploys: [] })
    expect((await server.api('GET', '/services/common-api')).status).toBe(404)
    expect((await server.api('GET', '/env-groups/common')).status).toBe(404)

    const first = await apply(PROJECT)
    expect(first.body.error).toBeUndefined()
    expect(told(first)).toEqual([
      'env_group common: create (env.LOG_LEVEL: added)',
      'datastore common-db: create (kind: relational; version: 18)',
      'service common-api: create (type: web_service; image: registry.example.com/api:1; port: 3000; env_groups: common; env.DATABASE_URL: added; env.VERSION: added; env.SECRET: added)',
      'service common-worker: create (type: background_worker; image: registry.example.com/worker:1; env.API: added; env.VERSION_OF_API: added)',
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

describe('a bad file', () => {
  it('is refused with every fault at its place, and changes nothing', async () => {
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
      '11:9 services[0].env[2]: has value and generate: one of them is meant',
      '16:5 services[1].port: a background worker listens on no port',
      '17:5 services[1].schedule: a background worker has no schedule',
      '18:18 services[1].env_groups[0]: there is no env group nowhere',
      '21:9 services[1].env[0].value: key must hold letters, digits and _ only, and not start with a digit',
    ])
    expect((await server.api('GET', '/services/bad-worker')).status).toBe(404)
  })
})
