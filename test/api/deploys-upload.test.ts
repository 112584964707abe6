import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createGzip, gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { residentBytes } from '../support/processes.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { refusal } from './account-client.ts'

/** What an entry is called and what it is. */
type EntryHeader = Parameters<ReturnType<typeof pack>['entry']>[0]

let server: TestServer

beforeAll(async () => {
  server = await startServer()
  await server.api('POST', '/services', { name: 'upload' })
})
afterAll(() => server.stop())

const LARGE_BYTES = 160 * 1024 * 1024
/** 21 MiB were measured; if only the collector frees the pieces, it is more than 64. */
const MAX_GROWTH_BYTES = 40 * 1024 * 1024

const UPLOAD = '/services/upload/deploys/upload'

function archives(): string[] {
  return readdirSync(join(server.dataDirectory, 'archives'))
}

async function tarOf(entries: [EntryHeader, string?][]): Promise<Buffer> {
  const tar = pack()
  for (const [header, content] of entries) tar.entry(header, content ?? '')
  tar.finalize()
  return buffer(tar)
}

async function archiveOf(...entries: [EntryHeader, string?][]): Promise<Buffer> {
  return gzipSync(await tarOf(entries))
}

/** Bytes that do not compress. */
function noise(bytes: number): string {
  let text = ''
  for (let round = 0; text.length < bytes; round++) {
    text += createHash('sha512').update(String(round)).digest('base64')
  }
  return text
}

const FILE: [EntryHeader, string] = [{ name: 'Dockerfile' }, 'FROM busybox:1\n']

/** A tar of zeros, far larger than its archive. */
async function bomb(): Promise<Buffer> {
  const gzip = createGzip({ level: 9 })
  const tar = pack()
  const size = 160 * 1024 * 1024
  const entry = tar.entry({ name: 'zeros', size })
  const write = async () => {
    const zeros = Buffer.alloc(1024 * 1024)
    for (let written = 0; written < size; written += zeros.length) {
      if (!entry.write(zeros)) await once(entry, 'drain')
    }
    entry.end(Buffer.alloc(0))
    tar.finalize()
  }
  const [packed] = await Promise.all([buffer(tar.pipe(gzip)), write()])
  return packed
}

const BAD: [string, () => Promise<Buffer> | Buffer, RegExp][] = [
  ['that is a bare tar', () => tarOf([FILE]), /tar.*gzip/i],
  ['that is a zip', () => Buffer.from('PK\x03\x04 and so on', 'latin1'), /zip/i],
  ['that is text', () => Buffer.from('FROM busybox\n'), /gzip/i],
  ['that is one byte of gzip', () => Buffer.from([0x1f]), /gzip/i],
  ['that is a head of gzip alone', () => Buffer.from([0x1f, 0x8b]), /ends too early|damaged/i],
  ['that is a gzip of nothing', () => gzipSync(''), /./],
  ['without files', () => archiveOf(), /no files|empty|not a tar/i],
  ['with one empty folder on top alone', () => archiveOf([{ name: './', type: 'directory' }]), /no files/i],
  ['whose gzip is cut', async () => (await archiveOf(FILE)).subarray(0, -10), /ends too early|damaged/i],
  [
    'whose tar is cut',
    async () => gzipSync((await tarOf([[{ name: 'a' }, noise(4_000)]])).subarray(0, 2_000)),
    /ends too early/i,
  ],
  [
    'whose bytes are damaged in the middle',
    async () => {
      const bytes = Buffer.from(await archiveOf([{ name: 'a' }, noise(40_000)]))
      bytes.fill(0xff, 9_000, 9_100)
      return bytes
    },
    /damaged/i,
  ],
  [
    'with rubbish after its end',
    async () => Buffer.concat([await archiveOf(FILE), Buffer.from('rubbish!')]),
    /./,
  ],
  ['with a way out', () => archiveOf(FILE, [{ name: 'a/../../evil' }, 'x']), /"a\/\.\.\/\.\.\/evil"/],
  ['with an absolute path', () => archiveOf(FILE, [{ name: '/etc/evil' }, 'x']), /"\/etc\/evil".*absolute/],
  [
    'with a link to an absolute path',
    () => archiveOf(FILE, [{ name: 'l', type: 'symlink', linkname: '/etc/passwd' }]),
    /"l".*\/etc\/passwd/,
  ],
  [
    'with a link up and out',
    () => archiveOf(FILE, [{ name: 'a/l', type: 'symlink', linkname: '../../x' }]),
    /"a\/l".*outside/,
  ],
  [
    'with a hard link out',
    () => archiveOf(FILE, [{ name: 'h', type: 'link', linkname: '../../etc/passwd' }]),
    /"h".*outside/,
  ],
  [
    'with a file behind a link',
    () => archiveOf([{ name: 'd', type: 'symlink', linkname: '.' }], [{ name: 'd/x' }, 'x']),
    /"d\/x".*inside the link "d"/,
  ],
  [
    'with a character device',
    () => archiveOf(FILE, [{ name: 'null', type: 'character-device', devmajor: 1, devminor: 3 }]),
    /"null".*device/,
  ],
  ['with a block device', () => archiveOf(FILE, [{ name: 'sda', type: 'block-device' }]), /"sda".*device/],
  ['with a named pipe', () => archiveOf(FILE, [{ name: 'p', type: 'fifo' }]), /"p".*pipe/],
  ['that is a bomb', bomb, /times its size/],
]

