import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startNameServer, type NameServer } from '../stand/acme.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'

let names: NameServer
let server: TestServer

beforeAll(async () => {
  names = await startNameServer()
  server = await startServer({
    flags: ['--dns-resolvers', names.address, '--public-ip', '127.0.0.1', '--tls', 'off'],
  })
})

afterAll(async () => {
  await server?.stop()
  await names?.stop()
})

async function domain(name: string) {
  return (await server.api('GET', `/domains/${name}`)).body
}

describe('a connected domain', () => {
  test('becomes active and the default by itself once its names point here', async () => {
    await names.setDefault(null)
    await server.api('POST', '/services', { name: 'api' })
    const { body: created } = await server.api('POST', '/domains', { name: 'example.com' })
    expect(created).toMatchObject({ status: 'pending', served: false, is_default: false, checked_at: null })
    await waitFor(async () => (await domain('example.com')).checked_at, 'the first look')
    expect(await domain('example.com')).toMatchObject({
      status: 'pending',
      checks: [
        { kind: 'dns', outcome: 'failed', message: expect.stringContaining('no address') },
        { kind: 'http', outcome: 'skipped' },
      ],
    })
    expect((await server.api('GET', '/services/api')).body.hosts).toEqual(['api.localhost'])

    await names.setDefault('127.0.0.1')
    await waitFor(async () => (await domain('example.com')).status === 'active', 'the domain to be active')
    expect(await domain('example.com')).toMatchObject({
      served: true,
      is_default: true,
      verified_at: expect.any(String),
      checks: [
        { kind: 'dns', outcome: 'passed' },
        { kind: 'http', outcome: 'passed' },
      ],
    })
    expect((await server.api('GET', '/services/api')).body).toMatchObject({
      hosts: ['api.example.com', 'api.localhost'],
      url: `http://api.example.com:${server.httpPort}`,
    })
  })

  test('does not become the default if another real one is', async () => {
    await server.api('POST', '/domains', { name: 'example.org' })
    const { body } = await server.api('POST', '/domains/example.org/verify')
    expect(body).toMatchObject({ status: 'active', is_default: false })
  })

  test('fails when its names point elsewhere, is still served, and recovers', async () => {
    // Nothing of ours is there.
    await names.setDefault('127.0.0.9')
    const failed = await server.api('POST', '/domains/example.com/verify')
    expect(failed.body).toMatchObject({
      status: 'failed',
      served: true,
      is_default: true,
      checks: [
        { kind: 'dns', outcome: 'failed' },
        { kind: 'http', outcome: 'failed' },
      ],
    })
    expect((await server.api('GET', '/services/api')).body.hosts).toContain('api.example.com')
    await names.setDefault('127.0.0.1')
    expect((await server.api('POST', '/domains/example.com/verify')).body.status).toBe('active')
  })

  test('is active behind a proxy, which has another address, if this server answers there', async () => {
    // The listener is bound only to 127.0.0.1, so the proxy is a name server that returns another loopback address.
    const { createServer, connect } = await import('node:net')
    const proxy = createServer((socket) => {
      const upstream = connect(server.httpPort, '127.0.0.1')
      socket.pipe(upstream).pipe(socket)
      for (const end of [socket, upstream]) end.on('error', () => {})
    }).listen(server.httpPort, '127.0.0.8')
    await names.setDefault('127.0.0.8')
    const { body } = await server.api('POST', '/domains/example.com/verify')
    expect(body).toMatchObject({
      status: 'active',
      checks: [
        { kind: 'dns', outcome: 'failed' },
        { kind: 'http', outcome: 'passed' },
      ],
    })
    proxy.close()
    await names.setDefault('127.0.0.1')
  })

  test('is not active if something else answers, whatever it answers', async () => {
    const { createServer } = await import('node:http')
    const stranger = createServer((request, response) => response.end(request.url)).listen(
      server.httpPort,
      '127.0.0.7',
    )
    await names.setDefault('127.0.0.7')
    await server.api('POST', '/domains', { name: 'stolen.example' })
    const { body } = await server.api('POST', '/domains/stolen.example/verify')
    expect(body).toMatchObject({
      status: 'pending',
      checks: [
        { kind: 'dns', outcome: 'failed' },
        { kind: 'http', outcome: 'failed', message: expect.stringContaining('something else') },
      ],
    })
    stranger.close()
    await names.setDefault('127.0.0.1')
  })

  test('ends at once when it is removed, and the base domain is the default again', async () => {
    expect((await server.api('DELETE', '/domains/example.com')).status).toBe(204)
    expect((await server.api('GET', '/services/api')).body.hosts).not.toContain('api.example.com')
    expect((await server.api('GET', '/info')).body.default_domain).toBe('localhost')
  })
})
