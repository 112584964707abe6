import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { refusal } from './account-client.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

let made = 0
/** The service of one test, with a disk at /data, and a group that it is not linked to. */
let service: string
let group: string

beforeEach(async () => {
  made += 1
  service = `service-${made}`
  group = `group-${made}`
  await server.api('POST', '/services', { name: service, disk_mount_path: '/data' })
  await server.api('POST', '/env-groups', { name: group })
})

const ofService = (name = ''): string => `/services/${service}/secret-files${name && `/${name}`}`
const ofGroup = (name = ''): string => `/env-groups/${group}/secret-files${name && `/${name}`}`
const link = (): Promise<ApiAnswer> => server.api('POST', `/services/${service}/env-groups`, { group })

async function put(path: string, body: object): Promise<void> {
  const { status, body: answer } = await server.api('PUT', path, body)
  expect({ status, answer }).toMatchObject({ status: 200 })
}

const BYTES = Buffer.from([0, 1, 255, 0, 10, 13])

describe('a secret file', () => {
  it.each([['a service', ofService] as const, ['an env group', ofGroup] as const])(
    'of %s is written, listed, read byte for byte, replaced and deleted',
    async (_, at) => {
      const answer = await server.api('PUT', at('key.p12'), { content_base64: BYTES.toString('base64') })
      const file = {
        name: 'key.p12',
        path: '/etc/secrets/key.p12',
        mode: '0400',
        size_bytes: 6,
        sha256: createHash('sha256').update(BYTES).digest('hex'),
        secret: true,
        updated_at: expect.any(String) as string,
      }
      expect(answer).toMatchObject({ status: 200 })
      expect(answer.body).toEqual(file)
      await put(at('app.json'), { content: '{"é": 1}', path: '//app/./c.json', mode: '0444', secret: false })
      expect((await server.api('GET', at())).body).toMatchObject([{ name: 'app.json' }, file])
      expect((await server.api('GET', at('key.p12'))).body).toEqual({
        ...file,
        content_base64: BYTES.toString('base64'),
      })
      await put(at('app.json'), { content: '' })
      expect((await server.api('GET', at('app.json'))).body).toMatchObject({
        ...{ size_bytes: 0, content_base64: '', path: '/etc/secrets/app.json', mode: '0400', secret: true },
      })
      expect(await server.api('DELETE', at('key.p12'))).toMatchObject({ status: 204, body: null })
      for (const method of ['GET', 'DELETE'])
        expect(await server.api(method, at('key.p12'))).toMatchObject(refusal(404, 'not_found'))
    },
  )

  it('is a change that containers get later, like a variable', async () => {
    const before = (await server.api('GET', `/services/${service}`)).body.settings_updated_at
    await put(ofService('a'), { content: 'a' })
    expect((await server.api('GET', `/services/${service}`)).body.settings_updated_at > before).toBe(true)
    const old = (await server.api('GET', `/env-groups/${group}`)).body.updated_at
    await put(ofGroup('a'), { content: 'a' })
    expect((await server.api('GET', `/env-groups/${group}`)).body.updated_at > old).toBe(true)
  })

  it('is stored encrypted', async () => {
    await put(ofService('a'), { content: 'marker-of-a-secret-file' })
    const files = ['deployer.db', 'deployer.db-wal'].map((name) => join(server.dataDirectory, name))
    for (const file of files) expect(readFileSync(file).includes('marker-of-a-secret-file')).toBe(false)
  })

  it('is refused with a bad name, path, mode or content, and nothing is saved', async () => {
    const at = ofService('a')
    const wrong: [path: string, body: object, field: string][] = [
      ...['...%2f', 'a%2fb', 'a%20b', 'é', 'a'.repeat(129)].map((name): [string, object, string] => [
        ofService(name),
        { content: '' },
        'name',
      ]),
      ...[
        ...['app/a', '/app/../etc/passwd', '/', '/etc', '/etc/passwd', '/etc//shadow', '/proc/self/a'],
        ...['/dev/shm/a', '/sys/a', '/usr/bin/env', '/bin/sh', '/lib/a/b.so', '/app/', '/a\nb', '/a\0b'],
        ...['/data', '/data/a', `/app/${'a'.repeat(256)}`, `/${'a/'.repeat(600)}b`],
      ].map((path): [string, object, string] => [at, { content: '', path }, 'path']),
      ...['400', '0800', '4755', '04755', ''].map((mode): [string, object, string] => [
        at,
        { content: '', mode },
        'mode',
      ]),
      [at, {}, 'content'],
      [at, { content: 'a', content_base64: 'YQ==' }, 'content'],
      [at, { content: '\ud800' }, 'content'],
      [at, { content_base64: 'not base64!' }, 'content_base64'],
      [at, { content: 'a'.repeat(1024 * 1024 + 1) }, 'content'],
      [at, { content: 'a', secret: 'no' }, 'secret'],
      [at, { content: 'a', owner: 'root' }, 'owner'],
    ]
    for (const [path, body, field] of wrong) {
      const answer = await server.api('PUT', path, body)
      expect([path, body, answer]).toMatchObject([path, body, refusal(400, 'invalid_request')])
      expect(answer.body.error.message).toMatch(new RegExp(`^(?:body: )?.*${field}`))
    }
    expect((await server.api('GET', ofService())).body).toEqual([])
  })

  it('may be in a folder of /etc, and next to what it must not hide', async () => {
    for (const path of ['/etc/ssl/private/a.pem', '/database/a', '/usr/src/app/.env', '/a.json'])
      await put(ofService('a'), { content: 'a', path })
  })
})

