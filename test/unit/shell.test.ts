import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Duplex } from 'node:stream'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { Shell, type ShellEnd } from '#server/shells/shell.ts'

const TICKET = '4f1d0c9a7b3e5d2f6a80'.repeat(3)
const PROBE_MS = 30_000
const MINUTE_MS = 60_000
const IDLE_MS = 15 * MINUTE_MS
const LASTS_MS = 8 * 60 * MINUTE_MS
/** More than fits between a program that reads nothing and its client. */
const LONG_TEXT = Buffer.alloc(64 * 1024, 'a')

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
afterEach(() => vi.useRealTimers())

/** A program that never ends by itself, and takes what is typed only if `reads`: then it emits `typed`. */
class Program extends Duplex {
  readonly #reads: boolean

  constructor({ reads }: { reads: boolean }) {
    super()
    this.#reads = reads
  }

  override _read(): void {}

  override _write(_: Buffer, __: BufferEncoding, done: () => void): void {
    if (!this.#reads) return
    done()
    this.emit('typed')
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

/**
 * Opens a shell for which much time can pass: each probe is answered at once, since a client's own answer takes real time.
 * `type` and `print` resolve when the other side has the text; `expect.poll` would let the shell's time pass meanwhile.
 */
async function openLongShell() {
  const stream = new Program({ reads: true })
  const { ends, client, socket } = await openShell(stream)
  vi.spyOn(socket, 'ping').mockImplementation(() => void socket.emit('pong'))
  const closed = once(client, 'close').then(([code, reason]) => ({ code, reason: String(reason) }))
  const type = async (text: string) => {
    const typed = once(stream, 'typed')
    client.send(Buffer.from(text))
    await typed
  }
  const print = async (text: string) => {
    const shown = once(client, 'message')
    stream.push(text)
    await shown
  }
  return { ends, client, closed, type, print }
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

test('a shell through which nothing passes for 15 minutes ends, and its client is told why', async () => {
  const { ends, closed } = await openLongShell()
  vi.advanceTimersByTime(IDLE_MS - 1)
  expect(ends).toEqual([])
  vi.advanceTimersByTime(1)
  const reason = 'nothing was typed or printed for 15 minutes'
  expect(ends).toEqual([{ reason, exitCode: null }])
  expect(await closed).toEqual({ code: 1008, reason })
})

test.each(['type', 'print'] as const)('to %s something gives a shell another 15 minutes', async (pass) => {
  const shell = await openLongShell()
  for (let turn = 0; turn < 3; turn++) {
    vi.advanceTimersByTime(IDLE_MS - 1)
    await shell[pass]('a')
  }
  vi.advanceTimersByTime(IDLE_MS - 1)
  expect(shell.ends).toEqual([])
  vi.advanceTimersByTime(1)
  expect(shell.ends).toMatchObject([{ reason: 'nothing was typed or printed for 15 minutes' }])
})

test('a terminal that is resized, and says what it has shown, is as idle as before', async () => {
  const { ends, client } = await openLongShell()
  vi.advanceTimersByTime(IDLE_MS - 1)
  client.send('{"resize": [30, 100]}')
  client.send('{"ack": 0}')
  const pong = once(client, 'pong')
  client.ping()
  await pong
  expect(ends).toEqual([])
  vi.advanceTimersByTime(1)
  expect(ends).toMatchObject([{ reason: 'nothing was typed or printed for 15 minutes' }])
})

test('a shell ends after 8 hours, however much passes through it', async () => {
  const { ends, closed, type, print } = await openLongShell()
  for (let passed = 0; passed < LASTS_MS; passed += 10 * MINUTE_MS) {
    await type('a')
    await print('b')
    expect(ends).toEqual([])
    vi.advanceTimersByTime(10 * MINUTE_MS - 1)
    expect(ends).toEqual([])
    vi.advanceTimersByTime(1)
  }
  const reason = 'it was open for 8 hours, the longest that a shell may be'
  expect(ends).toEqual([{ reason, exitCode: null }])
  expect(await closed).toEqual({ code: 1008, reason })
})
