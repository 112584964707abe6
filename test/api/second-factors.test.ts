import { setTimeout } from 'node:timers/promises'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { bearer, Browser, EMAIL, PASSWORD, refusal, send, type Answer } from './account-client.ts'
import { Authenticator } from './authenticator.ts'

const MINUTE_MS = 60_000

/** What nothing may ever show again. */
const secrets: string[] = []

let server: TestServer
/** Where the dashboard is open. */
let origin: string
let browser: Browser

beforeAll(async () => {
  server = await startServer()
  origin = server.url.replace('127.0.0.1', 'localhost')
  browser = await new Browser(server.url, origin).setUp(server.setupCode)
})
afterAll(() => server.stop())
/** As a reset on the host does: more than ten sign-ins of this file fail. */
beforeEach(() => {
  inDatabase(`INSERT OR REPLACE INTO settings (key, value) VALUES ('password_reset', '${Math.random()}')`)
})

const wrong = refusal(401, 'invalid_credentials')
const unverified = refusal(403, 'second_factor_required')

/** Does to the database what otherwise only time does. */
function inDatabase(sql: string): void {
  const database = databaseOf(server.dataDirectory)
  database.exec(sql)
  database.close()
}

/** Lets codes of the same 30 s hold again. */
const nextStep = () => inDatabase('UPDATE totp SET last_step = 0')

/** Node sends no length with a DELETE by itself. */
function turnAppOff(from: Browser, password: string): Promise<Answer> {
  const text = JSON.stringify({ current_password: password })
  return from.send('DELETE', '/auth/totp', text, { 'content-length': String(text.length) })
}

/** What an app with this secret shows, perhaps at another time. */
function codeOf(secret: string, awayMs = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + awayMs })
}

/** Waits until the 30 s of now last a while, so that the code of those before holds until it arrives. */
async function earlyInStep(): Promise<void> {
  const leftMs = 30_000 - (Date.now() % 30_000)
  if (leftMs < 10_000) await setTimeout(leftMs)
}

/** Six digits that no app with this secret shows for an hour. */
function wrongCode(secret: string): string {
  const near = Array.from({ length: 240 }, (_, step) => codeOf(secret, (step - 120) * 30_000))
  return ['000000', '111111', '222222'].find((code) => !near.includes(code))!
}

async function setUpApp(from: Browser): Promise<{ secret: string; recovery: string[] }> {
  const { secret } = (await from.post('/auth/totp')).body
  const { body } = await from.post('/auth/totp/confirm', { code: codeOf(secret) })
  nextStep()
  secrets.push(secret, ...body.recovery_codes)
  return { secret, recovery: body.recovery_codes }
}

/** Back to the password alone. */
function withoutFactors(): void {
  inDatabase('DELETE FROM totp; DELETE FROM passkeys; DELETE FROM recovery_codes')
}

async function login(body: object): Promise<Answer> {
  return new Browser(server.url, origin).post('/auth/login', { email: EMAIL, password: PASSWORD, ...body })
}

