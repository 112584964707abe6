import { createHmac, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { exchange, Wire } from '../support/wire.ts'
import { EMAIL, refusal } from './account-client.ts'

const SECRET = 'a secret of webhooks'
const MIB = 1024 * 1024
let server: TestServer

beforeAll(async () => {
  server = await startServer({ flags: ['--webhook-secret', SECRET] })
})
afterAll(() => server.stop())

function head(path: string, length: number, ...more: string[]): string[] {
  return [`POST ${path} HTTP/1.1`, 'Host: localhost', `Content-Length: ${length}`, ...more]
}

const UNPROVED = `X-Hook-Signature-256: sha256=${'0'.repeat(64)}`
const bearer = () => `Authorization: Bearer ${server.token}`

describe.concurrent('a body', () => {
  it.each([
    ['of a sign-in', '/api/v1/auth/login', ''],
    ['of a terminal', '/api/v1/auth/cli', ''],
    ['of a webhook', '/hooks/gitprov', UNPROVED],
  ])(
    'without credentials, %s, ends when it stops',
    async (_, path, line) => {
      using wire = await Wire.open(server.url)
      wire.send(head(path, 1000, line || 'X: y'), '{')
      const answer = await wire.end()
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).toContain('too slowly, or stopped')
      expect(answer.toLowerCase()).toContain('connection: close')
    },
    60_000,
  )

  it('whose head never ends is cut off with its connection, even if its client does not close', async () => {
    const port = Number(new URL(server.url).port)
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let received = ''
    let isClosed = false
    socket.on('data', (bytes) => (received += bytes.toString()))
    socket.on('error', () => {}).on('close', () => (isClosed = true))
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ')
    const drip = setInterval(() => socket.write('x'), 500)
    await waitFor(() => isClosed, 'the end').finally(() => clearInterval(drip))
    expect(received).toMatch(/^HTTP\/1\.1 408 /)
  }, 100_000)

  it('that is compressed is refused, not decompressed, and the error says so', async () => {
    const ask = (path: string, coding: string) =>
      server.request('POST', path, '{"name":"packed"}', {
        headers: { authorization: `Bearer ${server.token}`, 'content-encoding': coding },
      })
    for (const path of ['/api/v1/env-groups', '/api/v1/auth/cli', '/api/v1/blueprints/convert']) {
      const answer = await ask(path, 'gzip')
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(answer.body.error.message).toContain('not with content-encoding gzip')
    }
    expect((await ask('/api/v1/auth/cli', 'Identity')).status).toBe(200)
  })

  it('ends when it arrives too slowly', async () => {
    using wire = await Wire.open(server.url)
    wire.send(head('/hooks/gitprov', MIB, UNPROVED))
    const trickle = setInterval(() => wire.socket.write('x'), 500)
    try {
      expect(await wire.end()).toMatch(/^HTTP\/1\.1 400 /)
    } finally {
      clearInterval(trickle)
    }
  }, 60_000)

  it('with credentials has longer, and ends too', async () => {
    using upload = await Wire.open(server.url)
    await server.api('POST', '/services', { name: 'silent' })
    upload.send(head('/api/v1/services/silent/deploys/upload', 1000, bearer()), 'x')
    using patch = await Wire.open(server.url)
    patch.send(head('/api/v1/services', 1000, bearer()), '{')
    await delay(11_000)
    expect(upload.closed || patch.closed).toBe(false)
    for (const wire of [upload, patch]) {
      const answer = await wire.end()
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).toContain('too slowly, or stopped')
    }
    expect(readdirSync(join(server.dataDirectory, 'archives'))).toEqual([])
  }, 120_000)
})

