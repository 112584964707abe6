import { connect as connectHttp2, constants } from 'node:http2'
import { connect } from 'node:net'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { useDataEvents } from '../../proxy/wire/socket-wire.ts'
import { secureConnection, secureTable } from './secure.ts'
import { closing, start } from './lifetimes.ts'
import { OwnRelay } from './own-relay.ts'
import { HOST, RawUpstream, statusOf, tableOf, waitFor } from './stand.ts'

const { NGHTTP2_CANCEL: CANCEL, NGHTTP2_REFUSED_STREAM: REFUSED } = constants

async function upstreamOf(): Promise<RawUpstream> {
  return closing(await RawUpstream.answering('HTTP/1.1 200 OK', 'Content-Length: 2', '', 'ok'))
}

test('what a trusted proxy says about its client is believed and extended', async () => {
  const upstream = await upstreamOf()
  const stand = await start(tableOf([upstream.spec], { trusted_proxies: ['127.0.0.0/8', '10.0.0.0/8'] }))
  const client = stand
    .raw()
    .request(
      'GET / HTTP/1.1',
      `Host: ${HOST}`,
      'X-Forwarded-For: 6.6.6.6, 203.0.113.9',
      'X-Forwarded-For: 10.1.1.1',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: shop.example',
      'X-Forwarded-Prefix: /x',
      'Forwarded: for=203.0.113.9',
      'Connection: close',
    )
  expect(statusOf(await client.end())).toBe(200)
  expect(upstream.received).toContain(
    'X-Forwarded-For: 6.6.6.6, 203.0.113.9, 10.1.1.1, 127.0.0.1\r\nX-Real-IP: 203.0.113.9\r\n' +
      'X-Forwarded-Proto: https\r\nX-Forwarded-Port: 443\r\nX-Forwarded-Host: shop.example\r\n',
  )
  expect(upstream.received).not.toContain('\r\nForwarded:')
  expect(upstream.received).not.toContain('Prefix')
})

test('a request that a trusted TLS proxy got without TLS is not passed on as TLS', async () => {
  const upstream = await upstreamOf()
  const own = await OwnRelay.start(secureTable([upstream.spec], { trusted_proxies: ['127.0.0.0/8'] }))
  const socket = await secureConnection(own.portOf('https'))
  onTestFinished(() => void socket.destroy())
  for (const [given, told] of [
    ['http', 'X-Forwarded-Proto: http\r\nX-Forwarded-Port: 80\r\n'],
    ['https', `X-Forwarded-Proto: https\r\nX-Forwarded-Port: ${own.portOf('https')}\r\n`],
    ['gopher', `X-Forwarded-Proto: https\r\nX-Forwarded-Port: ${own.portOf('https')}\r\n`],
  ]) {
    upstream.received = ''
    socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-Proto: ${given}\r\n\r\n`)
    await waitFor(
      () => upstream.received.includes('\r\n\r\n'),
      () => upstream.received,
    )
    expect(upstream.received).toContain(told)
  }
})

/** Addresses of this machine that are not loopback, in the network of the tests. */
const SERVER = '198.18.0.1'
const SERVER_V6 = '2001:db8::1'
const CLIENT = '198.19.0.1'

/** Connections from these addresses, one after another, each with its result: a request over it is answered, or it was reset. */
async function outcomes(port: number, addresses: readonly string[]): Promise<('answered' | 'reset')[]> {
  const told: ('answered' | 'reset')[] = []
  for (const localAddress of addresses) {
    const host = localAddress.includes(':') ? SERVER_V6 : SERVER
    const socket = connect({ host, port, localAddress }).on('error', () => {})
    onTestFinished(() => void socket.destroy())
    socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
    const outcome = new Promise<'answered' | 'reset'>((resolve) => {
      socket.once('data', () => resolve('answered')).once('close', () => resolve('reset'))
    })
    told.push(await outcome)
  }
  return told
}

const counted = (told: readonly string[]) => told.filter((outcome) => outcome === 'answered').length

test('requests of one HTTP/2 connection count for their network like connections', async () => {
  const upstream = closing(await RawUpstream.start(() => {}))
  const listeners = [{ address: '0.0.0.0:0', protocol: 'https' as const }]
  const stand = await start(secureTable([upstream.spec], { listeners, max_connections_per_ip: 3 }))
  const session = connectHttp2(`https://${SERVER}:${stand.port}`, {
    servername: HOST,
    rejectUnauthorized: false,
  })
  onTestFinished(() => session.destroy())
  const streams = Array.from({ length: 5 }, () => session.request({ ':authority': HOST }))
  for (const stream of streams) stream.on('error', () => {})
  const refused = () => streams.filter(({ rstCode, closed }) => closed && rstCode === REFUSED)
  await expect.poll(() => refused().length).toBe(2)
  for (const stream of streams) stream.close(CANCEL)
  await expect.poll(async () => (await stand.client.counts()).open_requests).toBe(0)
  const later = Array.from({ length: 3 }, () => session.request({ ':authority': HOST }))
  for (const stream of later) stream.on('error', () => {})
  await expect.poll(async () => (await stand.client.counts()).open_requests).toBe(3)
})

