import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Duplex } from 'node:stream'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { Shell, type ShellEnd } from '#server/shells/shell.ts'

const TICKET = '4f1d0c9a7b3e5d2f6a80'.repeat(3)
const PROBE_MS = 30_000
/** More than fits between a program that reads nothing and its client. */
const LONG_TEXT = Buffer.alloc(64 * 1024, 'a')

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
afterEach(() => vi.useRealTimers())

/** A program that never ends by itself, and takes what is typed only if `reads`. */
class Program extends Duplex {
  readonly #reads: boolean

  constructor({ reads }: { reads: boolean }) {
    super()
    this.#reads = reads
  }

  override _read(): void {}

  override _write(_: Buffer, __: BufferEncoding, done: () => void): void {
    if (this.#reads) done()
  }
}

/** Opens a shell with a program, and connects a client to it. */
async function openShell(stream: Program) {
  const ends: ShellEnd[] = []
  const program = {
    stream,
    resize: async () => {},
    end: () => new Promise<never>(() => {}),
    close: async () => void stream.destroy(),
    fault: () => null,
  }
  const shell = new Shell(program, TICKET, (end) => ends.push(end))
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => {
    server.close()
  })
  await once(server, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => client.terminate())
  const [[socket]] = await Promise.all([once(server, 'connection'), once(client, 'open')])
  expect(shell.claim(TICKET)).toBe(true)
  void shell.attach(socket as WebSocket)
  return { ends, client, socket: socket as WebSocket }
}

test('a client that leaves ends its shell, also while the program takes nothing of what was pasted', async () => {
  const { ends, client, socket } = await openShell(new Program({ reads: false }))
  for (let piece = 0; piece < 40; piece++) client.send(LONG_TEXT)
  await expect.poll(() => socket.isPaused).toBe(true)
  // It is no silence that it is not heard.
  for (let probes = 0; probes < 5; probes++) await vi.advanceTimersByTimeAsync(PROBE_MS)
  expect(ends).toEqual([])
  client.terminate()
  await expect
    .poll(async () => {
      await vi.advanceTimersByTimeAsync(PROBE_MS)
      return ends
    })
    .toEqual([{ reason: 'the client left', exitCode: null }])
})

test('what is typed to a program that has closed its terminal is dropped', async () => {
  const stream = new Program({ reads: true })
  const { ends, client, socket } = await openShell(stream)
  stream.destroy()
  client.send(LONG_TEXT)
  client.send(LONG_TEXT)
  const pong = once(client, 'pong')
  client.ping()
  await pong
  expect([socket.isPaused, ends]).toEqual([false, []])
  client.close()
  await expect.poll(() => ends).toEqual([{ reason: 'the client left', exitCode: null }])
})

test('a client that gives no sign of life is given up after two probes', async () => {
  const { ends, client } = await openShell(new Program({ reads: true }))
  const pinged = once(client, 'ping')
  await vi.advanceTimersByTimeAsync(PROBE_MS)
  await pinged
  client.pause()
  await vi.advanceTimersByTimeAsync(PROBE_MS)
  await expect
    .poll(async () => {
      await vi.advanceTimersByTimeAsync(PROBE_MS)
      return ends.length
    })
    .toBe(1)
})