describe('a body without credentials', () => {
  it('is not parsed if no request here could need it, up to the limit and over it', async () => {
    const login = (body: string) => server.request('POST', '/api/v1/auth/login', body)
    const padded = `{"email":"${EMAIL}","password":"x"}${' '.repeat(64 * 1024)}`
    const answer = await login(padded)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toContain('bytes')
    expect(await login('['.repeat(2 * MIB))).toMatchObject(refusal(400, 'invalid_request'))
    expect(await login('['.repeat(2 * MIB + 1))).toMatchObject(refusal(413, 'payload_too_large'))
    const chunked = `${(3 * MIB).toString(16)}\r\n${' '.repeat(3 * MIB)}\r\n0\r\n\r\n`
    const lines = ['POST /api/v1/auth/login HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked']
    expect(await exchange(server.url, lines, chunked)).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('with the longest possible sign-in is read', async () => {
    const escaped = (text: string) =>
      [...text].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
    const email = `${'a'.repeat(240)}@example.com`
    const body = `{"${escaped('email')}":"${escaped(email)}","password":"${'\\ud83d\\ude00'.repeat(256)}"}`
    expect(await server.request('POST', '/api/v1/auth/login', body)).toMatchObject(
      refusal(401, 'invalid_credentials'),
    )
  })
})

describe('a body in tiny pieces', () => {
  it('ends its connection', async () => {
    using wire = await Wire.open(server.url)
    wire.send(['POST /hooks/gitprov HTTP/1.1', 'Host: localhost', UNPROVED, 'Transfer-Encoding: chunked'])
    wire.socket.write('1\r\nx\r\n'.repeat(10_000))
    expect(await wire.end()).toBe('')
  })

  it('is accepted if the pieces are few', async () => {
    const lines = ['POST /api/v1/auth/cli HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked']
    const body = [...'{"name":"slow"}'].map((letter) => `1\r\n${letter}\r\n`).join('')
    expect(await exchange(server.url, lines, `${body}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('a webhook', () => {
  it.each([
    ['without a signature', 'X: y'],
    ['with a signature that can be none', 'X-Hook-Signature-256: sha256=00'],
    ['with another token', 'X-Gitlab-Token: wrong'],
  ])('%s is refused before its body arrives', async (_, line) => {
    using wire = await Wire.open(server.url)
    wire.send(head('/hooks/gitprov', 20 * MIB, line))
    await waitFor(() => wire.received.includes('}}'), 'the refusal')
    expect(wire.received).toMatch(/^HTTP\/1\.1 401 /)
    expect(wire.received.toLowerCase()).toContain('www-authenticate: bearer')
  })

  it('of 20 MiB is accepted, and leaves no file', async () => {
    const payload = JSON.stringify({
      ref: 'refs/heads/main',
      after: '9fceb02d0ae598e95dc970b74767f19372d61af8',
      padding: randomBytes(10 * MIB).toString('hex'),
    })
    const signature = createHmac('sha256', SECRET).update(payload).digest('hex')
    const deliver = (text: string) =>
      server.request('POST', '/hooks/gitprov', text, {
        headers: { 'x-hook-event': 'push', 'x-hook-signature-256': `sha256=${signature}` },
      })
    expect((await deliver(payload)).body).toMatchObject({ ok: true, ignored: true })
    expect((await deliver(`${payload} `)).status).toBe(401)
    expect(readdirSync(join(server.dataDirectory, 'deliveries'))).toEqual([])
  })
})

describe('many bodies without credentials', () => {
  it('share 32 MiB: a further one waits and is told when to try again, and a small body still fits', async () => {
    const wires = await Promise.all(Array.from({ length: 40 }, () => Wire.open(server.url)))
    const piece = Buffer.alloc(64 * 1024, 'x')
    const feed = setInterval(() => {
      for (const { socket } of wires) if (socket.writableLength < piece.length) socket.write(piece)
    }, 20)
    try {
      for (const wire of wires) wire.send(head('/hooks/gitprov', 25 * MIB, UNPROVED))
      await waitFor(() => wires.some(({ received }) => received !== ''), 'a refusal')
      const refused = wires.filter(({ received }) => received !== '')
      for (const { received } of refused) {
        expect(received).toMatch(/^HTTP\/1\.1 503 /)
        expect(received).toContain('"service_unavailable"')
        expect(received.toLowerCase()).toMatch(/\r\nretry-after: \d+\r\n/)
      }
      const began = await server.request('POST', '/api/v1/auth/cli', {})
      expect(began.status).toBe(200)
    } finally {
      clearInterval(feed)
      for (const { socket } of wires) socket.destroy()
    }
    await waitFor(
      async () => (await server.request('POST', '/hooks/gitprov', 'x'.repeat(MIB))).status === 401,
      'room',
    )
  }, 120_000)
})

describe('a body that its client aborts', () => {
  it('is one line of the log, without the query', async () => {
    const at = server.logs.length
    for (const path of ['/api/v1/services', '/api/v1/services/silent/deploys/upload', '/api/v1/auth/login']) {
      const wire = await Wire.open(server.url)
      wire.send(head(`${path}?access_token=${server.token}`, 1000, bearer()), '{')
      await delay(50)
      wire.socket.destroy()
    }
    // The server may still log bodies of earlier tests, which were sent elsewhere.
    const lines = () =>
      server.logs
        .slice(at)
        .split('\n')
        .filter((line) => line.includes(' POST /api/'))
    await waitFor(
      () => lines().filter((line) => line.includes('aborted by the client')).length === 3,
      'three lines',
    )
    expect(lines()).toHaveLength(3)
    expect(server.logs.slice(at)).not.toContain('access_token')
    expect(server.logs.slice(at)).not.toMatch(/^ +at /m)
    expect(server.logs).not.toContain(server.token)
  })
})
