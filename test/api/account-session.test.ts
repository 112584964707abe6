import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { startServer } from '../support/server.ts'
import { Browser, EMAIL, PASSWORD, refusal, send } from './account-client.ts'

const THIRTY_DAYS_MS = 30 * 24 * 3_600_000

let server: Awaited<ReturnType<typeof startServer>>
let browser: Browser

beforeAll(async () => {
  server = await startServer({ flags: ['--allowed-hosts', 'deploy.lan, dashboard.example.com'] })
  await new Browser(server.url).setUp(server.setupCode)
})
afterAll(() => server.stop())

/** Each test has its own signed-in browser; fewer than ten sign-ins of this file may fail. */
beforeEach(async () => {
  browser = new Browser(server.url)
  await browser.signIn()
})

async function currentSession(of: Browser): Promise<string> {
  const list = (await of.get('/auth/sessions')).body as { id: string; current: boolean }[]
  return list.find((session) => session.current)!.id
}

const setCookie = (answer: { headers: { 'set-cookie'?: string[] } }) => answer.headers['set-cookie']?.[0]

describe('sign-in', () => {
  it('answers the user and sets the session cookie', async () => {
    const answer = await browser.signIn()
    expect(answer).toMatchObject({
      status: 200,
      body: { auth: 'session', setup_required: false, user: { email: EMAIL } },
    })
    const port = new URL(server.url).port
    expect(setCookie(answer)).toMatch(new RegExp(`^deployer_session_${port}=[0-9a-f]{64}; `))
    expect(setCookie(answer)!.split('; ').slice(1).sort()).toEqual([
      'HttpOnly',
      `Max-Age=${THIRTY_DAYS_MS / 1_000}`,
      'Path=/',
      'SameSite=Strict',
    ])
  })

  it('ignores the letter case of the e-mail', async () => {
    expect((await browser.signIn(PASSWORD, EMAIL.toUpperCase())).status).toBe(200)
  })

  it.each([
    ['password', 'wrong', EMAIL],
    ['password in another case', PASSWORD.toUpperCase(), EMAIL],
    ['e-mail', PASSWORD, 'somebody@example.com'],
    ['form of e-mail', PASSWORD, 'x'],
  ])('does not reveal which was wrong: the %s', async (_what, password, email) => {
    const stranger = new Browser(server.url)
    const answer = await stranger.signIn(password, email)
    expect(answer).toMatchObject(refusal(401, 'invalid_credentials'))
    expect(answer.body.error.message).toBe('the e-mail or the password is wrong')
    expect(stranger.cookie).toBeUndefined()
  })

  it.each([
    [{}],
    [{ email: EMAIL }],
    [{ email: EMAIL, password: null }],
    [{ email: EMAIL, password: PASSWORD, remember: true }],
    ['{'],
    ['[]'],
    [''],
  ])('refuses the malformed %j', async (body) => {
    expect(await browser.post('/auth/login', body)).toMatchObject(refusal(400, 'invalid_request'))
  })

  it('names the cookie after the port that the browser uses', async () => {
    for (const [origin, port] of [
      ['http://deploy.lan', '80'],
      ['http://deploy.lan:9000', '9000'],
      ['http://[::1]:7878', '7878'],
    ] as const) {
      const answer = await new Browser(server.url, origin).signIn()
      expect(setCookie(answer)).toMatch(new RegExp(`^deployer_session_${port}=`))
    }
  })

  it('over HTTPS through the proxy sets a Secure cookie that works there', async () => {
    const origin = 'https://dashboard.example.com'
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'dashboard.example.com' }
    const remote = new Browser(server.url, origin, forwarded)
    const answer = await remote.signIn()
    expect(setCookie(answer)).toMatch(/^deployer_session_443=.*; Secure/)
    expect((await remote.get('/services')).status).toBe(200)
    expect((await remote.post('/auth/logout')).status).toBe(204)
  })
})

describe('status', () => {
  it('treats a wrong cookie and a wrong token as no credentials', async () => {
    const cookie = `${browser.cookie!.split('=')[0]}=${'0'.repeat(64)}`
    for (const headers of [{ cookie }, { authorization: 'Bearer wrong' }, {}] as Record<string, string>[]) {
      const answer = await send('GET', `${server.url}/api/v1/auth/status`, undefined, headers)
      expect(answer).toMatchObject({ status: 200, body: { auth: null, setup_required: false, user: null } })
    }
    expect((await browser.get('/auth/status?access_token=wrong', { cookie: '' })).body).toMatchObject({
      auth: null,
    })
  })

  it('recognizes tokens, in the header and in the query', async () => {
    const url = `${server.url}/api/v1/auth/status`
    const byHeader = await send('GET', url, undefined, { authorization: `Bearer ${server.token}` })
    expect(byHeader.body).toMatchObject({ auth: 'token', user: { email: EMAIL } })
    expect((await send('GET', `${url}?access_token=${server.token}`)).body).toEqual(byHeader.body)
  })
})

