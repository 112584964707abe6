import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { Cloudflare } from '#daemon/certificates/dns/cloudflare.ts'

interface DnsRecord {
  id: string
  type: string
  name: string
  content: string
}

let server: Server
let api: string
let records: DnsRecord[]
let listener: (request: IncomingMessage, response: ServerResponse) => unknown

/** As its public reference says: zones by name, records of a zone by type, name and content. */
beforeEach(async () => {
  records = []
  listener = answer
  server = createServer((request, response) => void listener(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = (status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
  if (request.headers.authorization !== 'Bearer right')
    return reply(403, {
      success: false,
      errors: [{ code: 9109, message: 'Invalid access token' }],
      result: null,
    })
  const { pathname, searchParams } = new URL(request.url!, 'http://x')
  const done = (result: unknown) => reply(200, { success: true, errors: [], result })
  if (pathname === '/client/v4/zones')
    return done(searchParams.get('name') === 'example.com' ? [{ id: 'z1', name: 'example.com' }] : [])
  const [, id] = /^\/client\/v4\/zones\/z1\/dns_records(?:\/(\w+))?$/.exec(pathname) ?? []
  if (request.method === 'GET')
    return done(
      records.filter(
        ({ name, content }) => name === searchParams.get('name') && content === searchParams.get('content'),
      ),
    )
  if (request.method === 'DELETE') {
    records = records.filter((record) => record.id !== id)
    return done({ id })
  }
  const record = { ...((await json(request)) as Omit<DnsRecord, 'id'>), id: `r${records.length}` }
  records.push(record)
  return done(record)
}

test('a record is put once into the zone that contains its name, and removed', async () => {
  const provider = new Cloudflare('right', api)
  await provider.present('_acme-challenge.staging.example.com', 'one')
  await provider.present('_acme-challenge.staging.example.com', 'one')
  await provider.present('_acme-challenge.staging.example.com', 'two')
  expect(records).toMatchObject([
    { type: 'TXT', name: '_acme-challenge.staging.example.com', content: '"one"' },
    { content: '"two"' },
  ])
  await provider.cleanUp('_acme-challenge.staging.example.com', 'one')
  expect(records).toMatchObject([{ content: '"two"' }])
})

test('a refusal is reported', async () => {
  await expect(new Cloudflare('wrong', api).present('_acme-challenge.example.com', 'v')).rejects.toThrow(
    /Invalid access token/,
  )
  await expect(new Cloudflare('right', api).present('_acme-challenge.example.org', 'v')).rejects.toThrow(
    /no zone/,
  )
})

test('what it says is shown as one plain line', async () => {
  listener = (_, response) =>
    response.writeHead(400).end('{"success":false,"errors":[{"message":"no\\u001b[2J\\nsuch zone"}]}')
  const asked = new Cloudflare('right', api).present('_acme-challenge.example.com', 'v')
  await expect(asked).rejects.toThrow('Cloudflare refused the request: no [2J such zone')
})

test('a redirect is not followed', async () => {
  listener = (request, response) => {
    if (request.url === '/other') return answer(request, response)
    response.writeHead(307, { location: '/other' }).end()
  }
  const asked = new Cloudflare('right', api).present('_acme-challenge.example.com', 'v')
  await expect(asked).rejects.toThrow('Cloudflare answered 307 in an unexpected form')
})

test('an answer without end is not read to its end', async () => {
  const piece = Buffer.alloc(64 * 1024, ' ')
  listener = (_, response) => {
    response.on('drain', () => response.write(piece)).on('error', () => {})
    response.write(piece)
  }
  const asked = new Cloudflare('right', api).present('_acme-challenge.example.com', 'v')
  await expect(asked).rejects.toThrow('Cloudflare answered 200 in an unexpected form')
})

test('an answer that has begun must come to its end in time, too', async () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  const hurried = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(200))
  onTestFinished(() => hurried.mockRestore())
  listener = (_, response) => response.write('{')
  const asked = new Cloudflare('right', api).present('_acme-challenge.example.com', 'v')
  await expect(asked).rejects.toThrow('Cloudflare did not answer within 30 s')
})
