import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})

afterAll(async () => {
  await server?.stop()
})

/** A request that must be refused with this code, in a message that names the field, and that saves nothing. */
async function refused(body: unknown, code: string, message: RegExp | string): Promise<void> {
  const before = (await server.api('GET', '/services')).body.length
  const { status, body: answer } = await server.api('POST', '/services', body)
  expect(status).toBe({ invalid_request: 400, not_found: 404, conflict: 409 }[code])
  expect(answer.error).toMatchObject({ code, message: expect.stringMatching(message) })
  expect((await server.api('GET', '/services')).body).toHaveLength(before)
}

describe('creating a service', () => {
  test.each([
    ['Upper', /^name: /],
    ['-a', /^name: /],
    ['a-', /^name: /],
    ['1a', /^name: /],
    ['a'.repeat(64), /^name: /],
    ['a_b', /^name: /],
    ['', /^name: /],
    ['srv-0123456789abcdef0123', /^name: .*id/],
    [7, /^name: must be a string/],
  ])('refuses the name %j', (name, message) => refused({ name }, 'invalid_request', message))

  test.each([
    [{ repo_url: 'file:///etc' }, /^repo_url: /],
    [{ repo_url: 'ext::sh -c id' }, /^repo_url: /],
    [{ repo_url: '--upload-pack=x' }, /^repo_url: /],
    [{ repo_url: '/srv/git/x.git' }, /^repo_url: /],
    [{ repo_url: 'https://git.example.com/a.git', branch: '--upload-pack=x' }, /^branch: /],
    [{ repo_url: 'https://git.example.com/a.git', branch: 'a..b' }, /^branch: /],
    [{ repo_url: 'https://git.example.com/a.git', image: 'busybox:1' }, /^image: /],
    [{ image: 'Not An Image' }, /^image: /],
    [{ image: 'busybox:1', runtime: 'node' }, /^runtime: /],
    [{ runtime: 'image' }, /^runtime: /],
    [{ runtime: 'cobol' }, /^runtime: /],
    [{ type: 'static_site' }, /^type: /],
    [{ root_dir: '../up' }, /^root_dir: /],
    [{ root_dir: '/etc' }, /^root_dir: /],
    [{ dockerfile_path: 'a/../../b' }, /^dockerfile_path: /],
    [{ port: 0 }, /^port: /],
    [{ port: 65536 }, /^port: /],
    [{ port: '80' }, /^port: must be a/],
    [{ port: 80.5 }, /^port: /],
    [{ health_check_path: 'healthz' }, /^health_check_path: /],
    [{ health_check_path: '/a b' }, /^health_check_path: /],
    [{ type: 'background_worker', port: 80 }, /^port: /],
    [{ type: 'background_worker', health_check_path: '/' }, /^health_check_path: /],
    [{ instances: -1 }, /^instances: /],
    [{ instances: 33 }, /^instances: /],
    [{ memory_limit_mb: 15 }, /^memory_limit_mb: /],
    [{ cpu_limit: 0.001 }, /^cpu_limit: /],
    [{ cpu_limit: 513 }, /^cpu_limit: /],
    [{ auto_deploy: 'yes' }, /^auto_deploy: must be true or false/],
    [{ unknown: 1 }, /^unknown: unknown field/],
    [{ constructor: 1 }, /^constructor: unknown field/],
    [{ env: [{ key: '1A', value: '' }] }, /^env\.0: key/],
    [{ env: [{ key: 'DEPLOYER_X', value: '' }] }, /^env\.0: key/],
    [{ env: [{ key: 'A', value: 'x\0y' }] }, /^env\.0: value/],
    [{ env: [{ key: 'A', value: 'x'.repeat(64 * 1024 + 1) }] }, /^env\.0: value/],
    [{ env: [{ key: 'A', value: '${{service.x}}' }] }, /^env\.0: value.*\$\$\{\{/],
    [
      {
        env: [
          { key: 'A', value: '1' },
          { key: 'A', value: '2' },
        ],
      },
      /^env\.1: A stands twice/,
    ],
    [{ start_command: 'x\0' }, /^start_command: /],
  ])('refuses %j', (fields, message) => refused({ name: 'bad', ...fields }, 'invalid_request', message))

  test('refuses an environment that is not there, and a name in use', async () => {
    await refused({ name: 'lost', environment: 'nowhere' }, 'not_found', /nowhere/)
    await server.api('POST', '/services', { name: 'taken' })
    await refused({ name: 'taken' }, 'conflict', /taken/)
  })

  test.each([
    ['{"name":"a","name":"b"}', /^name: stands twice/],
    ['{"name":"a","__proto__":{}}', /^__proto__: unknown field/],
    ['{"name":', /JSON/],
    ['[]', /must be an object/],
    ['"x"', /must be an object/],
    ['null', /must be an object/],
  ])('refuses the body %s', (body, message) => refused(body, 'invalid_request', message))

  test('refuses a body that is not UTF-8', () =>
    refused(Buffer.from([0x22, 0xff, 0x22]), 'invalid_request', /UTF-8/))

  test('an unreachable repository is no fault of the request, and credentials in its address are never shown', async () => {
    const { status, body } = await server.api('POST', '/services', {
      name: 'private',
      repo_url: 'https://ada:s3cret-token@git.example.com/team/app.git',
      deploy: false,
    })
    expect(status).toBe(201)
    expect(body.repo_url).toBe('https://***@git.example.com/team/app.git')
    const patched = await server.api('PATCH', '/services/private', {
      repo_url: body.repo_url,
      branch: 'main',
    })
    expect(patched.body?.repo_url ?? body.repo_url).toBe('https://***@git.example.com/team/app.git')
    expect(JSON.stringify((await server.api('GET', '/services')).body)).not.toContain('s3cret-token')
  })
})

describe('reading and changing services', () => {
  test('a service is found by its name and by its id, and the environment must be its own', async () => {
    const { body } = await server.api('POST', '/services', { name: 'found' })
    expect((await server.api('GET', '/services/found')).body.id).toBe(body.id)
    expect((await server.api('GET', `/services/${body.id}?environment=production`)).body.name).toBe('found')
    expect((await server.api('GET', '/services/found?environment=nowhere')).status).toBe(404)
    expect((await server.api('GET', '/services/srv-00000000000000000000')).status).toBe(404)
  })

  test('an answer has every documented field', async () => {
    const { body } = await server.api('GET', '/services/found')
    expect(body).toMatchObject({
      environment: 'production',
      type: 'web_service',
      runtime: 'auto',
      repo_url: null,
      image: null,
      instances: 1,
      memory_limit_mb: 0,
      cpu_limit: 0,
      auto_deploy: true,
      suspended: false,
      custom_domains: [],
      env_groups: [],
      hosts: ['found.localhost'],
      url: `http://found.localhost:${server.httpPort}`,
      internal_host: 'found',
      internal_port: 10_000,
      latest_deploy: null,
      live_deploy_id: null,
      state: 'not_deployed',
    })
  })

  test('with the engine away a change that takes effect now is saved, and the answer says that it is not applied', async () => {
    const { status, body } = await server.api('PATCH', '/services/found', { instances: 2 })
    expect(status).toBe(502)
    expect(body.error).toMatchObject({
      code: 'runtime_error',
      message: expect.stringMatching(/^saved; not applied yet: /),
    })
    expect((await server.api('GET', '/services/found')).body.instances).toBe(2)
  })

  test('a setting for the next deploy is saved without the engine', async () => {
    expect((await server.api('PATCH', '/services/found', { port: 3000 })).status).toBe(200)
    expect((await server.api('GET', '/services/found')).body).toMatchObject({
      port: 3000,
      internal_port: 3000,
    })
  })

  test('an empty string clears an optional setting', async () => {
    await server.api('PATCH', '/services/found', { start_command: 'npm start' })
    await server.api('PATCH', '/services/found', { start_command: '', port: null })
    expect((await server.api('GET', '/services/found')).body).toMatchObject({
      start_command: null,
      port: null,
    })
  })

  test("a user's PORT variable is the port when none is set", async () => {
    await server.api('PUT', '/services/found/env', { vars: [{ key: 'PORT', value: '8081' }] })
    expect((await server.api('GET', '/services/found')).body.internal_port).toBe(8081)
  })

  test('type and environment cannot be changed', async () => {
    expect((await server.api('PATCH', '/services/found', { type: 'background_worker' })).status).toBe(400)
    expect((await server.api('PATCH', '/services/found', { environment: 'production' })).status).toBe(400)
  })

  test('variables are set and unset one by one, in both forms, and a key in both is refused', async () => {
    const set = await server.api('PATCH', '/services/found/env', { set: { A: '1', B: '2' }, unset: ['PORT'] })
    expect(set.body).toEqual([
      { key: 'A', value: '1' },
      { key: 'B', value: '2' },
    ])
    const again = await server.api('PATCH', '/services/found/env', {
      set: [{ key: 'B', value: '3' }],
      unset: ['A'],
    })
    expect(again.body).toEqual([{ key: 'B', value: '3' }])
    const both = await server.api('PATCH', '/services/found/env', { set: { B: '' }, unset: ['B'] })
    expect(both).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('B') } } })
    expect((await server.api('GET', '/services/found/env')).body).toEqual([{ key: 'B', value: '3' }])
  })

  test('what needs a source or a live deploy says so', async () => {
    expect((await server.api('POST', '/services/found/deploys')).status).toBe(400)
    expect((await server.api('POST', '/services/found/restart')).status).toBe(409)
    expect(
      (await server.api('POST', '/services/found/rollback', { deploy_id: 'dep-00000000000000000000' }))
        .status,
    ).toBe(404)
  })

  test('the deploy hook refuses an unknown service and a wrong key alike, and works with its key', async () => {
    const { body } = await server.api('POST', '/services', {
      name: 'hooked',
      image: 'busybox:1',
      deploy: false,
    })
    const wrong = await server.request('POST', `/hooks/deploy/${body.id}?key=wrong`)
    const unknown = await server.request('GET', '/hooks/deploy/srv-00000000000000000000?key=wrong')
    expect(wrong.status).toBe(401)
    expect(unknown.body).toEqual(wrong.body)
    expect((await server.request('GET', '/hooks/deploy/hooked?key=x')).status).toBe(401)
    const queued = await server.request('POST', body.deploy_hook_path, '{"any": "body"}')
    expect(queued).toMatchObject({ status: 202, body: { trigger: 'deploy_hook', status: 'queued' } })
    const other = await server.request('GET', `${body.deploy_hook_path}&image=busybox:2`)
    expect(other).toMatchObject({ status: 202, body: { image: 'busybox:2' } })
    expect((await server.request('GET', `${body.deploy_hook_path}&image=evil:1`)).status).toBe(400)
    const rotated = await server.api('POST', '/services/hooked/deploy-hook/rotate')
    expect(rotated.body.deploy_hook_key).not.toBe(body.deploy_hook_key)
    expect((await server.request('GET', body.deploy_hook_path)).status).toBe(401)
  })

  test('a newer deploy supersedes those that wait, and cancelling twice changes nothing', async () => {
    const { body: deploys } = await server.api('GET', '/services/hooked/deploys')
    expect(deploys.map((deploy: { status: string }) => deploy.status)).toEqual(['queued', 'canceled'])
    expect(deploys[1].error).toBe(`superseded by ${deploys[0].id}`)
    const canceled = await server.api('POST', `/deploys/${deploys[0].id}/cancel`)
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled', started_at: null } })
    expect((await server.api('POST', `/deploys/${deploys[0].id}/cancel`)).status).toBe(200)
  })

  test.each([
    ['limit=0', 1],
    ['limit=1', 1],
    ['limit=9999', 2],
  ])('the list of deploys with %s has %i', async (query, length) => {
    expect((await server.api('GET', `/services/hooked/deploys?${query}`)).body).toHaveLength(length)
  })

  test('a limit that is no whole number, a bad boolean and an unknown parameter are refused', async () => {
    expect((await server.api('GET', '/services/hooked/deploys?limit=x')).status).toBe(400)
    expect((await server.api('DELETE', '/services/hooked?force=perhaps')).status).toBe(400)
    expect((await server.api('GET', '/services?enviroment=production')).status).toBe(400)
  })
})

