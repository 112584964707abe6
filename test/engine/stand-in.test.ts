import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { HostEngine } from '#agent/engine.ts'
import { StandIn } from '#agent/stand-in.ts'
import { standEngine } from '../support/stand-setup.ts'
import { waitFor } from '../support/wait.ts'
import { docker } from './live.ts'

const SLOW = { tags: ['slow'] }
const WAITS = { awayMs: 400, lookMs: 100, handBackMs: 12_000 }
/** More than an engine keeps of its events. */
const MANY_EVENTS = 300
/** After so long the end of a container counts, and it would be started. */
const SETTLED_MS = 2_000
/** Takes its time to end. */
const SLOW_PROGRAM = "trap 'sleep 5; exit 0' TERM; while :; do sleep 0.05; done"
/** Ends by itself, as in a crash, a second after a file was made in it: the engine has to answer the command that made it. */
const PROGRAM = 'rm -f /end; while [ ! -e /end ]; do sleep 0.05; done; sleep 1; exit 3'

let serverId: string
let made: string[]
let closing: AbortController

beforeEach(() => {
  serverId = `stand-in-${randomBytes(6).toString('hex')}`
  made = []
  closing = new AbortController()
})
afterEach(async () => {
  closing.abort()
  if (made.length > 0) await docker('rm', '-f', ...made)
})

async function run(kind: string, program = PROGRAM, options: string[] = []): Promise<string> {
  const name = `${serverId}-${made.length}`
  made.push(name)
  const labels = ['--label', `deployer.server=${serverId}`, '--label', `deployer.kind=${kind}`]
  const rest = [...options, '--init', '--network', 'none', 'busybox:1', 'sh', '-c', program]
  await docker('run', '-d', '--name', name, ...labels, ...rest)
  return name
}

const socketPath = () => standEngine().replace('unix://', '')

/** One that begins now; it ends with the test. */
function begin(waits = WAITS, path = socketPath()): StandIn {
  const standIn = new StandIn(new HostEngine(path), serverId, waits)
  void standIn.run(closing.signal)
  return standIn
}

/** Has the server there, until the function that it returns is called. */
async function there(standIn: StandIn): Promise<() => void> {
  await standIn.heard()
  const hears = setInterval(() => void standIn.heard(), 50)
  return () => clearInterval(hears)
}

/** A way to the engine, on which each change of a restart policy to `no` waits for `hold`. */
async function slowWay(hold: () => Promise<void>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-stand-in-'))
  const way = createServer((asked, answer) => {
    void (async () => {
      let body = ''
      for await (const piece of asked.setEncoding('utf8') as AsyncIterable<string>) body += piece
      if (body.includes('"no"')) await hold()
      const { method, url: path, headers } = asked
      const onward = request({ socketPath: socketPath(), method, path, headers }, (got) => {
        answer.writeHead(got.statusCode!, got.headers).flushHeaders()
        got.on('error', () => {}).pipe(answer)
      })
      answer.on('close', () => onward.destroy())
      onward.on('error', () => answer.destroy()).end(body)
    })()
  })
  const path = join(folder, 'engine.sock')
  await once(way.listen(path), 'listening')
  closing.signal.addEventListener('abort', () => {
    way.close().closeAllConnections()
    rmSync(folder, { recursive: true })
  })
  return path
}

/** Has the engine forget what happened until now. */
async function pushOut(): Promise<void> {
  const name = await run('job')
  for (let count = 0; count < MANY_EVENTS; count++) {
    const asked = request({ socketPath: socketPath(), method: 'POST', path: `/containers/${name}/exec` })
    asked.setHeader('content-type', 'application/json').end('{"Cmd":["true"]}')
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    expect(answer.statusCode).toBe(201)
  }
}

const inspect = (name: string, what: string) => docker('inspect', '--format', `{{${what}}}`, name)
const policy = (name: string) => inspect(name, '.HostConfig.RestartPolicy.Name')
const state = (name: string) => inspect(name, '.State.Status')
const crash = (name: string) => docker('exec', '-d', name, 'touch', '/end')
const starts = (name: string) => inspect(name, '.State.StartedAt')

async function becomes(name: string, wanted: string): Promise<void> {
  await waitFor(async () => (await state(name)) === wanted, `${name} to be ${wanted}`)
}
async function isMarked(name: string): Promise<void> {
  await waitFor(async () => (await policy(name)) === 'unless-stopped', `${name} to be looked after`)
}

test('what runs for good is started again while the server is away, and by nobody else once it is heard', async () => {
  const [instance, datastore, job] = [await run('instance'), await run('datastore'), await run('job')]
  const standIn = begin()
  await Promise.all([isMarked(instance), isMarked(datastore)])
  expect(await policy(job)).toBe('no')
  const before = await starts(instance)
  await crash(instance)
  await waitFor(async () => (await starts(instance)) !== before, 'the next start')
  await becomes(instance, 'running')

  await standIn.heard()
  expect([await policy(instance), await policy(datastore)]).toEqual(['no', 'no'])
  const leave = await there(standIn)
  await crash(instance)
  await becomes(instance, 'exited')
  await delay(2 * WAITS.awayMs)
  leave()
  expect(await state(instance)).toBe('exited')
  expect(await state(datastore)).toBe('running')
})

