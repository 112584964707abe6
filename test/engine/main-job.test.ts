import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LogLine } from '#server/logs/lines.ts'
import type { DeployStep } from '#server/logs/steps.ts'
import { readEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { commit, createRepository, startGitHttp, type GitRemote, type Repository } from '../stand/git.ts'
import { busyboxApplication, expressApplication } from './applications.ts'
import { endOf, fetchFrom } from './live.ts'

/** No other test and no earlier run has built it, so that nothing of it is in the build cache. */
const SECOND = `two, built at ${Date.now()}`

let server: TestServer
let remote: GitRemote
let repository: Repository

beforeAll(async () => {
  server = await startServer({ engine: true, schedule: 'usual' })
  remote = await startGitHttp()
})

afterAll(async () => {
  await remote?.close()
  await server?.stop()
})

/** Waits for a deploy's end; anything but `live` fails with its error. */
async function untilLive(id: string): Promise<void> {
  expect(await endOf(server, id)).toMatchObject({ status: 'live', error: null })
}

describe('a repository goes live', () => {
  test('an Express application from a repository is built, started and served at its host', async () => {
    repository = await createRepository(expressApplication('one'))
    const created = await server.api('POST', '/services', { name: 'shop', repo_url: remote.url(repository) })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ state: 'deploying', latest_deploy: { trigger: 'create' } })
    await untilLive(created.body.latest_deploy.id)
    expect(await fetchFrom(server, 'shop.localhost')).toEqual({ status: 200, text: 'one' })
  })

  test('its deploy log shows the clone, the build and the start, and ends', async () => {
    const { body } = await server.api('GET', '/services/shop')
    const lines: LogLine[] = []
    const steps = new Map<string, DeployStep>()
    let ended = false
    const response = await fetch(`${server.url}/api/v1/deploys/${body.live_deploy_id}/logs?follow`, {
      headers: { authorization: `Bearer ${server.token}` },
    })
    for await (const { event, data } of readEvents(response)) {
      if (event === 'log') lines.push(JSON.parse(data) as LogLine)
      if (event === 'step') {
        const step = JSON.parse(data) as DeployStep
        steps.set(step.id, step)
      }
      if (event === 'end') ended = true
    }
    expect(ended).toBe(true)
    const text = lines.map(({ line }) => line).join('\n')
    expect(text).toMatch(/cloning[\s\S]*commit [0-9a-f]{40}[\s\S]*npm[\s\S]*is ready[\s\S]*live/)
    const stepOf = (line: RegExp) => lines.find((each) => line.test(each.line))?.step
    expect([/^cloning/, /is ready$/, /^live$/].map(stepOf)).toEqual(['source', 'health', 'switch'])
    expect(steps.get(stepOf(/^#\d+ \[.*\] RUN .*npm/)!)!.name).toMatch(/npm/)
    expect([...steps.values()].every(({ status }) => status === 'succeeded')).toBe(true)
    expect([...steps.keys()].filter((id) => !id.startsWith('build-'))).toEqual([
      'source',
      'plan',
      'prepare',
      'start',
      'health',
      'switch',
    ])
  })

  test('a pushed change is deployed without a failed request', async () => {
    await commit(repository, expressApplication(SECOND), 'second')
    const deploy = await server.api('POST', '/services/shop/deploys')
    expect(deploy.status).toBe(202)
    const answers = { good: 0, bad: [] as string[] }
    let loading = true
    const load = Array.from({ length: 8 }, async () => {
      while (loading) {
        const { status, text } = await fetchFrom(server, 'shop.localhost').catch((error: Error) => ({
          status: 0,
          text: error.message,
        }))
        if (status === 200 && (text === 'one' || text === SECOND)) answers.good++
        else answers.bad.push(`${status} ${text.slice(0, 80)}`)
      }
    })
    await untilLive(deploy.body.id)
    await waitFor(
      async () => (await fetchFrom(server, 'shop.localhost')).text === SECOND,
      'the new version',
      10_000,
    )
    loading = false
    await Promise.all(load)
    expect(answers.bad).toEqual([])
    expect(answers.good).toBeGreaterThan(100)
    const replaced = await server.api('GET', '/services/shop/deploys')
    expect(replaced.body.map((entry: { status: string }) => entry.status)).toEqual(['live', 'deactivated'])
  })

  test('its steps say what came from the cache, and how long each took the time before', async () => {
    const { body: deploys } = await server.api('GET', '/services/shop/deploys')
    const [second, first] = await Promise.all(
      [deploys[0].id, deploys[1].id].map(
        async (id) => (await server.api('GET', `/deploys/${id}/steps`)).body,
      ),
    )
    expect(first.previous).toBeNull()
    expect(second).toMatchObject({
      duration_ms: expect.any(Number),
      previous: { deploy_id: deploys[1].id, duration_ms: first.duration_ms },
    })
    const installing = (all: { steps: (DeployStep & { previous: unknown })[] }) =>
      all.steps.find(({ name }) => name.includes('npm'))!
    expect(installing(second)).toMatchObject({
      cached: true,
      duration_ms: 0,
      previous: { duration_ms: installing(first).duration_ms },
    })
    // What changed was copied again.
    expect(second.steps.some(({ name, cached }: DeployStep) => name.includes('COPY') && !cached)).toBe(true)
    // The builder may have a step more than the time before, such as one that it waits in.
    const known = new Set(first.steps.map(({ name }: DeployStep) => name))
    const isOdd = ({ name, previous }: DeployStep & { previous: unknown }) =>
      known.has(name) !== (previous !== null)
    expect(second.steps.filter(isOdd)).toEqual([])
  })

  test('a rollback brings the earlier version back without a build', async () => {
    const { body: deploys } = await server.api('GET', '/services/shop/deploys')
    const rollback = await server.api('POST', '/services/shop/rollback', { deploy_id: deploys[1].id })
    expect(rollback).toMatchObject({ status: 202, body: { trigger: 'rollback' } })
    await untilLive(rollback.body.id)
    expect((await fetchFrom(server, 'shop.localhost')).text).toBe('one')
  })

  test('variables reach the program byte for byte after a restart, with those of the server', async () => {
    const value = 'a $HOME "quoted" \'single\' \n{"json": [1]} $${{x}} é'
    const saved = await server.api('PUT', '/services/shop/env?restart=true', {
      vars: [{ key: 'ODD', value }],
    })
    expect(saved.status).toBe(200)
    const { body: deploys } = await server.api('GET', '/services/shop/deploys')
    expect(deploys[0].trigger).toBe('restart')
    await untilLive(deploys[0].id)
    const environment = JSON.parse((await fetchFrom(server, 'shop.localhost', '/env')).text) as Record<
      string,
      string
    >
    expect(environment).toMatchObject({
      ODD: value.replaceAll('$${{', () => '${{'),
      PORT: '10000',
      DEPLOYER: 'true',
      DEPLOYER_SERVICE_NAME: 'shop',
      DEPLOYER_SERVICE_TYPE: 'web_service',
      DEPLOYER_ENVIRONMENT: 'production',
      DEPLOYER_DEPLOY_ID: deploys[0].id,
      DEPLOYER_EXTERNAL_HOSTNAME: 'shop.localhost',
      DEPLOYER_EXTERNAL_URL: `http://shop.localhost:${server.httpPort}`,
    })
    expect(environment.DEPLOYER_INSTANCE_ID).toMatch(/^srv-[0-9a-f]{20}-[0-9a-f]{5}$/)
  })

  test('scaling starts and stops instances, and at 0 a page says so', async () => {
    const up = await server.api('POST', '/services/shop/scale', { instances: 3 })
    expect(up).toMatchObject({ status: 200, body: { instances: 3 } })
    await waitFor(
      async () => (await server.api('GET', '/services/shop')).body.state === 'running',
      'three instances',
    )
    const { body: status } = await server.api('GET', '/services/shop/status')
    expect(status.instances.filter(({ state }: { state: string }) => state === 'running')).toHaveLength(3)
    await server.api('POST', '/services/shop/scale', { instances: 0 })
    expect((await server.api('GET', '/services/shop')).body.state).toBe('idle')
    expect((await fetchFrom(server, 'shop.localhost')).status).toBe(503)
    await server.api('POST', '/services/shop/scale', { instances: 1 })
    await waitFor(async () => (await fetchFrom(server, 'shop.localhost')).status === 200, 'one instance')
  })

  test('suspending stops the containers and resuming starts the live deploy again, without a deploy', async () => {
    const before = (await server.api('GET', '/services/shop/deploys')).body.length
    expect((await server.api('POST', '/services/shop/suspend')).body).toMatchObject({
      suspended: true,
      state: 'suspended',
    })
    expect((await server.api('POST', '/services/shop/suspend')).status).toBe(200)
    expect((await fetchFrom(server, 'shop.localhost')).status).toBe(503)
    expect((await server.api('POST', '/services/shop/deploys')).status).toBe(409)
    expect((await server.api('POST', '/services/shop/resume')).body.suspended).toBe(false)
    await waitFor(
      async () => (await fetchFrom(server, 'shop.localhost')).status === 200,
      'the service to be back',
    )
    expect((await server.api('GET', '/services/shop/deploys')).body).toHaveLength(before)
  })

  test('a service that crashes is started again and its restarts are counted', async () => {
    const repo = await createRepository(busyboxApplication('crash'))
    const { body } = await server.api('POST', '/services', {
      name: 'crasher',
      repo_url: remote.url(repo),
      start_command: 'httpd -p $PORT -h /www && sleep 4 && echo dying && exit 3',
    })
    await untilLive(body.latest_deploy.id)
    await waitFor(
      async () => (await server.api('GET', '/services/crasher/status')).body.instances[0]?.restarts >= 1,
      'a restart',
    )
    await waitFor(
      async () => (await fetchFrom(server, 'crasher.localhost')).status === 200,
      'the service to answer again',
    )
    expect((await server.api('DELETE', '/services/crasher')).status).toBe(204)
    expect((await server.api('GET', '/services/crasher')).status).toBe(404)
    expect((await fetchFrom(server, 'crasher.localhost')).status).toBe(404)
  })

  test('kill -9 of the server in the middle of a deploy loses nothing: the page is served and the deploy ends after the start', async () => {
    await commit(repository, expressApplication('three'), 'third')
    const deploy = await server.api('POST', '/services/shop/deploys', { clear_cache: true })
    await waitFor(
      async () => (await server.api('GET', `/deploys/${deploy.body.id}`)).body.status === 'building',
      'the build',
    )
    await server.kill('SIGKILL')
    expect((await fetchFrom(server, 'shop.localhost')).status).toBe(200)
    await server.restart()
    expect((await fetchFrom(server, 'shop.localhost')).status).toBe(200)
    await untilLive(deploy.body.id)
    expect((await fetchFrom(server, 'shop.localhost')).text).toBe('three')
  })
})
