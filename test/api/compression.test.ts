import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let asset: string

beforeAll(async () => {
  server = await startServer()
  for (let count = 0; count < 5; count++) await server.api('POST', '/services', { name: `listed-${count}` })
  asset = /<script type="module"[^>]+src="([^"]+)"/.exec(await (await fetch(server.url)).text())![1]!
})
afterAll(() => server.stop())

interface Answer {
  encoding: string | undefined
  vary: string | undefined
  length: number
  bytes: Buffer
}

/** The answer as it came over the wire; fetch would undo the encoding. */
function ask(path: string, accepted: string | undefined, method = 'GET', body?: string): Promise<Answer> {
  const headers: Record<string, string> = { authorization: `Bearer ${server.token}` }
  if (accepted !== undefined) headers['accept-encoding'] = accepted
  return new Promise((resolve, reject) => {
    const outgoing = request(server.url + path, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          encoding: response.headers['content-encoding'],
          vary: response.headers.vary,
          length: Number(response.headers['content-length']),
          bytes: Buffer.concat(chunks),
        }),
      )
    })
    outgoing.once('error', reject).end(body)
  })
}

const PATHS = ['/api/v1/services', '/api/openapi.json', '/api/docs/swagger-ui.css', 'asset']

describe('an answer over 1 KiB', () => {
  it.each(PATHS)('is compressed as the client accepts it, and says so: %s', async (name) => {
    const path = name === 'asset' ? asset : name
    const plain = await ask(path, undefined)
    expect([plain.encoding, plain.length]).toEqual([undefined, plain.bytes.length])
    const [br, gzip] = [await ask(path, 'gzip, br'), await ask(path, 'gzip')]
    expect([br.encoding, gzip.encoding]).toEqual(['br', 'gzip'])
    for (const { vary, length, bytes } of [br, gzip]) {
      expect(vary?.toLowerCase()).toBe('accept-encoding')
      expect(length).toBe(bytes.length)
      expect(bytes.length).toBeLessThan(plain.bytes.length)
    }
    expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true)
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true)
  })

  it.each(['br;q=0, gzip;q=0', 'identity', 'deflate', ''])(
    'is sent as it is to clients that accept %j',
    async (accepted) => {
      expect((await ask('/api/v1/services', accepted)).encoding).toBeUndefined()
    },
  )
})

describe('what is not compressed', () => {
  it('is a short answer', async () => {
    expect((await ask('/api/v1/environments', 'br')).encoding).toBeUndefined()
    expect((await ask('/healthz', 'br')).encoding).toBeUndefined()
  })

  it('is an answer to a change, which contains what was sent next to a secret', async () => {
    const body = JSON.stringify({ name: 'long', start_command: 'x'.repeat(4000) })
    const answer = await ask('/api/v1/services', 'br, gzip', 'POST', body)
    expect(answer.encoding).toBeUndefined()
    expect(answer.bytes.length).toBeGreaterThan(4000)
  })

  it('is an error', async () => {
    const answer = await ask(`/api/v1/services/${'x'.repeat(3000)}`, 'br, gzip')
    expect(answer.encoding).toBeUndefined()
  })

  it('is a stream', async () => {
    const answer = await ask('/api/v1/server/logs', 'br, gzip')
    expect(answer.encoding).toBeUndefined()
    expect(answer.bytes.toString()).toContain('event: end')
  })
})
