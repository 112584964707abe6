import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer } from '../support/server.ts'
import { bearer, Browser, refusal, send, type Answer } from './account-client.ts'

let server: Awaited<ReturnType<typeof startServer>>
let browser: Browser

beforeAll(async () => {
  server = await startServer()
  browser = await new Browser(server.url).setUp(server.setupCode)
})
afterAll(() => server.stop())

const api = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Answer> => send(method, `${server.url}/api/v1${path}`, body, headers)
const makeToken = async (body: object = { name: 'ci' }) => (await browser.post('/auth/tokens', body)).body

/** A change whose body is refused, once the credentials are right. */
const change = (headers: Record<string, string>, query = '') =>
  api('POST', `/services${query}`, { unknown_field: 1 }, headers)
const understood = refusal(400, 'invalid_request')

describe('named tokens', () => {
  it('are shown once and work at once', async () => {
    const answer = await browser.post('/auth/tokens', { name: 'laptop – Büro' })
    expect(answer.status).toBe(201)
    const { api_token: record, token } = answer.body
    expect(token).toMatch(/^dpl_[0-9a-f]{40}$/)
    expect(record).toEqual({
      id: expect.stringMatching(/^tok-[0-9a-f]{20}$/) as string,
      name: 'laptop – Büro',
      hint: (token as string).slice(-4),
      created_at: expect.any(String) as string,
      expires_at: null,
      last_used_at: null,
      access: { mode: 'full', secrets: true, environments: null, services: null },
    })
    expect((await api('GET', '/services', undefined, bearer(token))).status).toBe(200)
    const list = await browser.get('/auth/tokens')
    expect(JSON.stringify(list.body)).not.toContain(token)
    expect(list.body.find((other: { id: string }) => other.id === record.id).last_used_at).toEqual(
      expect.any(String),
    )
  })

  it('are listed newest first, without the server token', async () => {
    const before = (await browser.get('/auth/tokens')).body as { id: string }[]
    for (const { id } of before) await browser.delete(`/auth/tokens/${id}`)
    const made = [
      await makeToken({ name: 'one' }),
      await makeToken({ name: 'two' }),
      await makeToken({ name: 'three' }),
    ]
    const list = (await browser.get('/auth/tokens')).body as { id: string }[]
    expect(list.map((token) => token.id)).toEqual(made.reverse().map((token) => token.api_token.id))
  })

  it('stop working at once when they are deleted', async () => {
    const { api_token: record, token } = await makeToken()
    expect((await browser.delete(`/auth/tokens/${record.id}`)).status).toBe(204)
    expect(await api('GET', '/services', undefined, bearer(token))).toMatchObject(
      refusal(401, 'unauthorized'),
    )
    expect(await browser.delete(`/auth/tokens/${record.id}`)).toMatchObject(refusal(404, 'not_found'))
  })

  it('are deleted by id, not by name', async () => {
    await makeToken({ name: 'by-name' })
    expect(await browser.delete('/auth/tokens/by-name')).toMatchObject(refusal(404, 'not_found'))
  })

  it('may expire, at a time given in any time zone', async () => {
    const { api_token: record, token } = await makeToken({
      name: 'ci',
      expires_at: '2099-06-01T12:00:00+02:00',
    })
    expect(record.expires_at).toBe('2099-06-01T10:00:00.000Z')
    expect((await api('GET', '/services', undefined, bearer(token))).status).toBe(200)
  })

  it('are refused once they have expired', async () => {
    const { token } = await makeToken({ name: 'brief', expires_at: new Date(Date.now() + 300).toISOString() })
    await expect
      .poll(async () => (await api('GET', '/services', undefined, bearer(token))).status, { timeout: 10_000 })
      .toBe(401)
  })

  it.each([
    ['name', {}],
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(201) }],
    ['name', { name: 'tab\t' }],
    ['name', { name: 'ci\u202e' }],
    ['name', { name: 'lap\u200dtop' }],
    ['name', { name: '\u200c' }],
    ['name', { name: 'نام\u200c\u200c' }],
    ['name', { name: 7 }],
    ['expires_at', { name: 'x', expires_at: '2001-01-01T00:00:00Z' }],
    ['expires_at', { name: 'x', expires_at: 'tomorrow' }],
    ['expires_at', { name: 'x', expires_at: '2099-02-30T00:00:00Z' }],
    ['expires_at', { name: 'x', expires_at: '9999-12-31T23:59:59-00:01' }],
    ['expires_at', { name: 'x', expires_at: 4070908800 }],
    ['scope', { name: 'x', scope: 'all' }],
  ])('name the faulty field: %s in %j', async (field, body) => {
    const answer = await browser.post('/auth/tokens', body)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(new RegExp(`^${field}: `))
  })

  it.each(['می\u200cخواهم', 'क्\u200dष', '👨\u200d👩\u200d👧 family', 'API\u200cها'])(
    'accept a name that is written with joiners: %s',
    async (name) => {
      const made = await browser.post('/auth/tokens', { name })
      expect(made).toMatchObject({ status: 201, body: { api_token: { name } } })
      await browser.delete(`/auth/tokens/${made.body.api_token.id}`)
    },
  )

  it('accept a name of 200 characters and an expiry of null', async () => {
    expect((await browser.post('/auth/tokens', { name: '📦'.repeat(200), expires_at: null })).status).toBe(
      201,
    )
  })
})