describe('setting up an authenticator app', () => {
  beforeEach(withoutFactors)

  it('needs a code that its secret makes now, and says how far a clock is off', async () => {
    const confirm = (code: string) => browser.post('/auth/totp/confirm', { code })
    expect(await confirm('123456')).toMatchObject(refusal(409, 'conflict'))
    const { secret, uri } = (await browser.post('/auth/totp')).body
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(new URL(uri)).toMatchObject({ protocol: 'otpauth:', host: 'totp' })
    expect(decodeURIComponent(uri)).toContain(`Deployer localhost:${EMAIL}`)
    expect(await confirm(wrongCode(secret))).toMatchObject(wrong)
    for (const [awayMs, words] of [
      [10 * MINUTE_MS, /about (9|10|11) minutes ahead of/],
      [-10 * MINUTE_MS, /about (9|10|11) minutes behind/],
    ] as const) {
      const answer = await confirm(codeOf(secret, awayMs))
      expect(answer).toMatchObject(wrong)
      expect(answer.body.error.message).toMatch(words)
    }
    expect((await browser.get('/auth/second-factors')).body).toEqual({
      totp: null,
      passkeys: [],
      recovery_codes_left: 0,
    })
    const { status, body } = await confirm(codeOf(secret))
    expect(status).toBe(200)
    expect(new Set(body.recovery_codes).size).toBe(10)
    expect((await browser.get('/auth/second-factors')).body).toEqual({
      totp: { confirmed_at: expect.any(String) as string, last_used_at: expect.any(String) as string },
      passkeys: [],
      recovery_codes_left: 10,
    })
    expect(await confirm(codeOf(secret))).toMatchObject(refusal(409, 'conflict'))
    expect(await login({ code: codeOf(secret) })).toMatchObject(wrong)
  })

  it('keeps the secret and the recovery codes out of the file of the database', async () => {
    const { secret, recovery } = await setUpApp(browser)
    const database = databaseOf(server.dataDirectory, { readOnly: true })
    const rows = [...database.prepare('SELECT * FROM totp, recovery_codes').all()]
    database.close()
    const text = rows.map((row) => Buffer.from(Object.values(row).join()).toString('latin1')).join()
    const bytes = Buffer.from(rows[0]!.secret as Uint8Array).toString('latin1')
    for (const hidden of [secret, recovery[0]!, recovery[0]!.replaceAll('-', '')])
      expect(text + bytes).not.toContain(hidden)
  })

  it('replaces an earlier app only once the new one is confirmed', async () => {
    const first = await setUpApp(browser)
    const { secret } = (await browser.post('/auth/totp')).body
    expect(await login({ code: codeOf(secret) })).toMatchObject(wrong)
    expect((await login({ code: codeOf(first.secret) })).status).toBe(200)
    nextStep()
    expect((await browser.post('/auth/totp/confirm', { code: codeOf(secret) })).status).toBe(200)
    nextStep()
    expect(await login({ code: codeOf(first.secret) })).toMatchObject(wrong)
    expect(await login({ code: first.recovery[0] })).toMatchObject(wrong)
    expect((await login({ code: codeOf(secret) })).status).toBe(200)
  })
})

describe('signing in with an authenticator app', () => {
  let secret: string
  let recovery: string[]

  beforeAll(async () => {
    withoutFactors()
    ;({ secret, recovery } = await setUpApp(browser))
  })
  beforeEach(nextStep)

  it('asks for a code after the right password alone, and then names the methods', async () => {
    const answer = await login({})
    expect(answer).toMatchObject(refusal(401, 'second_factor_required'))
    expect(answer.body.error.details).toEqual({ methods: ['totp', 'recovery'] })
    expect(answer.headers['set-cookie']).toBeUndefined()
    for (const code of [undefined, codeOf(secret)]) {
      const guess = await login({ password: 'a guess', code })
      expect(guess).toMatchObject(wrong)
      expect(guess.body.error.details).toBeUndefined()
    }
  })

  it('takes a code of the step before or after, once, and none before it', async () => {
    await earlyInStep()
    expect((await login({ code: codeOf(secret, -30_000) })).status).toBe(200)
    const code = codeOf(secret)
    expect((await login({ code: `${code.slice(0, 3)} ${code.slice(3)}` })).status).toBe(200)
    expect(await login({ code })).toMatchObject(wrong)
    expect(await login({ code: codeOf(secret, -30_000) })).toMatchObject(wrong)
    expect((await login({ code: codeOf(secret, 30_000) })).status).toBe(200)
    expect(await login({ code: codeOf(secret, 10 * MINUTE_MS) })).toMatchObject(wrong)
  })

  it('takes codes again after the clock of the host was far ahead', async () => {
    inDatabase(`UPDATE totp SET last_step = ${Math.floor(Date.now() / 30_000) + 100_000}`)
    const code = codeOf(secret)
    expect((await login({ code })).status).toBe(200)
    expect(await login({ code })).toMatchObject(wrong)
  })

  it('lets one of several requests with the same code in', async () => {
    const code = codeOf(secret)
    const answers = await Promise.all(Array.from({ length: 4 }, () => login({ code })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401])
  })

  it('takes a recovery code once, however it is typed', async () => {
    const code = recovery[0]!.toUpperCase().replaceAll('-', ' ')
    expect((await login({ code })).status).toBe(200)
    expect(await login({ code: recovery[0] })).toMatchObject(wrong)
    expect((await browser.get('/auth/second-factors')).body.recovery_codes_left).toBe(9)
  })

  it.each([{ code: 123_456 }, { code: '' }, { code: null }, { code: '1'.repeat(101) }, { passkey: {} }])(
    'refuses the malformed %j',
    async (body) => {
      expect(await login(body)).toMatchObject(refusal(400, 'invalid_request'))
    },
  )
})

