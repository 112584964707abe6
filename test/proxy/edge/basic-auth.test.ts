import { expect, test } from 'vitest'
import { HOST, statusOf } from '../stand.ts'
import { TRUSTING, apply, ask, ask2, basic, from, hashOf, parse, serve, stand } from './edge-stand.ts'

serve()

const users = [{ username: 'ada', hash: hashOf('correct: horse ✓') }]
const basic_auth = { users, except_paths: ['/webhooks/*', '/health'] }
const ADA = basic('ada', 'correct: horse ✓')

test('a request without the right password gets 401, over each protocol, and one with it passes', async () => {
  await apply({ basic_auth }, TRUSTING)
  const { status, fields } = await ask('/')
  expect([status, fields['www-authenticate']]).toEqual([401, 'Basic realm="Restricted", charset="UTF-8"'])
  expect((await ask2('/')).status).toBe(401)
  const statuses: Record<string, number> = {}
  for (const [name, field] of Object.entries({
    right: ADA,
    again: ADA,
    wrong: basic('ada', 'correct'),
    unknown: basic('eve', 'correct: horse ✓'),
    scheme: ADA.replace('Basic', 'bAsIc'),
    bearer: ADA.replace('Basic', 'Bearer'),
    'no colon': 'Authorization: Basic YWRh',
    'not base64': 'Authorization: Basic \xff\xff',
    empty: 'Authorization: Basic',
    twice: `${ADA}\r\n${ADA}`,
  }))
    statuses[name] = (await ask('/', field, from(`192.0.2.${Object.keys(statuses).length}`))).status
  expect(statuses).toEqual({
    right: 200,
    again: 200,
    wrong: 401,
    unknown: 401,
    scheme: 200,
    bearer: 401,
    'no colon': 401,
    'not base64': 401,
    empty: 401,
    twice: 401,
  })
  expect((await ask2('/', { authorization: ADA.slice('Authorization: '.length) })).status).toBe(200)
})

test('the application gets neither the password nor anything else less', async () => {
  await apply({ basic_auth })
  const { asked } = await ask('/x?y=1', 'X-Before: 1', ADA, 'Cookie: a=1; b=2')
  expect(asked.path).toBe('/x?y=1')
  expect(asked.fields).toMatchObject({ 'x-before': '1', cookie: 'a=1; b=2', host: HOST })
  expect(asked.fields).not.toHaveProperty('authorization')
})

test('a body that comes with a password that is being checked arrives whole, over each protocol', async () => {
  for (const [number, transfer] of ['Content-Length: 5', 'Transfer-Encoding: chunked'].entries()) {
    const password = `body ${number}`
    await apply({
      basic_auth: { users: [{ username: 'ada', hash: hashOf(password, 12) }], except_paths: [] },
    })
    const body = number === 0 ? 'hello' : '5\r\nhello\r\n0\r\n\r\n'
    const connection = stand
      .raw()
      .send(
        'POST / HTTP/1.1',
        `Host: ${HOST}`,
        basic('ada', password),
        transfer,
        '',
        `${body}GET /next HTTP/1.1`,
      )
      .send('', `Host: ${HOST}`, 'Connection: close', '', '')
    const [first = '', next = ''] = (await connection.end()).split(/(?=HTTP\/1\.1 401)/)
    expect(parse(first).asked.body).toBe(5)
    expect(statusOf(next)).toBe(401)
    const sent = Buffer.alloc(200_000, 'x')
    const two = basic('ada', `body ${number}`).slice('Authorization: '.length)
    expect((await ask2('/', { authorization: two }, sent)).asked.body).toBe(sent.length)
  }
})

test('a large body over HTTP/2 waits for the check of its password', async () => {
  await apply({ basic_auth: { users: [{ username: 'ada', hash: hashOf('large', 14) }], except_paths: [] } })
  const sent = Buffer.alloc(600_000, 'x')
  const right = await ask2(
    '/',
    { authorization: basic('ada', 'large').slice('Authorization: '.length) },
    sent,
  )
  expect([right.status, right.asked.body]).toEqual([200, sent.length])
  const wrong = await ask2(
    '/',
    { authorization: basic('ada', 'small').slice('Authorization: '.length) },
    sent,
  )
  expect(wrong.status).toBe(401)
})

test('a WebSocket needs the password too', async () => {
  await apply({ basic_auth })
  const upgrade = ['GET /ws HTTP/1.1', `Host: ${HOST}`, 'Upgrade: websocket', 'Connection: upgrade']
  const refused = stand.raw().request(...upgrade)
  expect(statusOf(await refused.until('\r\n\r\n'))).toBe(401)
  refused.close()
  const passed = stand.raw().request(...upgrade, ADA)
  expect(statusOf(await passed.until('\r\n\r\n'))).toBe(101)
  await passed.send('hello').until('hello')
  passed.close()
})