describe('the files of a service and its groups together', () => {
  it('have at most 1 MiB, and a file of its own replaces that of a group', async () => {
    const half = { content: 'x'.repeat(600 * 1024) }
    await put(ofGroup('big'), half)
    await put(ofService('other'), half)
    const refused = await link()
    expect(refused).toMatchObject(refusal(400, 'invalid_request'))
    expect(refused.body.error.message).toMatch(/^group: service service-\d+, .*1048576/)
    await server.api('DELETE', ofService('other'))
    await put(ofService('big'), half)
    expect((await link()).status).toBe(200)
    const more = await server.api('PUT', ofGroup('more'), half)
    expect(more).toMatchObject(refusal(400, 'invalid_request'))
    expect(more.body.error.message).toMatch(/^content: /)
  })

  it('stay apart when a group that covered one of them is taken away', async () => {
    const over = `${group}-over`
    const covered = await server.api('POST', '/env-groups', { name: over })
    expect(covered.status).toBe(201)
    await put(ofGroup('x'), { content: '', path: '/app/f' })
    await put(`/env-groups/${over}/secret-files/x`, { content: '', path: '/app/g' })
    await link()
    await server.api('POST', `/services/${service}/env-groups`, { group: over })
    await put(ofService('z'), { content: '', path: '/app/f' })
    const unlinked = await server.api('DELETE', `/services/${service}/env-groups/${over}`)
    expect(unlinked.body.error.message).toMatch(/^group: service .* two secret files at \/app\/f: x and z$/)
    expect(await server.api('DELETE', `/env-groups/${over}?force=true`)).toMatchObject(
      refusal(400, 'invalid_request'),
    )
  })

  it('are at places of their own, where no disk is', async () => {
    await put(ofGroup('one'), { content: '', path: '/app/one' })
    await link()
    const taken: [object, RegExp][] = [
      [{ path: '/app/one' }, /^path: service .* two secret files at \/app\/one: one and two$/],
      [{ path: '/app/one/two' }, /^path: /],
      [{ path: '/app' }, /^path: /],
    ]
    for (const [body, message] of taken) {
      const { status, body: answer } = await server.api('PUT', ofService('two'), { content: '', ...body })
      expect([status, answer.error.message]).toEqual([400, expect.stringMatching(message)])
    }
    const onDisk = await server.api('PUT', ofGroup('one'), { content: '', path: '/data/one' })
    expect(onDisk.body.error.message).toMatch(/^path: service .* where its disk is mounted \(\/data\)$/)
    const disk = await server.api('PATCH', `/services/${service}`, { disk_mount_path: '/app' })
    expect(disk.body.error.message).toMatch(/^disk_mount_path: /)
    const fresh = await server.api('POST', '/services', {
      ...{ name: `${service}-b`, env_groups: [group], disk_mount_path: '/app/one' },
    })
    expect(fresh.body.error.message).toMatch(/^env_groups: /)
  })

  it('are at most 100', async () => {
    for (let index = 0; index < 100; index++) await put(ofService(`f${index}`), { content: '' })
    expect(await server.api('PUT', ofService('last'), { content: '' })).toMatchObject(
      refusal(400, 'invalid_request'),
    )
  })
})