test('of what has ended, only that is started which ended by itself and after the server was last heard', async () => {
  // The tests beside this one have the engine forget what was before.
  const leave = await there(begin())
  const [earlier, stopped, crashed] = [await run('instance'), await run('instance'), await run('instance')]
  await crash(earlier)
  await becomes(earlier, 'exited')
  await delay(WAITS.lookMs)
  leave()
  await docker('stop', '-t', '1', stopped)
  await crash(crashed)
  const before = await starts(crashed)
  await waitFor(async () => (await starts(crashed)) !== before, 'its start')
  await becomes(crashed, 'running')
  // Also one that was looked after before it was told to end.
  await docker('stop', '-t', '1', crashed)
  const last = await run('instance')
  await isMarked(last)
  await crash(last)
  await becomes(last, 'running')
  expect([await state(earlier), await state(stopped), await state(crashed)]).toEqual(Array(3).fill('exited'))
  expect([await policy(earlier), await policy(stopped)]).toEqual(['no', 'no'])
})

test('what was told to end stays so when the engine has forgotten that', SLOW, async () => {
  begin()
  const [stopped, other] = [await run('instance'), await run('instance')]
  await isMarked(stopped)
  await docker('stop', '-t', '1', stopped)
  await pushOut()
  await crash(other)
  await becomes(other, 'running')
  await delay(SETTLED_MS)
  expect(await state(stopped)).toBe('exited')
})

test('what the server was stopping when it went away ends, and stays so', async () => {
  const leave = await there(begin())
  const name = await run('datastore', SLOW_PROGRAM)
  const stop = docker('stop', '-t', '30', name)
  await delay(WAITS.lookMs)
  leave()
  await stop
  await delay(SETTLED_MS)
  expect([await state(name), await policy(name)]).toEqual(['exited', 'no'])
})

test(
  'what may have been told to end before this agent began, and ends soon after, stays so',
  SLOW,
  async () => {
    const name = await run('datastore', SLOW_PROGRAM)
    const stop = docker('stop', '-t', '30', name)
    await pushOut()
    await begin().heard()
    await stop
    await delay(SETTLED_MS)
    expect(await state(name)).toBe('exited')
  },
)

test('what an earlier agent looked after is known by the next one, whether the server is away or there', async () => {
  const name = await run('instance')
  // As an engine does with what still runs when it starts.
  await docker('stop', '-t', '1', name)
  await docker('update', '--restart', 'unless-stopped', name)
  const standIn = begin()
  await becomes(name, 'running')
  closing.abort()
  await standIn.heard()
  await docker('update', '--restart', 'unless-stopped', name)

  closing = new AbortController()
  await begin().heard()
  expect(await policy(name)).toBe('no')
})

test('what crashes again and again is the server’s at once, though the engine waits before the next start', async () => {
  const name = await run('instance', 'exit 3', ['--restart', 'unless-stopped'])
  // Then its next wait takes over a second.
  await waitFor(async () => Number(await inspect(name, '.RestartCount')) >= 5, 'some starts')
  await becomes(name, 'restarting')
  await begin().heard()
  expect([await policy(name), await state(name)]).toEqual(['no', 'exited'])
})

test('a container that cannot be started keeps nothing from the others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-stand-in-'))
  const mount = ['--mount', `type=bind,source=${folder},target=/folder`]
  const standIn = begin()
  const leave = await there(standIn)
  const [broken, fine] = [await run('instance', PROGRAM, mount), await run('instance')]
  leave()
  rmSync(folder, { recursive: true })
  const before = await starts(fine)
  for (const name of [broken, fine]) await crash(name)
  await waitFor(async () => (await starts(fine)) !== before, 'the start of the other')
  expect(await state(broken)).toBe('exited')
  await standIn.heard()
  expect([await policy(broken), await policy(fine)]).toEqual(['no', 'no'])
})

test(
  'a server that is away again before all was given back gets it again before it is let in',
  SLOW,
  async () => {
    const name = await run('instance')
    let isSlow = true
    const path = await slowWay(() => delay(isSlow ? 3 * WAITS.awayMs : 0))
    const standIn = begin(WAITS, path)
    await isMarked(name)
    await standIn.heard()
    isSlow = false
    await isMarked(name)
    await standIn.heard()
    expect(await policy(name)).toBe('no')
  },
)

test('an engine that hangs does not keep the server out', SLOW, async () => {
  const name = await run('instance')
  const hold = Promise.withResolvers<void>()
  const standIn = begin({ ...WAITS, handBackMs: 200 }, await slowWay(() => hold.promise))
  await isMarked(name)
  const began = performance.now()
  const leave = await there(standIn)
  expect(performance.now() - began).toBeLessThan(5_000)
  expect(await policy(name)).toBe('unless-stopped')
  // It is tried again while the server is there.
  hold.resolve()
  await waitFor(async () => (await policy(name)) === 'no', 'the server to have it back')
  leave()
})