describe('a session that has shown no second factor lately', () => {
  let secret: string
  let recovery: string[]
  let stolen: Browser

  beforeAll(async () => {
    withoutFactors()
    stolen = new Browser(server.url, origin)
    await stolen.signIn()
    ;({ secret, recovery } = await setUpApp(browser))
  })
  beforeEach(nextStep)

  it('stays, and is refused what would outlast it', async () => {
    expect((await stolen.get('/auth/sessions')).status).toBe(200)
    const { body: login } = await send('POST', `${server.url}/api/v1/auth/cli`, { name: 'laptop' })
    const passkey = new Authenticator(origin).create({ challenge: 'none', rp: { id: 'localhost' } })
    await server.api('POST', '/services', { name: 'web', image: 'busybox:1', deploy: false })
    const answers = [
      await stolen.post('/auth/tokens', { name: 'ci' }),
      await stolen.post(`/auth/cli/${login.id}/approve`, { code: login.code }),
      await stolen.get('/server/backups/sbk-00000000000000000000/download'),
      await stolen.post('/services/web/shells', { rows: 24, cols: 80 }),
      await stolen.post('/auth/totp'),
      await stolen.post('/auth/totp/confirm', { code: '123456' }),
      await turnAppOff(stolen, PASSWORD),
      await stolen.post('/auth/passkeys/options', { purpose: 'register' }),
      await stolen.post('/auth/passkeys', { name: 'mine', credential: passkey }),
      await stolen.delete('/auth/passkeys/psk-00000000000000000000'),
      await stolen.post('/auth/recovery-codes'),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject(unverified)
      expect(answer.body.error.details).toEqual({ methods: ['totp', 'recovery'] })
    }
    expect((await browser.get('/auth/second-factors')).body.recovery_codes_left).toBe(10)
  })

  it('may do it for 10 minutes after a code, which holds once and not for other sessions', async () => {
    const [own, other] = [new Browser(server.url, origin), new Browser(server.url, origin)]
    for (const one of [own, other])
      expect(
        (await one.post('/auth/login', { email: EMAIL, password: PASSWORD, code: recovery.pop() })).status,
      ).toBe(200)
    inDatabase('UPDATE sessions SET verified_at = NULL')
    const code = codeOf(secret)
    expect(await own.post('/auth/verify', { code: wrongCode(secret) })).toMatchObject(wrong)
    expect(await own.post('/auth/tokens', { name: 'ci' })).toMatchObject(unverified)
    expect((await own.post('/auth/verify', { code })).status).toBe(204)
    expect(await own.post('/auth/verify', { code })).toMatchObject(wrong)
    const made = await own.post('/auth/tokens', { name: 'ci' })
    expect(made.status).toBe(201)
    expect(await other.post('/auth/tokens', { name: 'ci' })).toMatchObject(unverified)
    const services = await send('GET', `${server.url}/api/v1/services`, undefined, bearer(made.body.token))
    expect(services.status).toBe(200)
    for (const agoMs of [10 * MINUTE_MS, -MINUTE_MS]) {
      inDatabase(`UPDATE sessions SET verified_at = ${Date.now() - agoMs}`)
      expect(await own.post('/auth/tokens', { name: 'ci' })).toMatchObject(unverified)
    }
    expect((await own.post('/auth/verify', { code: recovery.pop() })).status).toBe(204)
    expect((await own.post('/auth/tokens', { name: 'ci' })).status).toBe(201)
  })

  it('may guess ten times in five minutes, which stops no other session', async () => {
    const guess = wrongCode(secret)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => stolen.post('/auth/verify', { code: guess })),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(await stolen.post('/auth/verify', { code: codeOf(secret) })).toMatchObject(
      refusal(429, 'too_many_attempts'),
    )
    expect((await browser.post('/auth/verify', { code: codeOf(secret) })).status).toBe(204)
  })

  it.each([{}, { code: '123456', passkey: { id: 'a' } }, { code: 1 }, { purpose: 'x' }])(
    'is told what is wrong with %j',
    async (body) => {
      expect(await browser.post('/auth/verify', body)).toMatchObject(refusal(400, 'invalid_request'))
    },
  )
})

describe('turning the last factor off', () => {
  it('needs the password, ends the recovery codes and leaves the password alone', async () => {
    withoutFactors()
    const { recovery } = await setUpApp(browser)
    const turnOff = (password: string) => turnAppOff(browser, password)
    expect(await turnOff('a guess')).toMatchObject(wrong)
    expect((await turnOff(PASSWORD)).status).toBe(204)
    expect(await turnOff(PASSWORD)).toMatchObject(refusal(404, 'not_found'))
    expect((await browser.get('/auth/second-factors')).body.recovery_codes_left).toBe(0)
    expect((await login({})).status).toBe(200)
    expect(await browser.post('/auth/verify', { code: recovery[0] })).toMatchObject(refusal(409, 'conflict'))
    expect(await browser.post('/auth/recovery-codes')).toMatchObject(refusal(409, 'conflict'))
    expect((await browser.post('/auth/tokens', { name: 'ci' })).status).toBe(201)
  })
})