describe('an API token', () => {
  it('is needed', async () => {
    const answer = await api('GET', '/services')
    expect(answer).toMatchObject(refusal(401, 'unauthorized'))
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  it('reads and writes as the server token and as a named one', async () => {
    for (const token of [server.token, (await makeToken()).token as string]) {
      expect((await api('GET', '/services', undefined, bearer(token))).status).toBe(200)
      expect(await change(bearer(token))).toMatchObject(understood)
    }
  })

  it.each(['Bearer', 'Bearer ', 'Bearer wrong', 'Bearer dpl_0000', 'Basic dXNlcjpwYXNz', 'Token x'])(
    'is refused as %j',
    async (authorization) => {
      expect(await api('GET', '/services', undefined, { authorization })).toMatchObject(
        refusal(401, 'unauthorized'),
      )
    },
  )

  it('is accepted in upper and lower case of its scheme', async () => {
    expect(
      (await api('GET', '/services', undefined, { authorization: `bearer ${server.token}` })).status,
    ).toBe(200)
  })

  it('may come from any origin', async () => {
    expect(await change({ ...bearer(server.token), origin: 'https://ci.example' })).toMatchObject(understood)
    expect(await change({ ...bearer(server.token), 'sec-fetch-site': 'cross-site' })).toMatchObject(
      understood,
    )
  })

  it('wins over the cookie, so that a revoked one is not covered up', async () => {
    const answer = await browser.get('/services', { authorization: 'Bearer revoked' })
    expect(answer).toMatchObject(refusal(401, 'unauthorized'))
  })

  it("leaves the cookie alone if the header is for something else, such as a proxy's password", async () => {
    expect((await browser.get('/services', { authorization: 'Basic dXNlcjpwYXNz' })).status).toBe(200)
  })
})

describe('access_token in the query', () => {
  it('works for reading', async () => {
    expect((await api('GET', `/services?access_token=${server.token}`)).status).toBe(200)
    expect((await api('GET', `/services?access_token=${(await makeToken()).token}`)).status).toBe(200)
  })

  it('does not work for changes', async () => {
    expect(await change({}, `?access_token=${server.token}`)).toMatchObject(refusal(401, 'unauthorized'))
  })

  it.each(['?access_token=', '?access_token', '?access_token=wrong', '?access_token=a&access_token=b'])(
    'is refused as %s',
    async (query) => {
      expect(await api('GET', `/services${query}`)).toMatchObject(refusal(401, 'unauthorized'))
    },
  )

  it('gives way to the header', async () => {
    const wrong = await api('GET', `/services?access_token=${server.token}`, undefined, bearer('wrong'))
    expect(wrong).toMatchObject(refusal(401, 'unauthorized'))
    expect((await api('GET', '/services?access_token=wrong', undefined, bearer(server.token))).status).toBe(
      200,
    )
  })
})

const SESSION_ONLY = [
  ['GET', '/auth/cli/cli-00000000000000000000'],
  ['POST', '/auth/cli/cli-00000000000000000000/approve'],
  ['POST', '/auth/cli/cli-00000000000000000000/deny'],
  ['POST', '/auth/password'],
  ['GET', '/auth/sessions'],
  ['DELETE', '/auth/sessions/ses-00000000000000000000'],
  ['GET', '/auth/tokens'],
  ['POST', '/auth/tokens'],
  ['DELETE', '/auth/tokens/tok-00000000000000000000'],
] as const

describe('what only the session may do', () => {
  it.each(SESSION_ONLY)('%s %s', async (method, path) => {
    const session = refusal(403, 'session_required')
    const nobody = refusal(401, 'unauthorized')
    expect(await api(method, path)).toMatchObject(nobody)
    expect(await api(method, path, undefined, bearer('wrong'))).toMatchObject(nobody)
    expect(await api(method, path, undefined, bearer(server.token))).toMatchObject(session)
    expect(await api(method, path, undefined, bearer((await makeToken()).token))).toMatchObject(session)
    expect(await api(method, `${path}?access_token=${server.token}`)).toMatchObject(session)
    expect(await browser.send(method, path, undefined, bearer(server.token))).toMatchObject(session)
    expect([200, 400, 404]).toContain((await browser.send(method, path)).status)
  })
})

describe('a read with the session cookie', () => {
  it.each<[string, Record<string, string>, boolean]>([
    ["the dashboard's own page", { 'sec-fetch-site': 'same-origin' }, true],
    ['the user', { 'sec-fetch-site': 'none' }, true],
    ['a browser that does not say', {}, true],
    ['a sibling site', { 'sec-fetch-site': 'same-site' }, false],
    ['another site', { 'sec-fetch-site': 'cross-site' }, false],
    ['who says something else', { 'sec-fetch-site': 'nonsense' }, false],
  ])('from %s', async (_from, headers, own) => {
    for (const path of ['/services', '/auth/tokens', '/info']) {
      const answer = await browser.get(path, headers)
      expect(answer).toMatchObject(own ? { status: 200 } : refusal(403, 'cross_site_request'))
    }
    expect((await browser.get('/auth/status', headers)).body.auth).toBe(own ? 'session' : null)
    const withToken = await api('GET', '/services', undefined, { ...bearer(server.token), ...headers })
    expect(withToken.status).toBe(200)
  })
})

describe('a change with the session cookie', () => {
  it.each<[string, Record<string, string>, boolean]>([
    ["the dashboard's own origin", {}, true],
    ['another site', { origin: 'https://evil.example' }, false],
    ['another port of this host', { origin: 'http://127.0.0.1:1' }, false],
    ['the same host over HTTPS', { origin: 'https' }, false],
    ['an opaque origin', { origin: 'null' }, false],
    ['a page that says same-origin instead', { origin: '', 'sec-fetch-site': 'same-origin' }, true],
    ['the user', { origin: '', 'sec-fetch-site': 'none' }, true],
    ['a sibling site', { origin: '', 'sec-fetch-site': 'same-site' }, false],
    ['a site that says cross-site', { origin: '', 'sec-fetch-site': 'cross-site' }, false],
    ['who knows where', { origin: '' }, false],
  ])('from %s', async (_from, headers, own) => {
    const given = headers.origin === 'https' ? { origin: server.url.replace('http:', 'https:') } : headers
    const expected = own ? understood : refusal(403, 'cross_site_request')
    expect(await browser.post('/services', { unknown_field: 1 }, given)).toMatchObject(expected)
    const made = await browser.post('/auth/tokens', { name: 'origin' }, given)
    expect(made.status).toBe(own ? 201 : 403)
  })

  it('is refused before its body is checked', async () => {
    const answer = await browser.post('/services', '{', { origin: 'https://evil.example' })
    expect(answer).toMatchObject(refusal(403, 'cross_site_request'))
  })

  it('says what a program or a proxy has to do', async () => {
    const answer = await browser.post('/services', {}, { origin: 'https://evil.example' })
    expect(answer.body.error.message).toContain(server.url)
    expect(answer.body.error.message).toContain('X-Forwarded-Host')
  })

  it('is not required of reads', async () => {
    expect((await browser.get('/services', { origin: 'https://evil.example' })).status).toBe(200)
  })
})
