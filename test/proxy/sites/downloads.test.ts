import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, rmSync, truncateSync } from 'node:fs'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { HOST, waitFor } from '../stand.ts'
import { ask, H, publish, replyOf, root, serve, stand } from './site-stand.ts'

const MIB = 1024 * 1024

test('a download that began before a new table ends with the bytes it began with', async () => {
  const large = randomBytes(8 * MIB)
  const old = publish({ 'large.bin': large })
  await serve(old)
  const client = slowReader('/large.bin')
  await waitFor(
    () => client.bytes > 0,
    () => 'waiting for the first bytes',
  )
  await serve(publish({ 'large.bin': 'new' }))
  rmSync(old, { recursive: true })
  expect(await client.rest()).toBe(digest(large))
  expect((await ask('/large.bin')).body).toBe('new')
})

test('pipelined requests for files in memory, on the disk and missing are answered in order', async () => {
  const large = 'L'.repeat(300_000)
  await serve(publish({ 'small.txt': 'small', 'other.txt': 'other', 'large.txt': large, 'l2.txt': large }))
  await ask('/small.txt')
  const paths = ['/small.txt', '/large.txt', '/none', '/other.txt', '/small.txt', '/l2.txt', '/small.txt']
  const client = stand.raw()
  client.send(paths.map((path) => `GET ${path} HTTP/1.1\r\n${H}\r\n\r\n`).join(''))
  client.socket.end()
  const received = await client.end()
  const bodies = [...received.matchAll(/\r\n\r\n(small|other|L{300000}|<!doctype)/g)].map(([, body]) =>
    body!.slice(0, 5),
  )
  expect(bodies).toEqual(['small', 'LLLLL', '<!doc', 'other', 'small', 'LLLLL', 'small'])
})

test('requests that came with FIN are all answered to a slow reader', async () => {
  const page = 'p'.repeat(60_000)
  await serve(publish({ 'page.txt': page }))
  await ask('/page.txt')
  const socket = connect({ port: stand.port, host: '127.0.0.1', allowHalfOpen: true })
  let bytes = 0
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.on('data', (data) => (bytes += data.length))
  socket.pause()
  socket.write(`GET /page.txt HTTP/1.1\r\n${H}\r\n\r\n`.repeat(300))
  socket.end()
  await sleep(300)
  socket.resume()
  await ended
  expect(bytes).toBeGreaterThan(300 * page.length)
})

test('a kept-alive connection and HTTP/1.0 get the same file', async () => {
  await serve(publish({ 'a.txt': 'hello' }))
  const client = stand.raw()
  for (let round = 1; round <= 3; round++) {
    client.request('GET /a.txt HTTP/1.1', H)
    await client.until(new RegExp(`(?:hello[^]*){${round}}`))
  }
  client.close()
  const old = await stand.raw().request('GET /a.txt HTTP/1.0', H).end()
  expect(replyOf(old)).toMatchObject({ status: 200, body: 'hello', fields: { connection: 'close' } })
})

test('large files arrive completely on many connections at once, however slowly they are read', async () => {
  const files = {
    'one.bin': randomBytes(6 * MIB + 123),
    'two.bin': randomBytes(900_000),
    'three.bin': randomBytes(128 * 1024),
    'four.bin': randomBytes(70_000),
  }
  await serve(publish(files))
  const names = Object.keys(files) as (keyof typeof files)[]
  for (let round = 0; round < 3; round++) {
    const readers = Array.from({ length: 24 }, (_, at) => names[at % names.length]!)
    await Promise.all(
      readers.map(async (name, at) => {
        const got = at % 3 === 0 ? await slowReader(`/${name}`).rest() : await fetchDigest(`/${name}`)
        expect(got).toBe(digest(files[name]))
      }),
    )
  }
  await untilAllClosed()
})

test('a reader that reads nothing does not make the data plane hold the file in memory', async () => {
  const folder = publish({ 'huge.bin': Buffer.alloc(64 * MIB) })
  await serve(folder)
  const before = await memory()
  const clients = Array.from({ length: 20 }, () => stalled('/huge.bin'))
  await Promise.all(clients.map(({ begun }) => begun))
  await sleep(500)
  // Twenty buffers, and what node needs for twenty connections: far from 20 times 64 MiB.
  expect((await memory()) - before).toBeLessThan(60 * MIB)
  expect(new Set(await openFiles()).size).toBe(1)
  expect(await openFiles()).toHaveLength(1)
  for (const { socket } of clients) socket.destroy()
  await untilAllClosed()
})

