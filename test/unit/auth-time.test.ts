import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { changePassword, replacePassword, setUp, signIn } from '#server/accounts/operations.ts'
import { listSessions, openSession, resumeSession, SESSION_LIFETIME_MS } from '#server/accounts/sessions.ts'
import { ensureSetupCode } from '#server/accounts/setup-code.ts'
import {
  approveCliLogin,
  denyCliLogin,
  forgetCliLogins,
  LIFETIME_MS,
  pollCliLogin,
  startCliLogin,
  viewCliLogin,
} from '#server/cli-logins/operations.ts'
import type { Context } from '#server/context.ts'
import { createToken, listTokens, verifyToken } from '#server/tokens/operations.ts'
import { openContext } from '../support/context.ts'

const MINUTE_MS = 60_000
let context: Context
let close: () => Promise<void>

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  ;({ context, close } = await openContext())
})

afterEach(async () => {
  forgetCliLogins()
  vi.useRealTimers()
  await close()
})

describe('a session', () => {
  it('ends 30 days after its last use', () => {
    const { id, secret } = openSession(context.database, 'Browser', false)
    vi.advanceTimersByTime(SESSION_LIFETIME_MS - 1)
    expect(resumeSession(secret)).toEqual({ id, renewed: true })
    vi.advanceTimersByTime(SESSION_LIFETIME_MS - 1)
    expect(resumeSession(secret)?.id).toBe(id)
    vi.advanceTimersByTime(SESSION_LIFETIME_MS)
    expect(resumeSession(secret)).toBeUndefined()
    expect(listSessions('')).toEqual([])
  })

  it('writes its last use at most once a minute', () => {
    const { secret } = openSession(context.database, undefined, false)
    const written = () =>
      context.database.get<{ last_used_at: number }>('SELECT last_used_at FROM sessions')!.last_used_at
    const opened = written()
    vi.advanceTimersByTime(MINUTE_MS - 1)
    expect(resumeSession(secret)?.renewed).toBe(false)
    expect(written()).toBe(opened)
    vi.advanceTimersByTime(1)
    expect(resumeSession(secret)?.renewed).toBe(true)
    expect(written() - opened).toBe(MINUTE_MS)
  })

  it('is listed by its last use, also by one that is not written', () => {
    const first = openSession(context.database, undefined, false)
    vi.advanceTimersByTime(1)
    const second = openSession(context.database, undefined, false)
    vi.advanceTimersByTime(1)
    resumeSession(first.secret)
    const [used, unused] = listSessions(second.id)
    expect([used!.id, unused!.id]).toEqual([first.id, second.id])
    expect(Date.parse(used!.last_used_at)).toBe(Date.now())
    expect(Date.parse(used!.expires_at)).toBe(Date.now() + SESSION_LIFETIME_MS)
  })

  it('keeps no secret in the database', () => {
    const { secret } = openSession(context.database, undefined, false)
    expect(JSON.stringify(context.database.all('SELECT * FROM sessions'))).not.toContain(secret)
  })

  it('gives way to newer ones if there are over a thousand', () => {
    const first = openSession(context.database, undefined, false)
    context.database.transaction(() => {
      for (let i = 0; i < 1_000; i++) {
        vi.setSystemTime(Date.now() + 1)
        openSession(context.database, undefined, false)
      }
    })
    expect(listSessions('')).toHaveLength(1_000)
    expect(resumeSession(first.secret)).toBeUndefined()
  })
})

describe('an API token', () => {
  it('is not valid from the moment it expires, and stays listed', () => {
    const { token, api_token: record } = createToken('ci', Date.now() + MINUTE_MS)
    vi.advanceTimersByTime(MINUTE_MS - 1)
    expect(verifyToken(token)).toMatchObject({ id: record.id })
    vi.advanceTimersByTime(1)
    expect(verifyToken(token)).toBeUndefined()
    expect(listTokens()).toHaveLength(1)
  })

  it('writes its last use at most once a minute', () => {
    const { token } = createToken('ci', null)
    const lastUsed = () => listTokens()[0]!.last_used_at
    expect(lastUsed()).toBeNull()
    verifyToken(token)
    const first = lastUsed()
    vi.advanceTimersByTime(MINUTE_MS - 1)
    verifyToken(token)
    expect(lastUsed()).toBe(first)
    vi.advanceTimersByTime(1)
    verifyToken(token)
    expect(lastUsed()).not.toBe(first)
  })

  it('is kept as a hash', () => {
    const { token } = createToken('ci', null)
    expect(JSON.stringify(context.database.all('SELECT * FROM api_tokens'))).not.toContain(token)
  })
})

function isKnown(id: string): boolean {
  try {
    return viewCliLogin(id).id === id
  } catch {
    return false
  }
}

