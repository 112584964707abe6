import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { refusal } from './account-client.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

let made = 0

interface Hooked {
  id: string
  name: string
  path: string
  deploy_hook_key: string
}

async function create(fields: object): Promise<Hooked> {
  const { body } = await server.api('POST', '/services', {
    name: `one-${++made}`,
    deploy: false,
    ...fields,
  })
  return { ...body, path: body.deploy_hook_path }
}

async function countDeploys({ id }: Hooked): Promise<number> {
  return (await server.api('GET', `/services/${id}/deploys`)).body.length
}

const IMAGE = 'registry.example.com/team/api:1'

describe('a deploy hook', () => {
  it.each(['GET', 'POST'])('queues a deploy by %s, without other credentials', async (method) => {
    const service = await create({ image: IMAGE })
    expect(await server.request(method, service.path)).toMatchObject({
      status: 202,
      body: { service_id: service.id, trigger: 'deploy_hook', status: 'queued', image: IMAGE },
    })
  })

  it('is not run by HEAD, which is only used to inspect links', async () => {
    const service = await create({ image: IMAGE })
    for (const method of ['HEAD', 'OPTIONS', 'PUT']) {
      const answer = await server.request(method, service.path)
      expect([method, answer.status]).toEqual([method, 405])
      expect([method, answer.headers.get('allow')]).toEqual([method, 'GET, POST'])
    }
    expect(await countDeploys(service)).toBe(0)
  })

  it('accepts at most 2 MiB, announced or not, from callers with the key', async () => {
    const service = await create({ image: IMAGE })
    const large = 'x'.repeat(2 * 1024 * 1024 + 1)
    const tooLarge = refusal(413, 'payload_too_large')
    expect(await server.request('POST', service.path, large)).toMatchObject(tooLarge)
    for (const wrong of ['ref=9fceb02', 'unheard=of'])
      expect(await server.request('POST', `${service.path}&${wrong}`, large)).toMatchObject(tooLarge)
    const pieces = { body: new Blob([large]).stream(), duplex: 'half' } as RequestInit
    expect(await server.request('POST', service.path, undefined, pieces)).toMatchObject(tooLarge)
    for (const path of [`/hooks/deploy/${service.id}?key=wrong`, '/hooks/deploy/nobody?key=wrong'])
      expect((await server.request('POST', path, large)).status).toBe(401)
    expect(await countDeploys(service)).toBe(0)
  })

  it('accepts any body, as senders of webhooks have them', async () => {
    const service = await create({ image: IMAGE })
    for (const body of [
      '',
      '{"push_data": {"tag": "2"}}',
      'payload=%7B%7D',
      'not json',
      Buffer.from([0xff]),
    ]) {
      expect((await server.request('POST', service.path, body)).status).toBe(202)
    }
  })

  it('deploys the commit or the image that it names', async () => {
    const repository = await create({ repo_url: 'https://git.example.com/x.git' })
    const commit = await server.request('POST', `${repository.path}&ref=9fceb02`)
    expect(commit).toMatchObject({ status: 202, body: { source: { commit: '9fceb02' } } })
    const image = await create({ image: IMAGE })
    for (const reference of ['registry.example.com/team/api:2', 'registry.example.com/team/api']) {
      const answer = await server.request('POST', `${image.path}&image=${encodeURIComponent(reference)}`)
      expect(answer).toMatchObject({ status: 202, body: { image: reference } })
    }
    const short = await create({ image: 'busybox:1' })
    const whole = await server.request('POST', `${short.path}&image=docker.io/library/busybox:2`)
    expect(whole).toMatchObject({ status: 202, body: { image: 'docker.io/library/busybox:2' } })
  })

  it.each([
    'registry.example.com/team/other:1',
    'evil.example.com/team/api:1',
    'registry.example.com/team/api/x:1',
    'registry.example.com/team/api:',
    'api:1',
    '',
    '-x',
  ])('refuses another image than the configured one: %s', async (reference) => {
    const service = await create({ image: IMAGE })
    const answer = await server.request('POST', `${service.path}&image=${encodeURIComponent(reference)}`)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(/^image: /)
    expect(await countDeploys(service)).toBe(0)
  })

  it.each(['--upload-pack=x', 'a..b', 'a%20b', '', 'refs/pull/7/head'])(
    'refuses an impossible ref: %s',
    async (ref) => {
      const service = await create({ repo_url: 'https://git.example.com/x.git' })
      const answer = await server.request('POST', `${service.path}&ref=${ref}`)
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(await countDeploys(service)).toBe(0)
    },
  )

  it('refuses a parameter that does not fit the source', async () => {
    const image = await create({ image: IMAGE })
    const answer = await server.request('POST', `${image.path}&ref=abcd`)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(/^ref: /)
    const repository = await create({ repo_url: 'https://git.example.com/x.git' })
    expect((await server.request('POST', `${repository.path}&image=busybox:1`)).status).toBe(400)
    const nothing = await create({})
    expect(await server.request('POST', nothing.path)).toMatchObject(refusal(400, 'invalid_request'))
  })

  it('gives the same answer for an unknown service and for a wrong key, whatever else is wrong', async () => {
    const service = await create({ image: IMAGE })
    const wrong = '0'.repeat(40)
    const attempts = [
      `/hooks/deploy/${service.id}`,
      `/hooks/deploy/${service.id}?key=`,
      `/hooks/deploy/${service.id}?key=${wrong}`,
      `/hooks/deploy/${service.id}?key=${service.deploy_hook_key.slice(0, -1)}`,
      `/hooks/deploy/${service.id}?key=${service.deploy_hook_key.toUpperCase()}x`,
      `/hooks/deploy/${service.id}?key=${wrong}&ref=--bad`,
      `/hooks/deploy/${service.id}?key=${wrong}&image=--bad`,
      `/hooks/deploy/${service.id}?key=${wrong}&unheard=of`,
      `/hooks/deploy/${service.id}?key=${wrong}&key=${service.deploy_hook_key}`,
      `/hooks/deploy/${service.name}?key=${service.deploy_hook_key}`,
      `/hooks/deploy/srv-00000000000000000000?key=${service.deploy_hook_key}`,
      `/hooks/deploy/srv-00000000000000000000?key=`,
      `/hooks/deploy/${service.id.replace('srv', 'dep')}?key=${wrong}`,
    ]
    const messages = new Set<string>()
    for (const path of attempts) {
      const answer = await server.request('POST', path)
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 401, 'unauthorized'])
      messages.add(answer.body.error.message)
    }
    expect(messages.size).toBe(1)
    expect(await countDeploys(service)).toBe(0)
  })

  it('does not accept an API token in place of its key', async () => {
    const service = await create({ image: IMAGE })
    const init = { headers: { authorization: `Bearer ${server.token}` } }
    expect((await server.request('POST', `/hooks/deploy/${service.id}`, undefined, init)).status).toBe(401)
  })

  it('stops at its old address when the key is rotated', async () => {
    const service = await create({ image: IMAGE })
    const { body } = await server.api('POST', `/services/${service.id}/deploy-hook/rotate`)
    expect((await server.request('POST', service.path)).status).toBe(401)
    expect((await server.request('POST', body.deploy_hook_path)).status).toBe(202)
  })

  it('of a suspended service, or one that is being deleted, answers 409', async () => {
    const suspended = await create({ image: IMAGE })
    await server.api('POST', `/services/${suspended.id}/suspend`)
    expect(await server.request('POST', suspended.path)).toMatchObject(refusal(409, 'conflict'))
    const deleting = await create({ image: IMAGE })
    await server.api('DELETE', `/services/${deleting.id}`)
    expect(await server.request('POST', deleting.path)).toMatchObject(refusal(409, 'conflict'))
  })

  it('has no other method', async () => {
    const service = await create({ image: IMAGE })
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const answer = await server.request(method, service.path)
      expect(answer).toMatchObject(refusal(405, 'method_not_allowed'))
    }
    expect(await countDeploys(service)).toBe(0)
  })

  it('never writes its key into the log', async () => {
    const service = await create({ image: IMAGE })
    await server.request('POST', service.path)
    expect(server.logs).not.toContain(service.deploy_hook_key)
  })
})
