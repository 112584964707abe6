import { afterAll, beforeAll, expect, test } from 'vitest'
import { Registry } from '#daemon/nodes/registry.ts'
import { provideContext } from '#server/context.ts'
import { openContext } from '../support/context.ts'
import { run } from '../stand/run.ts'
import { openBench, type Bench } from './engine-support.ts'
import { docker } from './live.ts'

const SERVICE = 'srv-00000000000000000001'

let bench: Bench
let registry: Registry
let imageId: string
let close: () => Promise<void>

beforeAll(async () => {
  const opened = await openContext()
  close = opened.close
  bench = await openBench()
  provideContext({ ...opened.context, serverId: bench.serverId })
  registry = new Registry(bench.engine)
  imageId = (await bench.engine.images.inspect('busybox:1'))!.id
})
afterAll(async () => {
  await registry.remove()
  await bench.close()
  await close()
})

const told = (format: string) => docker('inspect', '--format', format, `deployer-registry-${bench.serverId}`)

test('the registry of other nodes takes images of the own engine, and gives them to nobody else on the host', async () => {
  const digest = await registry.provide(SERVICE, imageId)
  expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/)
  const port = await told('{{index .Config.Labels "deployer.port"}}')
  // What a user of the host can ask.
  const asked = (scheme: string, path: string) =>
    run('curl', ['-sk', '-m', '5', `${scheme}://127.0.0.1:${port}${path}`]).catch(
      ({ message }: Error) => message,
    )
  for (const path of ['/v2/', '/v2/_catalog', `/v2/${SERVICE}/manifests/${digest}`]) {
    expect(await asked('https', path)).toMatch(/exit code/)
    expect(await asked('http', path)).toContain('HTTP request to an HTTPS server')
  }
})

test('it knows what it has, also to a server that was restarted', async () => {
  const digest = await registry.provide(SERVICE, imageId)
  const startedAt = await told('{{.State.StartedAt}}')
  expect(await new Registry(bench.engine).provide(SERVICE, imageId)).toBe(digest)
  expect(await told('{{.State.StartedAt}}')).toBe(startedAt)
})
