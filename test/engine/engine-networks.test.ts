import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createEngine, type EngineEvent } from '#daemon/engine/index.ts'
import { standEngine } from '../support/stand-setup.ts'
import { all, never, openBench, type Bench, memoryLedger } from './engine-support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

describe('the engine', () => {
  test('reports its version and what its host has', async () => {
    const info = await bench.engine.info()
    expect(info.name).toMatch(/^(docker|podman)$/)
    expect(info.version).toMatch(/^\d+\.\d+/)
    expect(info.apiVersion).toMatch(/^1\.\d+$/)
    expect(info.cpus).toBeGreaterThan(0)
    expect(info.memoryBytes).toBeGreaterThan(0)
    expect(['1', '2']).toContain(info.cgroupVersion.replace(/^v/, ''))
    expect(info.rootless).toBe(false)
  })

  test.each([
    'tcp://10.0.0.1:2375',
    'ssh://root@example.com',
    'npipe:////./pipe/docker_engine',
    'docker.sock',
  ])('at %s is refused', (dockerHost) => {
    expect(() => createEngine({ dockerHost, serverId: 'x', ledger: memoryLedger() })).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })
})

describe('an engine that does not answer', () => {
  test('because nothing listens is named with its socket', async () => {
    const engine = createEngine({
      dockerHost: 'unix:///nonexistent/docker.sock',
      serverId: 'x',
      ledger: memoryLedger(),
    })
    await expect(engine.info()).rejects.toMatchObject({
      code: 'runtime_error',
      message: expect.stringContaining('/nonexistent/docker.sock'),
    })
    await expect(engine.containers.list({})).rejects.toMatchObject({ code: 'runtime_error' })
    await expect(engine.events(never())).rejects.toMatchObject({ code: 'runtime_error' })
  })

  test('although something listens is given up within seconds', async () => {
    const door = await openDoor(() => {})
    const engine = createEngine({ dockerHost: `unix://${door.path}`, serverId: 'x', ledger: memoryLedger() })
    await expect(engine.info()).rejects.toMatchObject({
      code: 'runtime_error',
      message: expect.stringContaining('did not answer in time'),
    })
  })

  test('and then does is reached at the next call', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'deployer-door-'))
    const path = join(folder, 'late.sock')
    const engine = createEngine({
      dockerHost: `unix://${path}`,
      serverId: bench.serverId,
      ledger: bench.ledger,
    })
    await expect(engine.containers.list({})).rejects.toMatchObject({ code: 'runtime_error' })
    await openDoor(toEngine, path)
    await expect(engine.containers.list({})).resolves.toBeInstanceOf(Array)
    rmSync(folder, { recursive: true, force: true })
  })
})

describe('an engine that goes away', () => {
  test('ends its events, output and builds with a runtime_error or quietly, never hanging', async () => {
    const door = await openDoor(toEngine)
    const engine = createEngine({
      dockerHost: `unix://${door.path}`,
      serverId: bench.serverId,
      ledger: bench.ledger,
    })
    const name = await bench.run('while true; do echo again; sleep 0.05; done')
    const events = all(await engine.events(never())).catch((error: unknown) => error)
    const output = all(engine.output.logs(name, { follow: true, signal: never() })).catch(
      (error: unknown) => error,
    )
    const waiting = engine.containers.wait(name, never()).catch((error: unknown) => error)
    await delay(300)
    door.cut()
    expect(await output).toMatchObject({ code: 'runtime_error' })
    expect(await waiting).toMatchObject({ code: 'runtime_error' })
    const ended = await events
    expect(Array.isArray(ended) || ended).toSatisfy(
      (end) => end === true || (end as { code: string }).code === 'runtime_error',
    )
    await bench.engine.containers.remove(name)
  })
})

describe('the events', () => {
  test("report what happens to this server's containers, with their labels", async () => {
    const controller = new AbortController()
    const events: EngineEvent[] = []
    const told = await bench.engine.events(controller.signal)
    const reading = (async () => {
      for await (const event of told) events.push(event)
    })()
    const other = createEngine({
      dockerHost: standEngine(),
      serverId: 'another-server',
      ledger: memoryLedger(),
    })
    const foreign = bench.spec('true')
    await other.containers.create(foreign)
    await other.containers.remove(foreign.name)
    const name = await bench.run('exit 9', { labels: { colour: 'green' } })
    await expect.poll(() => events.some(({ action }) => action === 'die')).toBe(true)
    await bench.engine.containers.remove(name)
    const actions = () =>
      events.filter(({ attributes }) => attributes.name === name).map(({ action }) => action)
    await expect.poll(() => actions().some((action) => ['destroy', 'remove'].includes(action))).toBe(true)
    controller.abort()
    await reading
    expect(actions().indexOf('start')).toBeLessThan(actions().indexOf('die'))
    expect(events.find(({ action }) => action === 'die')).toMatchObject({
      type: 'container',
      exitCode: 9,
      attributes: { name, colour: 'green' },
    })
    expect(events.some(({ attributes }) => attributes.name === foreign.name)).toBe(false)
  })
})

