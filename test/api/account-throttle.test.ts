import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startServer } from '../support/server.ts'
import { Browser, EMAIL, PASSWORD, refusal } from './account-client.ts'

let server: Awaited<ReturnType<typeof startServer>>
let browser: Browser

beforeEach(async () => {
  server = await startServer()
  browser = await new Browser(server.url).setUp(server.setupCode)
})
afterEach(() => server.stop())

const tooMany = refusal(429, 'too_many_attempts')
const guess = (index: number) =>
  browser.post(
    '/auth/login',
    { email: index % 2 ? EMAIL : `user${index}@example.com`, password: `guess ${index}` },
    { 'x-forwarded-for': `203.0.113.${index}`, 'x-real-ip': `203.0.113.${index}` },
  )

describe('sign-in', () => {
  it('is refused after ten failures, whatever the address and e-mail, and with the right password', async () => {
    for (let index = 0; index < 10; index++) expect((await guess(index)).status).toBe(401)
    const refused = await guess(10)
    expect(refused).toMatchObject(tooMany)
    const [, seconds] = /try again in (\d+) seconds/.exec(refused.body.error.message) ?? []
    expect(refused.headers['retry-after']).toBe(seconds)
    expect(await browser.signIn()).toMatchObject(tooMany)
    expect((await browser.get('/auth/sessions')).status).toBe(200)
  })

  it('checks at most ten of thirty simultaneous guesses', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => guess(index)))
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(10)
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(20)
  })

  it('counts neither successful nor malformed ones', async () => {
    for (let index = 0; index < 9; index++) await guess(index)
    const good = await Promise.all(Array.from({ length: 12 }, () => new Browser(server.url).signIn()))
    expect(good.map((answer) => answer.status)).toEqual(Array(12).fill(200))
    for (let index = 0; index < 12; index++) {
      expect((await browser.post('/auth/login', { email: EMAIL })).status).toBe(400)
    }
    expect((await browser.signIn(PASSWORD)).status).toBe(200)
    expect((await guess(9)).status).toBe(401)
    expect((await guess(10)).status).toBe(429)
  })
})

describe('a change of the password', () => {
  const NEXT = 'another fine password'
  const change = (from: Browser, current: string) =>
    from.post('/auth/password', { current_password: current, new_password: NEXT })

  it('is refused to a session after ten wrong current ones, even with the right one, and to nobody else', async () => {
    for (let index = 0; index < 10; index++) expect((await change(browser, 'wrong')).status).toBe(401)
    const refused = await change(browser, PASSWORD)
    expect(refused).toMatchObject(tooMany)
    const [, seconds] = /try again in (\d+) seconds/.exec(refused.body.error.message) ?? []
    expect(refused.headers['retry-after']).toBe(seconds)

    const another = new Browser(server.url)
    expect((await another.signIn()).status).toBe(200)
    expect((await change(another, PASSWORD)).status).toBe(204)
    expect((await browser.get('/auth/sessions')).status).toBe(401)
  })

  it('checks at most ten of thirty simultaneous guesses', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => change(browser, 'wrong')))
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(10)
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(20)
  })
})
