import { afterAll, beforeAll, expect, test } from 'vitest'
import { McpHost } from '../support/mcp.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** Longer than anything here takes. */
const wait_seconds = 120

let server: TestServer
let host: McpHost

beforeAll(async () => {
  server = await startServer({ engine: true })
  host = await McpHost.overHttp(server, '/mcp/write', '2026-07-28')
})

afterAll(async () => {
  await host?.close()
  await server?.stop()
})

test('an agent deploys, looks, runs a command, and goes back', async () => {
  const serving = (word: string) =>
    `echo $SECRET ${word} >&2; mkdir -p /www; echo ${word} > /www/index.html; exec httpd -f -p $PORT -h /www`
  const made = await host.call('create_service', {
    ...{ name: 'web', image: 'busybox:1', start_command: serving('one'), deploy: false },
    env: [{ key: 'PLAIN', value: 'words' }],
  })
  expect(made.service.state).toBe('not_deployed')
  const told: string[] = []
  const first = await host.client.callTool(
    { name: 'deploy_service', arguments: { service: 'web', wait_seconds } },
    { onprogress: ({ message }) => told.push(message!) },
  )
  expect(first.structuredContent).toMatchObject({
    deploy: { status: 'live' },
    url: expect.stringContaining('web.localhost'),
  })
  expect(told.length).toBeGreaterThan(0)
  const { instances } = await host.call('get_service', { service: 'web' })
  expect(instances).toMatchObject([{ state: 'running', health: 'healthy' }])
  await expect
    .poll(async () => (await host.call('read_logs', { of: 'service', name: 'web', stream: 'stderr' })).lines)
    .toMatchObject([{ line: 'one', stream: 'stderr', instance: expect.any(String) }])

  const { job, log } = await host.call('run_job', {
    service: 'web',
    command: 'echo "$PLAIN"; exit 3',
    wait_seconds,
  })
  expect([job.status, job.exit_code, log.map(({ line }: { line: string }) => line)]).toEqual([
    'failed',
    3,
    expect.arrayContaining(['words']),
  ])
  expect((await host.call('get_job', { job_id: job.id })).log.length).toBeGreaterThan(0)

  await host.call('update_service', { service: 'web', start_command: serving('two') })
  const second = await host.call('restart_service', { service: 'web', wait_seconds })
  expect(second.deploy.status).toBe('live')
  const back = await host.call('rollback_service', { service: 'web', wait_seconds })
  expect(back.deploy.status).toBe('live')
  await expect
    .poll(
      async () =>
        (await host.call('read_logs', { of: 'service', name: 'web', stream: 'stderr', lines: 1 })).lines,
    )
    .toMatchObject([{ line: 'one' }])

  const failed = await host.call('deploy_service', {
    service: 'web',
    image: 'busybox:no-such-tag',
    wait_seconds,
  })
  expect(failed).toMatchObject({
    deploy: { status: expect.stringMatching(/_failed$/), error: expect.any(String) },
  })
  expect(failed.log.length).toBeGreaterThan(0)
  expect((await host.call('get_service', { service: 'web' })).service.state).toBe('running')
})