test('an address with too many connections gets no more until some end; loopback may', async () => {
  const upstream = await upstreamOf()
  const listeners = [{ address: '0.0.0.0:0', protocol: 'http' as const }]
  const stand = await start(tableOf([upstream.spec], { listeners, max_connections_per_ip: 3 }))
  const from = (address: string) => connect({ host: address, port: stand.port })
  const sockets = Array.from({ length: 5 }, () => from(SERVER))
  let ended = 0
  for (const socket of sockets) socket.on('error', () => {}).on('close', () => ended++)
  await waitFor(
    () => ended === 2,
    () => `${ended} of 5 were refused, not 2`,
  )
  for (const socket of sockets) socket.destroy()
  await expect
    .poll(async () => {
      const socket = from(SERVER).on('error', () => {})
      socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`)
      const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])])
      socket.destroy()
      return String(data).slice(0, 15)
    })
    .toBe('HTTP/1.1 200 OK')
  const local = Array.from({ length: 6 }, () => stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`))
  for (const client of local) {
    await client.until('ok')
    client.close()
  }
})

test('the addresses of one /64 of IPv6 count as one', async () => {
  const upstream = await upstreamOf()
  const listeners = [{ address: '[::]:0', protocol: 'http' as const }]
  const stand = await start(tableOf([upstream.spec], { listeners, max_connections_per_ip: 3 }))
  if (stand.client.bound[0]!.host !== '::') return
  const addresses = Array.from({ length: 5 }, (_, host) => `2001:db8:1:2:${host}::7`)
  expect(await outcomes(stand.port, addresses)).toEqual([
    'answered',
    'answered',
    'answered',
    'reset',
    'reset',
  ])
  expect(await outcomes(stand.port, ['2001:db8:1:3::7', CLIENT])).toEqual(['answered', 'answered'])
})

test(
  'connections of one network are counted over all workers, and no longer those of one that died',
  { timeout: 60_000 },
  async () => {
    const MOST = 40
    const upstream = await upstreamOf()
    const listeners = [{ address: '0.0.0.0:0', protocol: 'http' as const }]
    const table = tableOf([upstream.spec], { listeners, max_connections_per_ip: MOST })
    const stand = await start(table, { workers: 2 })
    const [first, second] = (await stand.processes()).workers as [number, number]
    const many = (count: number) =>
      outcomes(
        stand.port,
        Array.from({ length: count }, () => CLIENT),
      )
    // The stopped one accepts nothing.
    process.kill(second, 'SIGSTOP')
    expect(counted(await many(MOST))).toBe(MOST)
    process.kill(second, 'SIGCONT')
    process.kill(first, 'SIGSTOP')
    expect(counted(await many(MOST))).toBeLessThanOrEqual(MOST / 4)
    expect(await outcomes(stand.port, ['198.19.0.2'])).toEqual(['answered'])
    process.kill(first, 'SIGKILL')
    await expect.poll(async () => counted(await many(1))).toBe(1)
  },
)

test('IPv6 clients are served on a dual-stack listener and named to the upstream', async () => {
  const upstream = await upstreamOf()
  const listeners = [{ address: '[::]:0', protocol: 'http' as const }]
  const stand = await start(tableOf([upstream.spec], { listeners }))
  if (stand.client.bound[0]!.host !== '::') return
  for (const [host, seen] of [
    ['::1', '::1'],
    ['127.0.0.1', '127.0.0.1'],
  ] as const) {
    const socket = connect({ host, port: stand.port })
    socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`)
    await once(socket, 'data')
    socket.destroy()
    expect(upstream.received).toContain(`X-Forwarded-For: ${seen}\r\n`)
  }
})

test('if accepted connections cannot share a read buffer, data events work as well', async () => {
  const upstream = closing(
    await RawUpstream.start((socket, piece) => {
      if (piece.includes('\r\n\r\n'))
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${'y'.repeat(999_999)}z`)
    }),
  )
  useDataEvents()
  const client = (await OwnRelay.start(tableOf([upstream.spec]))).raw()
  client.request('GET /1 HTTP/1.1', `Host: ${HOST}`)
  await client.until('z')
  client.request('GET /2 HTTP/1.1', `Host: ${HOST}`, 'Connection: close')
  expect((await client.end()).match(/[yz]/g)).toHaveLength(2_000_000)
})
