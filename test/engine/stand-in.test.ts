import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { HostEngine } from '#agent/engine.ts'
import { StandIn } from '#agent/stand-in.ts'
import { standEngine } from '../support/stand-setup.ts'
import { waitFor } from '../support/wait.ts'
import { docker } from './live.ts'

const WAITS = { awayMs: 400, lookMs: 100 }
/** Ends when it is told so from inside, as a crash would. */
const PROGRAM = 'rm -f /end; while [ ! -e /end ]; do sleep 0.05; done; exit 3'

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

/** One that begins now; it ends with the test. */
function begin(): StandIn {
  const standIn = new StandIn(new HostEngine(standEngine().replace('unix://', '')), serverId, WAITS)
  void standIn.run(closing.signal)
  return standIn
}

const inspect = (name: string, what: string) => docker('inspect', '--format', `{{${what}}}`, name)
const policy = (name: string) => inspect(name, '.HostConfig.RestartPolicy.Name')
const state = (name: string) => inspect(name, '.State.Status')
const crash = (name: string) => docker('exec', name, 'touch', '/end')
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
  const keepsHearing = setInterval(() => void standIn.heard(), 50)
  await crash(instance)
  await becomes(instance, 'exited')
  await new Promise((resolve) => setTimeout(resolve, 2 * WAITS.awayMs))
  clearInterval(keepsHearing)
  expect(await state(instance)).toBe('exited')
  expect(await state(datastore)).toBe('running')
})

test('of what has ended, only that is started which ended by itself and after the server was last heard', async () => {
  const [earlier, stopped, crashed] = [await run('instance'), await run('instance'), await run('instance')]
  await crash(earlier)
  await becomes(earlier, 'exited')
  const standIn = begin()
  await standIn.heard()
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
  const [broken, fine] = [await run('instance', PROGRAM, mount), await run('instance')]
  const standIn = begin()
  await standIn.heard()
  rmSync(folder, { recursive: true })
  const before = await starts(fine)
  for (const name of [broken, fine]) await crash(name)
  await waitFor(async () => (await starts(fine)) !== before, 'the start of the other')
  expect(await state(broken)).toBe('exited')
  await standIn.heard()
  expect([await policy(broken), await policy(fine)]).toEqual(['no', 'no'])
})