test('2,000 aborted downloads leave no file open', async () => {
  const large = Buffer.alloc(4 * MIB, 'x')
  const folder = publish({ 'a.bin': large, 'b.bin': large, 'c.bin': large })
  await serve(folder)
  for (let batch = 0; batch < 20; batch++) {
    const clients = Array.from({ length: 100 }, (_, at) => stalled(`/${'abc'[at % 3]}.bin`))
    await Promise.all(
      clients.map(async ({ socket, begun }, at) => {
        // Some leave before the answer, some in the middle, some with a reset.
        if (at % 4 !== 0) await begun
        if (at % 4 === 1) socket.resetAndDestroy()
        else socket.destroy()
      }),
    )
  }
  await untilAllClosed()
  expect(await ask('/a.bin', 'Range: bytes=0-2')).toMatchObject({ status: 206, body: 'xxx' })
})

test('a file that is gone from the disk gives a 500, one that is truncated under its reader a reset', async () => {
  const folder = publish({
    'gone.bin': Buffer.alloc(200_000),
    'cut.bin': Buffer.alloc(32 * MIB),
    'a.txt': 'a',
  })
  await serve(folder)
  await ask('/gone.bin')
  rmSync(join(folder, 'files/gone.bin'))
  expect(await ask('/gone.bin')).toMatchObject({ status: 500 })
  expect(stand.log).toContain('a file of a site cannot be read')
  const { socket, begun } = stalled('/cut.bin')
  await begun
  truncateSync(join(folder, 'files/cut.bin'), 100)
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => socket.on('error', resolve))
  socket.resume()
  expect((await failed).code).toBe('ECONNRESET')
  await untilAllClosed()
  expect(await ask('/a.txt')).toMatchObject({ status: 200 })
})

/** Descriptors of the data plane's workers that point below the published folders. */
async function openFiles(): Promise<string[]> {
  const { workers } = await stand.processes()
  return workers.flatMap((pid) =>
    readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        const target = readlinkSync(`/proc/${pid}/fd/${name}`)
        return target.startsWith(root) ? [target] : []
      } catch {
        return []
      }
    }),
  )
}

async function untilAllClosed(): Promise<void> {
  let open = await openFiles()
  await waitFor(
    () => {
      if (open.length > 0) void openFiles().then((now) => (open = now))
      return open.length === 0
    },
    () => `still open: ${open.join(', ')}`,
  )
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Reads a file as fast as it comes. */
function fetchDigest(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port: stand.port, path, headers: { host: HOST }, agent: false }, (response) => {
      const hash = createHash('sha256')
      response.on('data', (data: Buffer) => hash.update(data))
      response.on('error', reject)
      response.on('end', () => resolve(hash.digest('hex')))
    }).on('error', reject)
  })
}

/** Reads the beginning of a file, and the rest in pieces when told. */
function slowReader(path: string): { readonly bytes: number; rest(): Promise<string> } {
  const socket = connect({ port: stand.port, host: '127.0.0.1' })
  const pieces: Buffer[] = []
  let bytes = 0
  let slow = true
  socket.on('error', () => {})
  socket.on('data', (data: Buffer) => {
    pieces.push(data)
    bytes += data.length
    if (!slow) return
    socket.pause()
    setTimeout(() => socket.resume(), 2)
  })
  socket.write(`GET ${path} HTTP/1.1\r\n${H}\r\nConnection: close\r\n\r\n`)
  return {
    get bytes() {
      return bytes
    },
    rest: () =>
      new Promise((resolve) => {
        setTimeout(() => (slow = false), 200)
        socket.on('close', () => {
          const whole = Buffer.concat(pieces)
          resolve(digest(whole.subarray(whole.indexOf('\r\n\r\n') + 4)))
        })
      }),
  }
}

/** A client that reads the first bytes of an answer and no more. */
function stalled(path: string): { socket: Socket; begun: Promise<void> } {
  const socket = connect({ port: stand.port, host: '127.0.0.1' })
  socket.on('error', () => {})
  const begun = new Promise<void>((resolve) => {
    socket.once('data', () => {
      socket.pause()
      resolve()
    })
    socket.once('close', () => resolve())
  })
  socket.write(`GET ${path} HTTP/1.1\r\n${H}\r\n\r\n`)
  return { socket, begun }
}

/** Resident bytes of the workers (proc(5), VmRSS). */
async function memory(): Promise<number> {
  const { workers } = await stand.processes()
  return workers
    .map((pid) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024)
    .reduce((sum, bytes) => sum + bytes, 0)
}
