import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { residentBytes } from '../support/processes.ts'
import { readEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { busyboxApplication } from './applications.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

let server: TestServer
let remote: GitRemote

beforeAll(async () => {
  server = await startServer({ engine: true })
  remote = await startGitHttp()
})
afterAll(async () => {
  await remote?.close()
  await server?.stop()
})

const MIB = 1024 * 1024
const LARGE_BYTES = 160 * MIB
const MAX_GROWTH_BYTES = 32 * MIB

async function create(name: string, fields: object): Promise<string> {
  const { status, body } = await server.api('POST', '/services', { name, ...fields })
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return body.id as string
}

async function limitsOf(serviceId: string): Promise<{ memory: number; cpus: number }[]> {
  const containers = await containersOf(serviceId)
  return Promise.all(
    containers.map(async (container) => {
      const format = '{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.NanoCpus}}'
      const [memory, swap, nano] = (await docker('inspect', '-f', format, container)).split(' ').map(Number)
      expect(swap).toBe(memory)
      return { memory: memory! / MIB, cpus: nano! / 1e9 }
    }),
  )
}

test('limits are the defaults until set, take effect at the next restart, and are clamped to the host', async () => {
  const repository = await createRepository(busyboxApplication('up'))
  const id = await create('bounded', { repo_url: remote.url(repository) })
  expect(await limitsOf(id)).toEqual([{ memory: 512, cpus: 1 }])
  const patched = await server.api('PATCH', '/services/bounded', { memory_limit_mb: 64, cpu_limit: 0.5 })
  expect(patched.body).toMatchObject({ memory_limit_mb: 64, cpu_limit: 0.5 })
  expect(await limitsOf(id)).toEqual([{ memory: 512, cpus: 1 }])
  const restart = await server.api('POST', '/services/bounded/restart')
  expect(await endOf(server, restart.body.id)).toMatchObject({ status: 'live' })
  await waitFor(async () => (await containersOf(id)).length === 1 || null, 'the old container to be gone')
  expect(await limitsOf(id)).toEqual([{ memory: 64, cpus: 0.5 }])
  await server.api('PATCH', '/services/bounded', { memory_limit_mb: 0, cpu_limit: 512 })
  const again = await server.api('POST', '/services/bounded/restart')
  expect(await endOf(server, again.body.id)).toMatchObject({ status: 'live' })
  await waitFor(async () => (await containersOf(id)).length === 1 || null, 'the old container to be gone')
  expect(await limitsOf(id)).toEqual([{ memory: 512, cpus: cpus().length }])
})

test('an instance that runs out of memory is started again, and its log and status say why', async () => {
  const repository = await createRepository({
    Dockerfile: 'FROM busybox:1\nCOPY run /run.sh\nCMD ["/run.sh"]\n',
    run: {
      mode: 0o755,
      content:
        '#!/bin/sh\nmkdir -p /www; echo up > /www/index.html\nhttpd -p $PORT -h /www\nsleep 6\nexec tail /dev/zero\n',
    },
  })
  const id = await create('greedy', { repo_url: remote.url(repository), memory_limit_mb: 16 })
  expect((await fetchFrom(server, 'greedy.localhost')).text.trim()).toBe('up')
  const status = await waitFor(async () => {
    const { body } = await server.api('GET', '/services/greedy/status')
    return body.instances.find((instance: { restarts: number }) => instance.restarts > 0) ?? null
  }, 'the program to be killed and counted')
  expect(status.reason).toMatch(/memory/)
  const lines: string[] = []
  const response = await fetch(`${server.url}/api/v1/services/${id}/logs`, {
    headers: { authorization: `Bearer ${server.token}` },
  })
  for await (const { event, data } of readEvents(response)) if (event === 'log') lines.push(data)
  expect(lines.filter((line) => /"system".*memory_limit_mb/.test(line)).length).toBeGreaterThan(0)
})

test(
  "a large upload is passed to the engine without staying in the server's memory",
  { tags: ['slow'] },
  async () => {
    const tar = pack()
    tar.entry({ name: 'Dockerfile' }, 'FROM busybox:1\nCMD ["sleep", "3600"]\n')
    tar.entry({ name: 'noise' }, randomBytes(LARGE_BYTES))
    tar.finalize()
    const archive = gzipSync(await buffer(tar), { level: 0 })
    await server.api('POST', '/services', { name: 'large', type: 'background_worker', runtime: 'docker' })
    const { status, body } = await server.api('POST', '/services/large/deploys/upload', archive)
    expect(status).toBe(202)
    const before = residentBytes(server.pid)
    let peak = before
    const watch = setInterval(() => (peak = Math.max(peak, residentBytes(server.pid))), 20)
    try {
      expect(await endOf(server, body.id)).toMatchObject({ status: 'live', error: null })
    } finally {
      clearInterval(watch)
    }
    expect(peak - before).toBeLessThan(MAX_GROWTH_BYTES)
  },
)

test('a service is spread over up to 32 instances, and scaled to none', { tags: ['slow'] }, async () => {
  const repository = await createRepository({
    Dockerfile:
      'FROM busybox:1\nCMD ["sh", "-c", "mkdir -p /www && echo $DEPLOYER_INSTANCE_ID > /www/index.html && exec httpd -f -p $PORT -h /www"]\n',
  })
  const id = await create('many', { repo_url: remote.url(repository), memory_limit_mb: 16 })
  expect((await server.api('POST', '/services/many/scale', { instances: 33 })).status).toBe(400)
  expect((await server.api('POST', '/services/many/scale', { instances: 4 })).body.instances).toBe(4)
  const seen = new Set<string>()
  await waitFor(async () => {
    seen.add((await fetchFrom(server, 'many.localhost')).text.trim())
    return seen.size === 4 || null
  }, 'four instances to answer')
  expect([...seen].every((name) => name.startsWith(id))).toBe(true)
  expect((await server.api('GET', '/services/many')).body.state).toBe('running')
  expect((await server.api('POST', '/services/many/scale', { instances: 0 })).body.state).toBe('idle')
  expect((await fetchFrom(server, 'many.localhost')).status).toBe(503)
  await waitFor(async () => (await containersOf(id)).length === 0 || null, 'all containers to be gone')
})