describe('a network', () => {
  test('is created with the requested subnet, found and removed', async () => {
    const name = `${bench.serverId}-two`
    const subnet = `10.251.${Math.floor(Math.random() * 256)}.0/24`
    const gateway = subnet.replace(/0\/24$/, '1')
    await bench.engine.networks.create({ name, subnet, gateway, labels: { colour: 'red' }, internal: true })
    expect(await bench.engine.networks.inspect(name)).toMatchObject({
      name,
      subnet,
      gateway,
      internal: true,
      labels: { colour: 'red' },
    })
    expect((await bench.engine.networks.list()).map((network) => network.subnet)).toContain(subnet)
    await bench.engine.networks.remove(name)
    await bench.engine.networks.remove(name)
    expect(await bench.engine.networks.inspect(name)).toBeNull()
  })

  test('knows the containers in it and is not removed under them', async () => {
    const address = `${bench.prefix}99`
    const name = await bench.run('sleep 600', { address })
    const found = await bench.engine.networks.inspect(bench.network)
    expect(found!.containers).toContainEqual(expect.objectContaining({ name, address }))
    await expect(bench.engine.networks.remove(bench.network)).rejects.toMatchObject({ code: 'runtime_error' })
  })

  test('with taken addresses or a taken name is refused', async () => {
    const { subnet } = (await bench.engine.networks.inspect(bench.network))!
    await expect(
      bench.engine.networks.create({ name: `${bench.serverId}-three`, subnet: subnet!, labels: {} }),
    ).rejects.toMatchObject({
      code: 'runtime_error',
      message: expect.stringContaining('taken'),
    })
    await expect(
      bench.engine.networks.create({ name: bench.network, subnet: '10.252.0.0/24', labels: {} }),
    ).rejects.toMatchObject({ code: 'runtime_error' })
  })

  test('of another server is left alone', async () => {
    const other = createEngine({
      dockerHost: standEngine(),
      serverId: 'another-server',
      ledger: memoryLedger(),
    })
    await expect(other.networks.remove(bench.network)).rejects.toMatchObject({
      code: 'runtime_error',
      message: expect.stringContaining('left alone'),
    })
  })

  test('that replaced one that is gone is left alone, and that one is forgotten', async () => {
    const other = createEngine({
      dockerHost: standEngine(),
      serverId: 'another-server',
      ledger: memoryLedger(),
    })
    const name = `${bench.serverId}-replaced`
    await other.networks.create({ name, subnet: `10.249.${process.pid % 256}.0/24`, labels: {} })
    try {
      bench.ledger.record('network', name, 'f'.repeat(64))
      await bench.engine.networks.remove(name)
      expect(bench.ledger.find('network', name)).toBeUndefined()
      expect(await bench.engine.networks.inspect(name)).not.toBeNull()
    } finally {
      await other.networks.remove(name)
    }
  })

  test('keeps its containers apart from those of another', async () => {
    const address = `${bench.prefix}88`
    await bench.run('httpd -f -p 8080', { address })
    const name = `${bench.serverId}-four`
    await bench.engine.networks.create({
      name,
      subnet: `10.253.${Math.floor(Math.random() * 256)}.0/24`,
      labels: {},
    })
    const lines = await bench.output(
      `nc -w 2 ${address} 8080 </dev/null 2>/dev/null && echo reached || echo apart`,
      {
        network: name,
      },
    )
    expect(lines.at(-1)?.line).toBe('apart')
  })
})

interface Door {
  path: string
  /** Cuts every connection, like an engine that is killed. */
  cut(): void
}

const doors: Server[] = []
const folders: string[] = []
afterEach(() => {
  for (const server of doors.splice(0)) server.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A separate socket in front of the engine, so that one test can lose the engine while others have it. */
async function openDoor(handle: (socket: Socket) => void, path?: string): Promise<Door> {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-door-'))
  folders.push(folder)
  const where = path ?? join(folder, 'engine.sock')
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    handle(socket)
  })
  doors.push(server)
  await new Promise<void>((resolve) => server.listen(where, resolve))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { path: where, cut }
}

function toEngine(socket: Socket): void {
  const engine = connect(standEngine().slice('unix://'.length))
  engine.on('error', () => socket.destroy())
  socket.on('close', () => engine.destroy())
  socket.pipe(engine).pipe(socket)
}
