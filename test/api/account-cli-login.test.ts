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

/** A terminal has no credentials and no origin. */
const terminal = (path: string, body?: unknown): Promise<Answer> =>
  send('POST', `${server.url}/api/v1${path}`, body)
const start = async (body?: unknown) =>
  (await terminal('/auth/cli', body)).body as { id: string; code: string; secret: string }
const poll = (login: { id: string; secret: string }) =>
  terminal(`/auth/cli/${login.id}/token`, { secret: login.secret })

describe('the sign-in of a terminal', () => {
  it('starts with a code to compare and a secret to poll with', async () => {
    for (const body of [undefined, {}, { name: 'laptop' }]) {
      const answer = await terminal('/auth/cli', body)
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        id: expect.stringMatching(/^cli-[0-9a-f]{20}$/) as string,
        code: expect.stringMatching(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/) as string,
        secret: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
        expires_in: 600,
        interval: 2,
      })
    }
  })

  it('returns a token named after it once it is approved, and only once', async () => {
    const login = await start({ name: 'my laptop' })
    expect(await poll(login)).toMatchObject({ status: 200 })
    expect((await poll(login)).body).toEqual({ status: 'pending' })

    const seen = await browser.get(`/auth/cli/${login.id}`)
    expect(seen.status).toBe(200)
    expect(seen.body).toEqual({
      id: login.id,
      code: login.code,
      name: 'my laptop',
      address: '127.0.0.1',
      status: 'pending',
      created_at: expect.any(String) as string,
      expires_at: expect.any(String) as string,
    })
    expect(Date.parse(seen.body.expires_at) - Date.parse(seen.body.created_at)).toBe(600_000)

    const approved = await browser.post(`/auth/cli/${login.id}/approve`)
    expect(approved.status).toBe(200)
    expect(approved.body).toEqual({ ...seen.body, status: 'approved' })

    const { body } = await poll(login)
    expect(body).toEqual({ status: 'approved', token: expect.stringMatching(/^dpl_[0-9a-f]{40}$/) as string })
    expect(await poll(login)).toMatchObject(refusal(404, 'not_found'))
    expect(await browser.get(`/auth/cli/${login.id}`)).toMatchObject(refusal(404, 'not_found'))
    expect((await send('GET', `${server.url}/api/v1/services`, undefined, bearer(body.token))).status).toBe(
      200,
    )
    const [newest] = (await browser.get('/auth/tokens')).body
    expect(newest).toMatchObject({ name: 'my laptop', hint: body.token.slice(-4), expires_at: null })
  })

  it('is approved with the code that was typed, in upper or lower case, and not with another', async () => {
    const login = await start()
    for (const code of ['BCDF-GHJK', '', login.code.slice(0, 4)]) {
      const answer = await browser.post(`/auth/cli/${login.id}/approve`, { code })
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(answer.body.error.message).toMatch(/^code: /)
    }
    expect((await poll(login)).body).toEqual({ status: 'pending' })
    const code = ` ${login.code.toLowerCase().replace('-', ' ')}`
    expect((await browser.post(`/auth/cli/${login.id}/approve`, { code })).status).toBe(200)
    expect((await poll(login)).body).toMatchObject({ status: 'approved' })
  })

  it('may get an expiry, after which its token is refused', async () => {
    const login = await start({ name: 'ends' })
    const path = `/auth/cli/${login.id}/approve`
    for (const expires_at of ['2001-01-02T03:04:05Z', 'soon', 5])
      expect((await browser.post(path, { expires_at })).body.error.message).toMatch(/^expires_at: /)
    const expires_at = new Date(Date.now() + 90 * 86_400_000).toISOString()
    expect((await browser.post(path, { expires_at })).status).toBe(200)
    expect((await browser.get('/auth/tokens')).body[0]).toMatchObject({ name: 'ends', expires_at })
  })

  it('is not delayed by a thousand of a stranger', async () => {
    const stranger = () =>
      send('POST', `${server.url}/api/v1/auth/cli`, {}, { 'x-forwarded-for': '203.0.113.7' })
    const early = await start()
    for (let batch = 0; batch < 20; batch++) {
      const answers = await Promise.all(Array.from({ length: 50 }, stranger))
      expect(answers.every(({ status }) => status === 200)).toBe(true)
    }
    for (const login of [early, await start()]) {
      expect((await browser.post(`/auth/cli/${login.id}/approve`)).status).toBe(200)
      expect((await poll(login)).body).toMatchObject({ status: 'approved' })
    }
  })

  it('reports to the terminal once that it was denied', async () => {
    const login = await start()
    expect((await browser.post(`/auth/cli/${login.id}/deny`)).body).toMatchObject({
      id: login.id,
      status: 'denied',
    })
    expect(await poll(login)).toMatchObject({ status: 200, body: { status: 'denied' } })
    expect(await poll(login)).toMatchObject(refusal(404, 'not_found'))
  })

  it('gives the token to one of twenty racing polls', async () => {
    const login = await start()
    await browser.post(`/auth/cli/${login.id}/approve`)
    const answers = await Promise.all(Array.from({ length: 20 }, () => poll(login)))
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 404)).toHaveLength(19)
  })

  it('can be answered only once', async () => {
    const login = await start()
    await browser.post(`/auth/cli/${login.id}/approve`)
    for (const verb of ['approve', 'deny']) {
      expect(await browser.post(`/auth/cli/${login.id}/${verb}`)).toMatchObject(refusal(409, 'conflict'))
    }
  })

  it("is not revealed to another terminal's secret", async () => {
    const login = await start()
    await browser.post(`/auth/cli/${login.id}/approve`)
    const stranger = { id: login.id, secret: '0'.repeat(40) }
    expect(await poll(stranger)).toMatchObject(refusal(401, 'invalid_credentials'))
    expect((await poll(login)).body).toMatchObject({ status: 'approved' })
  })

  it('that nobody started is not found', async () => {
    const id = 'cli-00000000000000000000'
    expect(await poll({ id, secret: 'x' })).toMatchObject(refusal(404, 'not_found'))
    expect(await browser.get(`/auth/cli/${id}`)).toMatchObject(refusal(404, 'not_found'))
    for (const verb of ['approve', 'deny']) {
      expect(await browser.post(`/auth/cli/${id}/${verb}`)).toMatchObject(refusal(404, 'not_found'))
    }
  })

  it.each([
    ['/auth/cli', 'name', { name: '' }],
    ['/auth/cli', 'name', { name: 'bell\u0007' }],
    ['/auth/cli', 'name', { name: 'laptop\u202egnp.exe' }],
    ['/auth/cli', 'name', { name: 'lap\u200btop' }],
    ['/auth/cli', 'name', { name: 'lap\ud800top' }],
    ['/auth/cli', 'name', { name: 'lap\u2028top' }],
    ['/auth/cli', 'name', { name: 'x'.repeat(201) }],
    ['/auth/cli', 'scope', { scope: 'all' }],
    ['/auth/cli/cli-00000000000000000000/token', 'secret', {}],
    ['/auth/cli/cli-00000000000000000000/token', 'secret', { secret: 1 }],
    ['/auth/cli/cli-00000000000000000000/token', 'extra', { secret: 'x', extra: 1 }],
  ])('POST %s names the faulty field: %s in %j', async (path, field, body) => {
    const answer = await terminal(path, body)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(new RegExp(`^${field}: `))
  })
})