describe('sign-out', () => {
  it('ends the session and clears the cookie', async () => {
    const cookie = browser.cookie!
    const answer = await browser.post('/auth/logout')
    expect(answer.status).toBe(204)
    expect(answer.body).toBeUndefined()
    expect(setCookie(answer)).toMatch(/^deployer_session_\d+=; Max-Age=0; Path=\//)
    expect(await browser.get('/services', { cookie })).toMatchObject(refusal(401, 'unauthorized'))
  })

  it('succeeds without a session', async () => {
    expect((await send('POST', `${server.url}/api/v1/auth/logout`)).status).toBe(204)
    const cookie = `${browser.cookie!.split('=')[0]}=gone`
    expect((await send('POST', `${server.url}/api/v1/auth/logout`, undefined, { cookie })).status).toBe(204)
  })

  it("cannot be triggered by another site's page", async () => {
    const answer = await browser.post('/auth/logout', undefined, { origin: 'https://evil.example' })
    expect(answer).toMatchObject(refusal(403, 'cross_site_request'))
    expect((await browser.get('/services')).status).toBe(200)
  })
})

describe('sessions', () => {
  it('are listed last used first, and say which is this one', async () => {
    const other = new Browser(server.url)
    await other.post(
      '/auth/login',
      { email: EMAIL, password: PASSWORD },
      { 'user-agent': 'Other Browser/1.0' },
    )
    const list = await other.get('/auth/sessions')
    expect(list.status).toBe(200)
    expect(list.body[0]).toEqual({
      id: expect.stringMatching(/^ses-[0-9a-f]{20}$/) as string,
      created_at: expect.any(String) as string,
      last_used_at: expect.any(String) as string,
      expires_at: expect.any(String) as string,
      current: true,
      user_agent: 'Other Browser/1.0',
    })
    expect(list.body[1]).toMatchObject({ current: false, user_agent: null })
    const { last_used_at: used, expires_at: ends } = list.body[0] as Record<string, string>
    expect(Date.parse(ends!) - Date.parse(used!)).toBe(THIRTY_DAYS_MS)
  })

  it('end one by one', async () => {
    const other = new Browser(server.url)
    await other.signIn()
    const id = await currentSession(other)
    expect((await browser.delete(`/auth/sessions/${id}`)).status).toBe(204)
    expect(await other.get('/auth/sessions')).toMatchObject(refusal(401, 'unauthorized'))
    expect(await browser.delete(`/auth/sessions/${id}`)).toMatchObject(refusal(404, 'not_found'))
  })

  it('end with a cleared cookie when it is the current one', async () => {
    const answer = await browser.delete(`/auth/sessions/${await currentSession(browser)}`)
    expect(answer.status).toBe(204)
    expect(setCookie(answer)).toMatch(/Max-Age=0/)
    expect(browser.cookie).toBeUndefined()
  })

  it('outlive a second sign-in of the same browser', async () => {
    const cookie = browser.cookie!
    await browser.signIn()
    expect((await browser.get('/services', { cookie })).status).toBe(200)
  })

  it('extend their expiry, and that of the cookie, when they are used again', async () => {
    const database = databaseOf(server.dataDirectory)
    const anHourAgo = Date.now() - 3_600_000
    database
      .prepare('UPDATE sessions SET last_used_at = ?, expires_at = ?')
      .run(anHourAgo, anHourAgo + THIRTY_DAYS_MS)
    database.close()
    const answer = await browser.get('/services')
    expect(setCookie(answer)).toContain(`${browser.cookie}; Max-Age=${THIRTY_DAYS_MS / 1_000};`)
    const list = (await browser.get('/auth/sessions')).body as Record<string, string>[]
    expect(Date.parse(list[0]!.expires_at!)).toBeGreaterThan(anHourAgo + THIRTY_DAYS_MS)
    expect(setCookie(await browser.get('/services'))).toBeUndefined()
  })

  it('expire when they are not used for 30 days', async () => {
    const database = databaseOf(server.dataDirectory)
    database.exec(`UPDATE sessions SET expires_at = ${Date.now() - 1}`)
    database.close()
    expect(await browser.get('/services')).toMatchObject(refusal(401, 'unauthorized'))
  })

  it('are found among cookies of the same name that others have set', async () => {
    const name = browser.cookie!.split('=')[0]
    const cookie = `${name}=planted; other=1; ${browser.cookie}; ${name}=${'0'.repeat(64)}`
    expect((await browser.get('/services', { cookie })).status).toBe(200)
  })

  it('do not count under the cookie of another port', async () => {
    const cookie = browser.cookie!.replace(/^deployer_session_\d+/, 'deployer_session_1')
    expect(await browser.get('/services', { cookie })).toMatchObject(refusal(401, 'unauthorized'))
  })
})

describe('a password change', () => {
  let own: typeof server
  beforeEach(async () => {
    own = await startServer()
    browser = await new Browser(own.url).setUp(own.setupCode)
  })
  afterEach(() => own.stop())

  const change = (current: string, next: unknown) =>
    browser.post('/auth/password', { current_password: current, new_password: next })

  it('ends every other session and keeps this one', async () => {
    const other = new Browser(own.url)
    await other.signIn()
    const answer = await change(PASSWORD, 'another fine password')
    expect(answer).toMatchObject({ status: 204, body: undefined })
    expect((await browser.get('/auth/sessions')).body).toHaveLength(1)
    expect(await other.get('/services')).toMatchObject(refusal(401, 'unauthorized'))
    expect((await other.signIn()).status).toBe(401)
    expect((await other.signIn('another fine password')).status).toBe(200)
  })

  it('needs the current password', async () => {
    expect(await change('wrong', 'another fine password')).toMatchObject(refusal(401, 'invalid_credentials'))
    expect((await browser.signIn()).status).toBe(200)
  })

  it('refuses a password that is too short or too long', async () => {
    for (const next of ['short', 'x'.repeat(257), null]) {
      const answer = await change(PASSWORD, next)
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(answer.body.error.message).toMatch(/^new_password: /)
    }
  })
})
