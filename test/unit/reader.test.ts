import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Reader, provideReaderProgram, withReader } from '../../daemon/reader/reader.ts'
import {
  CHECK,
  DIE,
  ENVIRONMENT,
  GORGE,
  HOARD,
  SLEEP,
  SPIN,
  SPIN_LONG,
} from '../support/misbehaving-reader.ts'
import { childrenOf, isAlive } from '../support/processes.ts'
import { waitFor } from '../support/wait.ts'

const SUPPORT = fileURLToPath(new URL('../support/', import.meta.url))

beforeAll(() => provideReaderProgram(`${SUPPORT}misbehaving-reader.ts`))
afterEach(() => {
  const left = childrenOf(process.pid).filter(isAlive)
  if (left.length > 0) throw new Error(`left running: ${left.join(', ')}`)
})

const failure = (said: string) => ({ name: 'BuildFailure', message: expect.stringContaining(said) })

describe('a process that reads sources', () => {
  test('answers one call after another', async () => {
    await withReader(undefined, async (reader) => {
      expect(await reader.ask(CHECK, null)).toEqual(['well'])
      expect(await reader.ask(CHECK, null)).toEqual(['well'])
    })
  })

  test.each([
    ['takes too much processor time without ever pausing', SPIN, 'spinning takes more than 1 s of processor'],
    ['takes too long', SLEEP, 'sleeping takes longer than 1 s'],
    ['takes too much memory beside its heap', GORGE, 'gorging takes more than 384 MiB of memory'],
    ['takes too much memory on its heap', HOARD, 'hoarding takes more than 384 MiB of memory'],
  ])('is ended when it %s, and the error blames the source', async (_what, call, said) => {
    await expect(withReader(undefined, (reader) => reader.ask(call, null))).rejects.toMatchObject(
      failure(said),
    )
  })

  test('is ended by the signal although it never pauses, and gives its reason', async () => {
    const abort = new AbortController()
    const asked = withReader(abort.signal, (reader) => reader.ask(SPIN_LONG, null))
    abort.abort('canceled')
    await expect(asked).rejects.toBe('canceled')
    expect(() => new Reader(abort.signal)).toThrow()
  })

  test('that ends by itself does not blame the source, and later calls say so too', async () => {
    await withReader(undefined, async (reader) => {
      const died = { name: 'Error', message: expect.stringContaining('ended (7) while dying') }
      await expect(reader.ask(DIE, null)).rejects.toMatchObject(died)
      await expect(reader.ask(CHECK, null)).rejects.toMatchObject(died)
    })
  })

  test('knows nothing of the server’s environment', async () => {
    process.env.DEPLOYER_API_TOKEN = 'dpl_secret'
    try {
      const names = await withReader(undefined, (reader) => reader.ask(ENVIRONMENT, null))
      expect(names.filter((name) => !name.startsWith('NODE_CHANNEL_'))).toEqual([])
    } finally {
      delete process.env.DEPLOYER_API_TOKEN
    }
  })

  test('is still watched after a check that failed', () => {
    const command = ['--nofile=64:64', process.execPath, `${SUPPORT}starved.ts`]
    expect(execFileSync('prlimit', command).toString()).toBe('none is free\nseen true\n')
  })

  test('ends with the process that started it, even if that is killed while it never pauses', async () => {
    const parent = spawn(process.execPath, [`${SUPPORT}reading.ts`], { stdio: 'ignore' })
    const ended = once(parent, 'exit')
    const reader = await waitFor(() => childrenOf(parent.pid!)[0], 'the reader')
    parent.kill('SIGKILL')
    await ended
    await waitFor(() => !isAlive(reader), 'the reader to end')
  })
})