describe('a CLI login request', () => {
  it('waits ten minutes', () => {
    const { id } = startCliLogin('192.0.2.1', 'laptop')
    vi.advanceTimersByTime(LIFETIME_MS - 1)
    expect(viewCliLogin(id).status).toBe('pending')
    vi.advanceTimersByTime(1)
    expect(() => viewCliLogin(id)).toThrow('start again')
  })

  it('that was approved in its last moment still reaches its terminal', () => {
    const { id, secret } = startCliLogin('192.0.2.1', 'laptop')
    vi.advanceTimersByTime(LIFETIME_MS - 1)
    approveCliLogin(id, {})
    vi.advanceTimersByTime(5_000)
    expect(pollCliLogin(id, secret)).toMatchObject({ status: 'approved' })
  })

  it('that was approved and never collected leaves no token behind', () => {
    const { id } = startCliLogin('192.0.2.1', 'laptop')
    approveCliLogin(id, {})
    expect(listTokens()).toHaveLength(1)
    vi.advanceTimersByTime(LIFETIME_MS)
    expect(listTokens()).toEqual([])
  })

  it('that was collected keeps its token', () => {
    const { id, secret } = startCliLogin('192.0.2.1', 'laptop')
    approveCliLogin(id, {})
    pollCliLogin(id, secret)
    vi.advanceTimersByTime(2 * LIFETIME_MS)
    expect(listTokens()).toHaveLength(1)
  })

  it('is not blocked by any number of others, from elsewhere or from the same address', () => {
    const waiting = startCliLogin('192.0.2.1', 'laptop')
    const flood = Array.from({ length: 1_000 }, () => startCliLogin('203.0.113.7'))
    expect(flood.filter(({ id }) => isKnown(id))).toEqual(flood.slice(-10))
    expect(viewCliLogin(waiting.id)).toMatchObject({ name: 'laptop', address: '192.0.2.1' })
    expect(denyCliLogin(startCliLogin('203.0.113.7').id)).toMatchObject({ status: 'denied' })
  })

  it('is not blocked by any number of addresses, each IPv6 network counting as one', () => {
    const waiting = startCliLogin('192.0.2.1')
    for (let network = 0; network < 200; network++) {
      for (let host = 1; host <= 20; host++) startCliLogin(`2001:db8:0:${network.toString(16)}::${host}`)
    }
    expect(isKnown(waiting.id)).toBe(true)
    expect(isKnown(startCliLogin('192.0.2.2').id)).toBe(true)
  })

  it('is not blocked by somebody who has a whole /48 of IPv6', () => {
    const waiting = startCliLogin('2001:db8:1::1')
    for (let network = 0; network < 2_000; network++) startCliLogin(`2001:db8:2:${network.toString(16)}::1`)
    expect(isKnown(waiting.id)).toBe(true)
  })

  it('that was approved waits for its terminal whoever else comes', () => {
    const { id, secret } = startCliLogin('192.0.2.1')
    approveCliLogin(id, {})
    for (let i = 0; i < 100; i++) startCliLogin('192.0.2.1')
    expect(pollCliLogin(id, secret)).toMatchObject({ status: 'approved' })
  })
})

describe('a change of the password', () => {
  const before = 'correct horse'
  const after = 'battery staple'
  const email = 'admin@example.com'

  beforeEach(async () => {
    await setUp({ code: ensureSetupCode(context)!, email, password: before }, undefined)
  })

  it('rejects a sign-in that was being checked against the old one', async () => {
    const current = listSessions('')[0]!.id
    const changing = changePassword({ current_password: before, new_password: after }, current)
    const signingIn = Array.from({ length: 4 }, () => signIn({ email, password: before }, undefined))
    const outcomes = await Promise.allSettled([changing, ...signingIn])
    expect(outcomes[0].status).toBe('fulfilled')
    await expect(signIn({ email, password: after }, undefined)).resolves.toBeDefined()
    // A session opened before the change has ended with it, one opened after needed the new password.
    expect(listSessions('')).toHaveLength(2)
  })

  it('happens once if two are made at once', async () => {
    const current = listSessions('')[0]!.id
    const change = (password: string) =>
      changePassword({ current_password: before, new_password: password }, current)
    const outcomes = await Promise.allSettled([change('battery staple 1'), change('battery staple 2')])
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('on the host ends every session and keeps tokens', async () => {
    const { token } = createToken('ci', null)
    expect(await replacePassword(context.database, after)).toBe(email)
    expect(listSessions('')).toEqual([])
    expect(verifyToken(token)).toBeDefined()
    await expect(signIn({ email, password: after }, undefined)).resolves.toBeDefined()
  })
})