describe('an archive', () => {
  it.each(BAD)('%s is refused at once, and nothing of it is kept', async (_, make, message) => {
    const answer = await server.api('POST', UPLOAD, await make())
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(message)
    expect(archives()).toEqual([])
    expect((await server.api('GET', '/services/upload/deploys')).body).toEqual([])
    expect((await server.api('GET', '/services/upload')).body.state).toBe('not_deployed')
  })

  it('with over 200,000 entries is refused', async () => {
    const block = await tarOf([[{ name: 'd/', type: 'directory' }]])
    const entry = block.subarray(0, 512)
    const packed = gzipSync(Buffer.concat([...Array<Buffer>(200_001).fill(entry), Buffer.alloc(1_024)]))
    const answer = await server.api('POST', UPLOAD, packed)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(archives()).toEqual([])
  })

  it('announced as over 512 MiB is refused before it is sent, and the answer can be read', async () => {
    const declared = 512 * 1024 * 1024 + 1
    expect(await sendDeclared(declared, '')).toMatch(/^HTTP\/1\.1 413 [^]*"payload_too_large"/)
    expect(await sendDeclared(declared, 'x'.repeat(4 * 1024 * 1024))).toMatch(/^HTTP\/1\.1 413 /)
    expect(archives()).toEqual([])
  })

  it('that breaks off is dropped', async () => {
    const whole = await archiveOf(FILE, [{ name: 'a' }, noise(400_000)])
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST /api/v1${UPLOAD} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: ${whole.length}\r\n\r\n`,
    )
    socket.write(whole.subarray(0, 200_000))
    await waitFor(() => archives().length === 1, 'the beginning of the archive')
    expect(archives()[0]).toMatch(/\.partial$/)
    socket.destroy()
    await waitFor(() => archives().length === 0, 'the partial archive to be removed')
    expect((await server.api('GET', '/services/upload/deploys')).body).toEqual([])
  })

  it('that was being received when the server was killed is gone after its start', async () => {
    const whole = await archiveOf(FILE, [{ name: 'a' }, noise(400_000)])
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST /api/v1${UPLOAD} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: ${whole.length}\r\n\r\n`,
    )
    socket.write(whole.subarray(0, 200_000))
    await waitFor(() => archives().length === 1, 'the beginning of the archive')
    await server.kill('SIGKILL')
    await server.restart()
    expect(archives()).toEqual([])
    expect((await server.api('GET', '/services/upload/deploys')).body).toEqual([])
    socket.destroy()
  })

  it.each([
    ['is deleted', (path: string) => server.api('DELETE', path)],
    ['is suspended', (path: string) => server.api('POST', `${path}/suspend`)],
    ['gets an image', (path: string) => server.api('PATCH', path, { image: 'busybox:1' })],
  ])('whose service %s while it is received is refused and not kept', async (what, change) => {
    const path = `/services/${what.replaceAll(' ', '-')}`
    await server.api('POST', '/services', { name: what.replaceAll(' ', '-') })
    const whole = await archiveOf(FILE, [{ name: 'a' }, noise(400_000)])
    let changed = false
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (!changed) {
          controller.enqueue(whole.subarray(0, 200_000))
          await waitFor(() => archives().length === 1, 'the beginning of the archive')
          await change(path)
          changed = true
        } else {
          controller.enqueue(whole.subarray(200_000))
          controller.close()
        }
      },
    })
    const response = await fetch(`${server.url}/api/v1${path}/deploys/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}` },
      body,
      duplex: 'half',
    })
    expect(response.status).toBe(409)
    expect(archives()).toEqual([])
    expect((await server.api('GET', `${path}/deploys`)).body).toEqual([])
  })

  it('that is valid is accepted after all of these, with links that stay inside', async () => {
    const packed = await archiveOf(
      FILE,
      [{ name: 'a/b', mode: 0o755 }, 'x'],
      [{ name: 'a/l', type: 'symlink', linkname: '../Dockerfile' }],
      [{ name: 'h', type: 'link', linkname: 'a/b' }],
    )
    const answer = await server.api('POST', `${UPLOAD}?clear_cache`, packed)
    expect(answer.status).toBe(202)
    expect(archives()).toEqual([`${answer.body.id}.tar.gz`])
  })
})

describe('simultaneous archives', () => {
  it('are all accepted, though only some are read at a time', async () => {
    const archive = await archiveOf(FILE, [{ name: 'a' }, noise(100_000)])
    const names = Array.from({ length: 12 }, (_, index) => `together-${index}`)
    const answers = await Promise.all(
      names.map(async (name) => {
        await server.api('POST', '/services', { name })
        return server.api('POST', `/services/${name}/deploys/upload`, archive)
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 202))
  })
})

describe('a large archive', () => {
  it('passes through a server that was just started without staying in its memory', async () => {
    const fresh = await startServer()
    try {
      await fresh.api('POST', '/services', { name: 'upload' })
      const tar = pack()
      tar.entry({ name: 'noise' }, randomBytes(LARGE_BYTES))
      tar.finalize()
      const archive = gzipSync(await buffer(tar), { level: 0 })
      const before = residentBytes(fresh.pid)
      let peak = before
      const watch = setInterval(() => (peak = Math.max(peak, residentBytes(fresh.pid))), 20)
      const { status } = await fresh.api('POST', UPLOAD, archive)
      clearInterval(watch)
      expect(status).toBe(202)
      expect(peak - before).toBeLessThan(MAX_GROWTH_BYTES)
    } finally {
      await fresh.stop()
    }
  })
})

/** Declares a body and sends only a part of it; returns what the server said until it closed. */
function sendDeclared(declared: number, sent: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (/"message":".*"\}\}/.test(text)) socket.end()
    })
    socket.on('close', () => resolve(text))
    socket.on('error', (error) => (text === '' ? reject(error) : resolve(text)))
    socket.write(
      `POST /api/v1${UPLOAD} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: ${declared}\r\n\r\n${sent}`,
    )
  })
}