describe('the order of refusals', () => {
  test('an unknown route is 404 with or without credentials, a wrong method 401 first and then 405 with Allow', async () => {
    expect((await server.request('GET', '/api/v1/nothing')).status).toBe(404)
    expect((await server.api('PUT', '/nothing')).status).toBe(404)
    expect((await server.request('DELETE', '/api/v1/info')).status).toBe(401)
    const refusal = await server.api('DELETE', '/info')
    expect(refusal.status).toBe(405)
    expect(refusal.headers.get('allow')).toBe('GET, HEAD')
    expect((await server.api('GET', '/services/x/restart')).status).toBe(405)
  })

  test('401 comes before 413, 413 before 400, 400 before 404', async () => {
    const large = new Uint8Array(2 * 1024 * 1024 + 1)
    expect((await server.request('POST', '/api/v1/services', large)).status).toBe(401)
    expect((await server.api('POST', '/services?bad=1', large)).status).toBe(413)
    expect((await server.api('PATCH', '/services/nobody', { port: 'x' })).status).toBe(400)
    expect((await server.api('PATCH', '/services/nobody', { port: 1 })).status).toBe(404)
  })

  test('HEAD is answered as GET without a body', async () => {
    const head = await server.api('HEAD', '/services')
    expect(head).toMatchObject({ status: 200, body: null })
  })
})
