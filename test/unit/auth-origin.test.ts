import { IncomingMessage, type IncomingHttpHeaders } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { browserAddress, isOwnOrigin } from '#server/accounts/browser-address.ts'
import { networkOf } from '#proxy/networks.ts'
import { clientAddress } from '#server/accounts/client-address.ts'

function request(headers: IncomingHttpHeaders, peer = '127.0.0.1'): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: peer })
  const message = new IncomingMessage(socket)
  message.headers = headers
  return message
}

describe("a client's address", () => {
  it.each<[IncomingHttpHeaders, string, string]>([
    [{}, '192.0.2.1', '192.0.2.1'],
    [{}, '::ffff:192.0.2.1', '192.0.2.1'],
    [{ 'x-real-ip': '203.0.113.7' }, '127.0.0.1', '127.0.0.1'],
    [{ 'x-forwarded-for': '198.51.100.1, 203.0.113.7' }, '::1', '203.0.113.7'],
    [{ 'x-real-ip': '2001:db8::1', 'x-forwarded-for': '198.51.100.1' }, '::ffff:127.0.0.1', '198.51.100.1'],
    [{ 'x-forwarded-for': '6.6.6.6, 203.0.113.7, 192.0.2.9' }, '127.0.0.1', '203.0.113.7'],
    [{ 'x-forwarded-for': '192.0.2.8, 192.0.2.9' }, '127.0.0.1', '127.0.0.1'],
    [{ 'x-real-ip': 'nobody', 'x-forwarded-for': 'x' }, '127.0.0.1', '127.0.0.1'],
    [{ 'x-real-ip': '203.0.113.7', 'x-forwarded-for': '203.0.113.7' }, '192.0.2.1', '192.0.2.1'],
  ])('is with %j from %s: %s', (headers, peer, address) => {
    expect(clientAddress(request(headers, peer), ['192.0.2.8/31'])).toBe(address)
  })

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:0:1::1', '2001:db8:0:1'],
    ['2001:0DB8:0:1:ffff::', '2001:db8:0:1'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
  ])('%s is in the network %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe("the browser's address", () => {
  it.each<[IncomingHttpHeaders, string]>([
    [{ host: 'localhost:7878' }, 'http://localhost:7878'],
    [{ host: 'LOCALHOST:7878' }, 'http://localhost:7878'],
    [{ host: '[::1]:7878' }, 'http://[::1]:7878'],
    [{ host: 'deploy.lan' }, 'http://deploy.lan'],
    [{ host: 'deploy.lan:80' }, 'http://deploy.lan'],
  ])('is the one in Host: %j', (headers, origin) => {
    expect(browserAddress(request(headers))?.origin).toBe(origin)
  })

  it.each([undefined, '', 'a b', 'user@host', 'host/path', 'host:99999'])(
    'is unknown with Host %j',
    (host) => {
      expect(browserAddress(request({ host }))).toBeNull()
    },
  )

  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])(
    'is the one that a proxy at %s forwards',
    (peer) => {
      const headers = {
        host: '127.0.0.1:7878',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'dashboard.example.com',
      }
      expect(browserAddress(request(headers, peer))?.origin).toBe('https://dashboard.example.com')
    },
  )

  it("keeps the browser's port, not that of the proxy's listener", () => {
    const headers = {
      host: 'x',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'dashboard.example.com',
      'x-forwarded-port': '8443',
    }
    expect(browserAddress(request(headers))?.origin).toBe('https://dashboard.example.com')
  })

  it('is the one from the outermost of several proxies', () => {
    const headers = {
      host: 'x',
      'x-forwarded-proto': 'https, http',
      'x-forwarded-host': 'out.example.com, in.example.com',
    }
    expect(browserAddress(request(headers))?.origin).toBe('https://out.example.com')
  })

  it.each(['203.0.113.7', '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1'])(
    'is not the one that a peer at %s forwards',
    (peer) => {
      const headers = {
        host: 'deploy.lan:7878',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'evil.example.com',
      }
      expect(browserAddress(request(headers, peer))?.origin).toBe('http://deploy.lan:7878')
    },
  )
})

describe('a change from our own origin', () => {
  const host = 'localhost:7878'
  it.each<[IncomingHttpHeaders, boolean]>([
    [{ origin: 'http://localhost:7878' }, true],
    [{ origin: 'http://localhost:7878', 'sec-fetch-site': 'cross-site' }, true],
    [{ origin: 'https://localhost:7878' }, false],
    [{ origin: 'http://localhost' }, false],
    [{ origin: 'http://localhost:7879' }, false],
    [{ origin: 'http://evil.localhost:7878' }, false],
    [{ origin: 'http://localhost:7878.evil.example' }, false],
    [{ origin: 'null' }, false],
    [{ origin: 'null', 'sec-fetch-site': 'same-origin' }, false],
    [{ origin: '', 'sec-fetch-site': 'same-origin' }, false],
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'none' }, true],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{}, false],
    [{ referer: 'http://localhost:7878/' }, false],
  ])('%j: %s', (headers, own) => {
    expect(isOwnOrigin(request({ host, ...headers }))).toBe(own)
  })

  it('is refused if our own address cannot be read', () => {
    expect(isOwnOrigin(request({ origin: 'undefined' }))).toBe(false)
  })
})
