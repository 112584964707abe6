import { expect, test } from 'vitest'
import { EchoConnection, closed } from '../apps.ts'
import { HOST, statusOf, targetOf } from '../stand.ts'
import { TRUSTING, apply, ask, ask2, from, serve, stand } from './edge-stand.ts'

serve()

const WEBSOCKET = ['Upgrade: websocket', 'Connection: upgrade']

test('clients outside of the allow list get 403, over each protocol', async () => {
  await apply({ allow: ['192.0.2.0/24'] })
  const { status, body } = await ask('/')
  expect([status, body.includes('<h1>Not from this address')]).toEqual([403, true])
  expect((await ask2('/')).status).toBe(403)
  const socket = stand.raw().request('GET /ws HTTP/1.1', `Host: ${HOST}`, ...WEBSOCKET)
  expect(statusOf(await socket.until('\r\n\r\n'))).toBe(403)
  socket.close()
  await apply({ allow: ['192.0.2.0/24', '127.0.0.0/8'] })
  expect((await ask('/')).status).toBe(200)
  expect((await ask2('/')).status).toBe(200)
  await apply({ allow: [] })
  expect((await ask('/')).status).toBe(403)
})

test('a forged X-Forwarded-For opens nothing, and one of a trusted proxy says who the client is', async () => {
  const edge = { allow: ['192.0.2.7', '2001:db8::/32'] }
  await apply(edge)
  expect((await ask('/', from('192.0.2.7'))).status).toBe(403)
  expect((await ask('/', 'X-Real-IP: 192.0.2.7', 'Forwarded: for=192.0.2.7')).status).toBe(403)
  await apply(edge, TRUSTING)
  const outcomes: Record<string, number> = {}
  for (const chain of [
    '192.0.2.7',
    '::ffff:192.0.2.7',
    '::ffff:c000:207',
    '2001:DB8::1',
    '192.0.2.8',
    '203.0.113.1, 192.0.2.7',
    '192.0.2.7, 203.0.113.1',
    '192.0.2.7, nonsense',
    'nonsense',
    '',
  ])
    outcomes[chain] = (await ask('/', from(chain))).status
  expect(outcomes).toEqual({
    '192.0.2.7': 200,
    '::ffff:192.0.2.7': 200,
    '::ffff:c000:207': 200,
    '2001:DB8::1': 200,
    '192.0.2.8': 403,
    '203.0.113.1, 192.0.2.7': 200,
    '192.0.2.7, 203.0.113.1': 403,
    '192.0.2.7, nonsense': 403,
    nonsense: 403,
    '': 403,
  })
})

test('redirects answer with the first that matches, with what it captures and the query', async () => {
  await apply({
    redirects: [
      { from: '/old/*', to: '/new/:splat', status: 301 },
      { from: '/users/:id', to: 'https://people.example/:id', status: 302 },
      { from: '/*', to: '/never', status: 307 },
    ],
  })
  const places: Record<string, string> = {}
  for (const path of [
    '/old/a/b?q=1',
    '/users/7',
    '/else',
    '/old//evil.example',
    '/users/%0d%0aX-Evil:1',
    '/never',
  ])
    places[path] = await ask(path).then(({ status, fields }) => `${status} ${fields.location ?? ''}`)
  expect(places).toEqual({
    '/old/a/b?q=1': '301 /new/a/b?q=1',
    '/users/7': '302 https://people.example/7',
    '/else': '307 /never',
    '/old//evil.example': '301 /new/evil.example',
    '/users/%0d%0aX-Evil:1': '200 ',
    '/never': '200 ',
  })
  expect((await ask2('/old/a')).fields.location).toBe('/new/a')
})

test('under maintenance everybody but the allowed gets the page, and programs its message', async () => {
  const maintenance = { message: 'Back <soon>', retry_after_seconds: 120, allow: ['192.0.2.7'] }
  await apply({ maintenance }, TRUSTING)
  const { status, fields, body } = await ask('/', from('192.0.2.8'))
  expect([status, fields['retry-after'], fields['cache-control']]).toEqual([503, '120', 'no-store'])
  expect(body).toContain('Back &#60;soon&#62;')
  const json = await ask('/', from('192.0.2.8'), 'Accept: application/json')
  expect(json.body).toContain('Back <soon>')
  expect((await ask2('/')).status).toBe(503)
  expect((await ask('/', from('192.0.2.7'))).status).toBe(200)
  await apply({ maintenance: { page: '<h1>Umbau ✓</h1>', retry_after_seconds: 60 } })
  const page = await ask('/')
  expect(page.fields['content-type']).toBe('text/html; charset=utf-8')
  expect(Buffer.from(page.body, 'latin1').toString()).toBe('<h1>Umbau ✓</h1>')
})

test('maintenance closes the open WebSockets of clients that it turns away, and no others', async () => {
  await apply({})
  const echo = await EchoConnection.open(stand)
  await apply({ headers: [{ path: '/*', name: 'X-A', value: 'b' }] })
  await echo.echoes()
  await apply({ maintenance: { retry_after_seconds: 60, allow: ['127.0.0.1'] } })
  await echo.echoes()
  await apply({ maintenance: { retry_after_seconds: 60 } })
  await closed(echo.connection)
})

test('a host that leads to another one is closed to the same clients', async () => {
  const leading = (allow: string[]) => ({
    targets: { app: { ...targetOf([]), redirect: 'https://www.example.com', edge: { allow } } },
  })
  await apply({}, leading(['127.0.0.0/8']))
  expect((await ask('/')).status).toBe(308)
  await apply({}, leading([]))
  expect((await ask('/')).status).toBe(403)
})

test('the proofs of the server come before its services', async () => {
  const proofs = { acme_challenges: { token: 'token.thumbprint' } }
  await apply({ allow: [], maintenance: { retry_after_seconds: 60 } }, proofs)
  expect((await ask('/.well-known/acme-challenge/token')).status).toBe(200)
  expect((await ask('/.well-known/acme-challenge/other')).status).toBe(403)
})

test('what the edge answers is counted for the service', async () => {
  await apply({ allow: [] })
  const count = async () => (await stand.client.counts()).targets['srv-app']!.status_4xx
  const before = await count()
  await ask('/')
  await ask2('/')
  expect((await count()) - before).toBe(2)
})