describe('the audit log', () => {
  it('names the files that changed or were read, never what is in them', async () => {
    await put(ofService('a.json'), { content: 'first-content' })
    await put(ofService('a.json'), { content: 'second-content', mode: '0440' })
    await server.api('GET', ofService('a.json'))
    await server.api('DELETE', ofService('a.json'))
    const { body } = await server.api('GET', `/audit-events?resource=${service}`)
    expect(body).toMatchObject([
      { action: 'secret_file.deleted', changes: ['name: a.json'] },
      { action: 'service.secret_file_read', changes: ['name: a.json'] },
      {
        action: 'secret_file.updated',
        changes: ['name: a.json', 'mode: 0400 -> 0440', 'content: set'],
      },
      {
        action: 'secret_file.updated',
        changes: ['name: a.json', 'content: set', 'mode: 0400', 'secret: true'],
      },
      { action: 'service.created' },
    ])
    expect(JSON.stringify(body)).not.toMatch(/-content/)
  })
})

describe('a blueprint', () => {
  const apply = (yaml: string, dry_run = false): Promise<ApiAnswer> =>
    server.api('POST', '/blueprints/apply', { yaml, dry_run })

  it('writes files, changes nothing the second time, and leaves those that are put by hand', async () => {
    const yaml = `env_groups:
  - name: ${group}
    secret_files:
      - { name: shared.json, content: '{"a": 1}', secret: false }
services:
  - name: ${service}
    env_groups: [${group}]
    secret_files:
      - { name: key, content_base64: AAEC, path: /app/key, mode: 0440 }
      - { name: by-hand, sync: false }
`
    const planned = await apply(yaml, true)
    expect(planned.body.actions).toMatchObject(
      [
        { resource: 'env_group', action: 'update', changes: ['secret_files.shared.json: added'] },
        { resource: 'service', action: 'update', changes: [/env_groups/, 'secret_files.key: added'] },
      ].map((action) => ({
        ...action,
        changes: action.changes.map((text) =>
          text instanceof RegExp ? (expect.stringMatching(text) as string) : text,
        ),
      })),
    )
    expect(planned.body.warnings).toMatchObject([
      expect.stringMatching(/line 10: .*by-hand.* no content yet/),
    ])
    expect((await server.api('GET', ofService())).body).toEqual([])
    expect((await apply(yaml)).status).toBe(200)
    expect((await server.api('GET', ofService('key'))).body).toMatchObject({
      ...{ content_base64: 'AAEC', path: '/app/key', mode: '0440', secret: true },
    })
    await put(ofService('by-hand'), { content: 'mine' })
    const again = await apply(yaml)
    expect(again.body.actions).toMatchObject([{ action: 'unchanged' }, { action: 'unchanged' }])
    expect(again.body.warnings).toEqual([])
    const changed = await apply(yaml.replace('AAEC', 'AAED'))
    expect(changed.body.actions[1].changes).toEqual(['secret_files.key: changed'])
    expect((await server.api('GET', ofService('key'))).body.path).toBe('/app/key')
  })

  it('is exported with the contents of what is not secret, and of all when asked to', async () => {
    await put(ofService('key'), { content: 'hidden-key', path: '/app/key' })
    await put(ofService('open.txt'), { content: 'line\n', secret: false })
    await put(ofService('bytes'), { content_base64: BYTES.toString('base64') })
    const exported = async (query = ''): Promise<string> =>
      (await server.api('GET', `/blueprints/export${query}`)).body
    const text = await exported()
    expect(text).not.toContain('hidden-key')
    expect(text).toContain('- name: key\n        sync: false\n')
    expect(text).toContain('line\n')
    const all = await exported('?secrets=include')
    expect(all).toContain('hidden-key')
    const again = await apply(all)
    expect(again.body.actions.filter(({ action }: { action: string }) => action !== 'unchanged')).toEqual([])
    expect((await exported('?keys_only')).match(/content/g)).toBe(null)
  })

  it('is refused at the lines of its bad files', async () => {
    const { status, body } = await apply(`services:
  - name: ${service}
    secret_files:
      - { name: .., content: a }
      - { name: a }
      - { name: b, content: a, sync: false }
      - { name: c, content: a, path: /etc/passwd }
      - { name: d, content: a }
      - { name: d, content: b }
`)
    expect(status).toBe(400)
    const lines = body.error.details.map(({ line }: { line: number }) => line)
    expect(lines).toEqual([4, 5, 6, 7, 9])
    const onDisk = await apply(
      `services: [{ name: ${service}, secret_files: [{ name: a, content: a, path: /data/a }] }]`,
    )
    expect(onDisk.body.error.message).toMatch(/secret_files: service .* where its disk is mounted/)
  })
})