test.each([
  '/webhooks/../admin',
  '/webhooks/%2e%2e/admin',
  '/webhooks/.%2E/admin',
  '/webhooks/%252e%252e/admin',
  '/webhooks//admin',
  '//webhooks/admin',
  '/webhooks%2Fadmin',
  '/webhooks/..%2fadmin',
  '/webhooks/..%5cadmin',
  '/webhooks/..\\admin',
  '/webhooks/..;/admin',
  '/webhooks/..;x=1/admin',
  '/webhooks/%2e%2e%3b/admin',
  '/webhooks/\xef\xbc\x8e\xef\xbc\x8e/admin',
  '/webhooks/%ef%bc%8e%ef%bc%8e/admin',
  '/webhooks/%00',
  '/webhooks/%zz',
  '/webhooks/.',
  '/Webhooks/a',
  '/webhooksa',
  '/health/deep',
  '/admin?/webhooks/',
  '/admin#/webhooks/',
  '/',
])('%s is no exception', async (path) => {
  await apply({ basic_auth })
  expect((await ask(path)).status).toBe(401)
})

test('an exception needs no password, and gets the Authorization of its own clients', async () => {
  await apply({ basic_auth })
  for (const path of ['/webhooks', '/webhooks/', '/webhooks/a/b.c?next=../x', '/webhooks/a%40b', '/health'])
    expect([path, (await ask(path)).status]).toEqual([path, 200])
  expect((await ask2('/webhooks/a')).status).toBe(200)
  expect((await ask('/webhooks/a', 'Authorization: Bearer token')).asked.fields.authorization).toBe(
    'Bearer token',
  )
  expect((await ask('/webhooks/a', basic('ada', 'other'))).asked.fields).toHaveProperty('authorization')
})

test('an exception does not get the password, even if no other path was asked before', async () => {
  const one = { username: 'fay', hash: hashOf('fresh') }
  await apply({ basic_auth: { users: [one], except_paths: ['/webhooks/*'] } })
  const { status, asked } = await ask('/webhooks/a', basic('fay', 'fresh'))
  expect(status).toBe(200)
  expect(asked.fields).not.toHaveProperty('authorization')
})

test('wrong passwords of an address are throttled, and known clients pass all the same', async () => {
  await apply(
    { basic_auth: { users: [{ username: 'bob', hash: hashOf('right') }], except_paths: [] } },
    TRUSTING,
  )
  const client = from('198.51.100.7')
  expect((await ask('/', client, basic('bob', 'right'))).status).toBe(200)
  const statuses = await Promise.all(
    Array.from(
      { length: 40 },
      async (_, number) => (await ask('/', client, basic('bob', `wrong ${number}`))).status,
    ),
  )
  expect(statuses.filter((status) => status === 401)).toHaveLength(10)
  expect(statuses.filter((status) => status === 429)).toHaveLength(30)
  expect((await ask('/', client, basic('bob', 'right'))).status).toBe(200)
  const { status, fields } = await ask('/', client, basic('bob', 'wrong'))
  expect([status, Number(fields['retry-after']) > 0]).toEqual([429, true])
  expect((await ask('/', from('198.51.100.8'), basic('bob', 'wrong'))).status).toBe(401)
})

test('a password that was changed or removed is wrong at once', async () => {
  const account = (password: string) => ({ username: 'cy', hash: hashOf(password) })
  await apply({ basic_auth: { users: [account('one'), account('three')], except_paths: [] } })
  await apply({ basic_auth: { users: [account('one')], except_paths: [] } })
  expect((await ask('/', basic('cy', 'one'))).status).toBe(200)
  await apply({ basic_auth: { users: [account('two')], except_paths: [] } })
  expect((await ask('/', basic('cy', 'one'))).status).toBe(401)
  expect((await ask('/', basic('cy', 'two'))).status).toBe(200)
  await apply({ basic_auth: { users: [], except_paths: [] } })
  expect((await ask('/', basic('cy', 'two'))).status).toBe(401)
})

test('a client that leaves while its password is checked leaves nothing behind', async () => {
  await apply({ basic_auth: { users: [{ username: 'di', hash: hashOf('slow', 15) }], except_paths: [] } })
  const connection = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`, basic('di', 'slow'))
  await new Promise((resolve) => connection.socket.write('', resolve))
  connection.close()
  expect((await ask('/', basic('di', 'slow'))).status).toBe(200)
})

test('a client that leaves while its password is checked is counted and logged', async () => {
  const slow = { username: 'gil', hash: hashOf('slow', 16) }
  await apply({ access_log: true, basic_auth: { users: [slow], except_paths: [] } })
  await stand.client.accessLines()
  const connection = stand.raw().request('GET /left HTTP/1.1', `Host: ${HOST}`, basic('gil', 'guess'))
  await new Promise((resolve) => connection.socket.write('', resolve))
  connection.socket.resetAndDestroy()
  const lines: string[] = []
  await expect
    .poll(async () => {
      lines.push(...(await stand.client.accessLines()).lines.map((line) => `${line[4]} ${line[5]}`))
      return lines
    })
    .toEqual(['/left 499'])
})

test('while passwords are checked, other requests are served', async () => {
  const slow = { username: 'ed', hash: hashOf('slow', 16) }
  await apply({ basic_auth: { users: [slow], except_paths: ['/open'] } }, TRUSTING)
  let checked = false
  const guess = ask('/', from('192.0.2.99'), basic('ed', 'slow')).then((reply) => {
    checked = true
    return reply
  })
  let served = 0
  while (!checked) {
    expect((await ask('/open')).status).toBe(200)
    served++
  }
  expect((await guess).status).toBe(200)
  expect(served).toBeGreaterThan(1)
})