describe('passkeys', () => {
  let device: Authenticator
  const options = async (purpose: string, from = browser) =>
    (await from.post('/auth/passkeys/options', { purpose })).body
  const enter = (passkey: object, from = new Browser(server.url, origin)) =>
    from.post('/auth/login', { passkey })
  const register = async (credential: object, from = browser) =>
    from.post('/auth/passkeys', { name: 'laptop', credential })

  beforeEach(async () => {
    withoutFactors()
    device = new Authenticator(origin)
    await register(device.create(await options('register')))
  })

  it('are for exactly the host of the dashboard, and there are none at an IP address', async () => {
    expect(await options('sign_in')).toMatchObject({ rpId: 'localhost', userVerification: 'required' })
    expect(await options('register')).toMatchObject({
      rp: { id: 'localhost' },
      excludeCredentials: [{ id: device.id }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    const atAddress = new Browser(server.url)
    for (const purpose of ['sign_in', 'register']) {
      atAddress.cookie = browser.cookie
      const answer = await atAddress.post('/auth/passkeys/options', { purpose })
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(answer.body.error.message).toContain('the IP address 127.0.0.1')
    }
  })

  it('tell nobody what there is', async () => {
    const stranger = new Browser(server.url, origin)
    const answer = await stranger.post('/auth/passkeys/options', { purpose: 'sign_in' })
    expect(JSON.stringify(answer.body)).not.toContain(device.id)
    expect(await stranger.post('/auth/passkeys/options', { purpose: 'register' })).toMatchObject(
      refusal(401, 'unauthorized'),
    )
    const { token } = (await browser.post('/auth/tokens', { name: 'ci' })).body
    const byToken = { ...bearer(token), origin: '' }
    expect(await stranger.post('/auth/passkeys/options', { purpose: 'register' }, byToken)).toMatchObject(
      refusal(403, 'session_required'),
    )
    for (const purpose of ['sign_in', 'register']) {
      const elsewhere = { origin: 'http://evil.localhost' }
      expect(await browser.post('/auth/passkeys/options', { purpose }, elsewhere)).toMatchObject(
        refusal(403, 'cross_site_request'),
      )
    }
  })

  it('sign in by themselves, and count as verified', async () => {
    const asked = await login({})
    expect(asked.body.error.details).toEqual({ methods: ['passkey'] })
    const fresh = new Browser(server.url, origin)
    const answer = await enter(device.use(await options('sign_in')), fresh)
    expect(answer).toMatchObject({ status: 200, body: { auth: 'session', user: { email: EMAIL } } })
    expect((await fresh.post('/auth/tokens', { name: 'ci' })).status).toBe(201)
    const [passkey] = (await fresh.get('/auth/second-factors')).body.passkeys
    expect(passkey).toEqual({
      id: expect.stringMatching(/^psk-[0-9a-f]{20}$/) as string,
      name: 'laptop',
      host: 'localhost',
      created_at: expect.any(String) as string,
      last_used_at: expect.any(String) as string,
    })
  })

  it('verify a session', async () => {
    inDatabase('UPDATE sessions SET verified_at = NULL')
    expect(await browser.post('/auth/tokens', { name: 'ci' })).toMatchObject(unverified)
    const passkey = device.use(await options('sign_in'))
    expect((await browser.post('/auth/verify', { passkey })).status).toBe(204)
    expect(await browser.post('/auth/verify', { passkey })).toMatchObject(wrong)
    expect((await browser.post('/auth/tokens', { name: 'ci' })).status).toBe(201)
  })

  it('use each challenge once, also at the same time, and only for what it was asked for', async () => {
    const asked = await options('sign_in')
    const uses = [device.use(asked), device.use(asked), device.use(asked)]
    const answers = await Promise.all(uses.map((use) => enter(use)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401])
    expect(await enter(device.use({ rpId: 'localhost', ...(await options('register')) }))).toMatchObject(
      wrong,
    )
    const second = new Authenticator(origin)
    const forRegistration = await options('register')
    expect((await register(second.create(forRegistration))).status).toBe(201)
    expect(await register(new Authenticator(origin).create(forRegistration))).toMatchObject(wrong)
    const toSignIn = { rp: { id: 'localhost' }, ...(await options('sign_in')) }
    expect(await register(new Authenticator(origin).create(toSignIn))).toMatchObject(wrong)
    const other = new Browser(server.url, origin)
    await enter(device.use(await options('sign_in')), other)
    const ofOther = await options('register', other)
    expect(await register(new Authenticator(origin).create(ofOther))).toMatchObject(wrong)
  })

  it.each([
    ['another origin', { origin: 'http://deploy.localhost' }],
    ['another host', { host: 'deploy.localhost' }],
    ['a frame of another site', { crossOrigin: true }],
    ['a user who was not verified', { isVerified: false }],
    ['a challenge of nobody', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
  ])('are refused for %s, in sign-in and in creation', async (_what, lie) => {
    expect(await enter(device.use(await options('sign_in'), lie))).toMatchObject(wrong)
    const another = new Authenticator(origin).create(await options('register'), lie)
    expect(await register(another)).toMatchObject(wrong)
    expect((await browser.get('/auth/second-factors')).body.passkeys).toHaveLength(1)
  })

  it('are refused when their counter does not grow, the signature is wrong or nobody knows them', async () => {
    expect((await enter(device.use(await options('sign_in'), { counter: 7 }))).status).toBe(200)
    expect(await enter(device.use(await options('sign_in'), { counter: 7 }))).toMatchObject(wrong)
    const forged = device.use(await options('sign_in'), { counter: 9 })
    forged.response.signature = new Authenticator(origin).use(await options('sign_in')).response.signature
    expect(await enter(forged)).toMatchObject(wrong)
    expect(await enter(new Authenticator(origin).use(await options('sign_in')))).toMatchObject(wrong)
    const garbage = device.create(await options('register'))
    garbage.response.attestationObject = 'o2NmbXRkbm9uZQ'
    expect(await register(garbage)).toMatchObject(wrong)
    expect(await register(device.create(await options('register')))).toMatchObject(refusal(409, 'conflict'))
  })

  it('of another host do not sign in here, which only somebody with the password is told', async () => {
    const elsewhere = origin.replace('localhost', 'deploy.localhost')
    const there = new Browser(server.url, elsewhere)
    const asked = await options('sign_in', there)
    expect(asked.rpId).toBe('deploy.localhost')
    const lie = { origin: elsewhere }
    expect(await enter(device.use(asked, lie), there)).toMatchObject(wrong)
    const answer = await there.signIn()
    expect(answer).toMatchObject(refusal(401, 'second_factor_required'))
    expect(answer.body.error).toMatchObject({
      details: { methods: [] },
      message: expect.stringContaining('are for localhost') as string,
    })
  })

  it('can be removed, and the last one ends the recovery codes', async () => {
    expect((await browser.post('/auth/recovery-codes')).body.recovery_codes).toHaveLength(10)
    const [{ id }] = (await browser.get('/auth/second-factors')).body.passkeys
    expect((await browser.delete(`/auth/passkeys/${id}`)).status).toBe(204)
    expect(await browser.delete(`/auth/passkeys/${id}`)).toMatchObject(refusal(404, 'not_found'))
    expect(await enter(device.use(await options('sign_in')))).toMatchObject(wrong)
    expect((await browser.get('/auth/second-factors')).body.recovery_codes_left).toBe(0)
    expect((await login({})).status).toBe(200)
  })
})

describe('the audit log', () => {
  it('has who changed and used second factors, without what is secret about them', async () => {
    const url = `${server.url}/api/v1/audit-events?limit=1000`
    const { body } = await send('GET', url, undefined, bearer(server.token))
    const actions = (body as { action: string }[]).map(({ action }) => action)
    for (const action of [
      'account.authenticator_set_up',
      'account.authenticator_turned_off',
      'account.recovery_codes_replaced',
      'account.session_verified',
      'passkey.created',
      'passkey.deleted',
    ])
      expect(actions).toContain(action)
    const texts = JSON.stringify(body) + server.logs
    expect(secrets.filter((secret) => texts.includes(secret))).toEqual([])
  })
})

// Last, because it closes sign-in.
describe('wrong codes at sign-in', () => {
  it('count with the failed sign-ins', async () => {
    withoutFactors()
    const { secret } = await setUpApp(browser)
    const guess = wrongCode(secret)
    const answers = await Promise.all(Array.from({ length: 12 }, () => login({ code: guess })))
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10)
    expect(await login({ code: codeOf(secret) })).toMatchObject(refusal(429, 'too_many_attempts'))
    expect((await browser.post('/auth/verify', { code: codeOf(secret) })).status).toBe(204)
  })
})
