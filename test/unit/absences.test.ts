import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { outlastAbsences } from '#daemon/deploys/absences.ts'
import { createEngine, type Engine } from '#daemon/engine/index.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { BuildFailure } from '#plans/index.ts'

let folder: string
let socket: string
let door: Server | null = null
let engine: Engine

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'absences-'))
  socket = join(folder, 'engine.sock')
  const ledger = {
    record: () => {},
    find: () => undefined,
    list: () => [],
    waiting: () => [],
    countWaiting: () => 0,
    forget: () => {},
    atOnce: (work: () => void) => work(),
    seal: () => '',
    open: () => '',
  }
  engine = createEngine({ dockerHost: `unix://${socket}`, serverId: 'test', ledger })
})
afterEach(async () => {
  door?.close()
  door = null
  await rm(folder, { recursive: true, force: true })
})

/** Makes the engine's socket answer its version, and nothing else. */
async function beThere(): Promise<void> {
  const server = createServer((_, answer) => answer.end('{"Version":"27.0.0","ApiVersion":"1.46"}'))
  door = server
  await new Promise<void>((resolve) => server.listen(socket, resolve))
}

/** What the deploy's log says. */
let told: string[] = []

/** How often work that fails like this is begun while the engine is not waited for, and how it ends. */
async function tries(
  error: Error,
  signal = new AbortController().signal,
): Promise<{ begun: number; failure: unknown }> {
  let begun = 0
  const work = async (): Promise<void> => {
    begun += 1
    throw error
  }
  told = []
  const log = { system: (line: string) => told.push(line) } as unknown as LogWriter
  const failure = await outlastAbsences(engine, 0, log, signal, work).catch((thrown: unknown) => thrown)
  return { begun, failure }
}

test('a missing file is not taken for an absent engine', async () => {
  await beThere()
  const error = Object.assign(new Error('no such file'), { code: 'ENOENT' })
  expect(await tries(error)).toEqual({ begun: 1, failure: error })
})

test('a failure of the deployed program ends the work, even if the engine is away', async () => {
  const error = new BuildFailure('no such folder')
  expect(await tries(error)).toEqual({ begun: 1, failure: error })
})

test('work that fails while the engine is away waits for it, as the log says', async () => {
  const { failure } = await tries(new Error('said by an engine that ends'))
  expect(failure).toMatchObject({ message: expect.stringContaining('did not come back') })
  expect(told).toEqual(['the container engine stopped answering; waiting until it is back'])
})

test('a canceled deploy does not wait for the engine', async () => {
  const canceled = new Error('canceled')
  expect(await tries(new Error('cut off'), AbortSignal.abort(canceled))).toEqual({
    begun: 1,
    failure: canceled,
  })
  expect(told).toEqual([])
})

test('work that the engine interrupted begins again', async () => {
  const away = await engine.info().catch((thrown: unknown) => thrown as Error)
  await beThere()
  expect(await tries(away as Error)).toMatchObject({ begun: 6, failure: away })
})
