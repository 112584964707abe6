import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { SocketWatch } from '../../proxy/control/socket-watch.ts'

/** More than is waited before something is done about a socket without a file. */
const GRACE_MS = 6_000

const file = 'proxy/control.sock'
let done: string[]
let isAlone: boolean
let fails: boolean

beforeEach(() => {
  const before = process.cwd()
  const directory = mkdtempSync(join(tmpdir(), 'deployer-watch-'))
  process.chdir(directory)
  onTestFinished(() => {
    process.chdir(before)
    rmSync(directory, { recursive: true, force: true })
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  done = []
  isAlone = true
  fails = false
  mkdirSync('proxy')
  writeFileSync(file, '')
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('a socket whose file is removed gets another, even while a client is connected', async () => {
  startWatch()
  isAlone = false
  rmSync(file)
  await expect.poll(() => vi.getTimerCount()).toBe(1)
  await grace()
  expect(done).toEqual(['reopened'])
  expect(existsSync(file)).toBe(true)
})

test('a socket that is not watched gets another when it is checked', async () => {
  const watch = startWatch()
  watch.stop()
  rmSync(file)
  await grace()
  expect(done).toEqual([])
  watch.look()
  watch.look()
  await grace()
  expect(done).toEqual(['reopened'])
})

test('a file that cannot be created is tried again', async () => {
  const watch = startWatch()
  fails = true
  rmSync(file)
  watch.start()
  await grace()
  fails = false
  await grace()
  expect(done).toEqual(['failed', 'reopened'])
})

test('a folder that is removed is gone only when nobody is connected', async () => {
  const watch = startWatch()
  isAlone = false
  rmSync('proxy', { recursive: true })
  watch.start()
  await grace()
  expect(done).toEqual([])
  isAlone = true
  watch.start()
  await grace()
  expect(done).toEqual(['gone'])
  await grace()
  expect(done).toEqual(['gone'])
})

test('another folder in its place is not its own', async () => {
  const watch = startWatch()
  // Kept, so that its number is not another's.
  const held = openSync('proxy', 'r')
  onTestFinished(() => closeSync(held))
  rmSync('proxy', { recursive: true })
  mkdirSync('proxy')
  watch.start()
  await grace()
  expect(done).toEqual(['gone'])
})

test('a folder that can be found although it was removed, as a mounted one can, is gone', async () => {
  mkdirSync('elsewhere')
  const held = openSync('elsewhere', 'r')
  onTestFinished(() => closeSync(held))
  rmSync('proxy', { recursive: true })
  symlinkSync(`/proc/self/fd/${held}`, 'proxy')
  writeFileSync(file, '')
  const watch = startWatch()
  rmSync('elsewhere', { recursive: true })
  watch.start()
  await grace()
  expect(done).toEqual(['gone'])
})

function startWatch(): SocketWatch {
  const watch = new SocketWatch(join(process.cwd(), file), {
    isAlone: () => isAlone,
    reopen: async () => {
      done.push(fails ? 'failed' : 'reopened')
      if (fails) throw new Error('no')
      writeFileSync(file, '')
    },
    gone: () => done.push('gone'),
  })
  onTestFinished(() => watch.stop())
  watch.start()
  return watch
}

/** Lets the wait end and what follows happen. */
async function grace(): Promise<void> {
  await vi.advanceTimersByTimeAsync(GRACE_MS)
  await setImmediate()
}
