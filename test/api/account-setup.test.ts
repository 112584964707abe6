import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startServer } from '../support/server.ts'
import { bearer, Browser, EMAIL, PASSWORD, refusal, send } from './account-client.ts'

describe('first-run setup', () => {
  let server: Awaited<ReturnType<typeof startServer>>
  let browser: Browser

  beforeEach(async () => {
    server = await startServer()
    browser = new Browser(server.url)
  })
  afterEach(() => server.stop())

  const account = () => ({ code: server.setupCode, email: EMAIL, password: PASSWORD })

  it('is required until the account is created, and signs the browser in', async () => {
    expect(await browser.get('/auth/status')).toMatchObject({
      status: 200,
      body: { auth: null, setup_required: true, user: null },
    })
    const made = await browser.post('/auth/setup', account())
    const user = {
      id: expect.stringMatching(/^usr-[0-9a-f]{20}$/) as string,
      email: EMAIL,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    }
    expect(made.status).toBe(200)
    expect(made.body).toEqual({ auth: 'session', setup_required: false, user })
    expect((await browser.get('/auth/status')).body).toEqual(made.body)
    expect((await browser.get('/services')).status).toBe(200)
    expect(existsSync(join(server.dataDirectory, 'setup_code'))).toBe(false)
  })

  it('refuses a wrong code', async () => {
    const wrong = { ...account(), code: 'f'.repeat(40) }
    expect(await browser.post('/auth/setup', wrong)).toMatchObject(refusal(401, 'invalid_credentials'))
    expect(browser.cookie).toBeUndefined()
    expect((await browser.get('/auth/status')).body).toMatchObject({ setup_required: true })
  })

  it('happens once, with the right code or a wrong one', async () => {
    await browser.setUp(server.setupCode)
    for (const code of [server.setupCode, 'wrong']) {
      expect(await browser.post('/auth/setup', { ...account(), code })).toMatchObject(
        refusal(409, 'conflict'),
      )
    }
  })

  it('creates one account of five simultaneous setups', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => new Browser(server.url).post('/auth/setup', account())),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409, 409, 409])
  })

  it('is not needed for the server token, which works before it', async () => {
    const status = await send('GET', `${server.url}/api/v1/auth/status`, undefined, bearer(server.token))
    expect(status.body).toEqual({ auth: 'token', setup_required: true, user: null })
  })

  it('comes before any sign-in', async () => {
    expect(await browser.signIn()).toMatchObject(refusal(401, 'invalid_credentials'))
  })
})

describe('a faulty setup', () => {
  let server: Awaited<ReturnType<typeof startServer>>
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  it.each([
    ['code', { email: EMAIL, password: PASSWORD }],
    ['email', { code: 'x', password: PASSWORD }],
    ['password', { code: 'x', email: EMAIL }],
    ['email', { code: 'x', email: 'nobody', password: PASSWORD }],
    ['email', { code: 'x', email: 'admin@example.com\u200b', password: PASSWORD }],
    ['email', { code: 'x', email: '\u202eadmin@example.com', password: PASSWORD }],
    ['password', { code: 'x', email: EMAIL, password: 'short' }],
    ['password', { code: 'x', email: EMAIL, password: 12345678 }],
    ['admin', { code: 'x', email: EMAIL, password: PASSWORD, admin: true }],
    ['__proto__', '{"code":"x","email":"a@b","password":"12345678","__proto__":{}}'],
  ])('names the faulty field: %s in %j', async (field, body) => {
    const answer = await new Browser(server.url).post('/auth/setup', body)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(new RegExp(`^${field}: `))
    expect(existsSync(join(server.dataDirectory, 'setup_code'))).toBe(true)
  })
})
