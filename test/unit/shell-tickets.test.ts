import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { createEvent } from 'h3'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { endSession, openSession } from '#server/accounts/sessions.ts'
import { useDatabase } from '#server/context.ts'
import { identify } from '#server/http/auth.ts'
import { openerOf } from '#server/http/opener.ts'
import type { OfferedSocket } from '#server/http/web-socket.ts'
import type { Shell } from '#server/shells/schema.ts'
import { isOpenShell, joinShell, openShell } from '#server/shells/shells.ts'
import { createToken, revokeToken } from '#server/tokens/operations.ts'
import { deleteToken } from '#server/tokens/store.ts'
import { openContext } from '../support/context.ts'

const HOUR_MS = 3_600_000

let close: () => Promise<void>

beforeAll(async () => {
  ;({ close } = await openContext())
})
afterAll(() => close())
// The server looks every two seconds whether credentials have ended. No test here may be right only after that.
beforeEach(() =>
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] }),
)
afterEach(() => vi.useRealTimers())

/** Opens a shell by a request with these headers. The program in it runs until it is closed. */
async function openBy(headers: Record<string, string>): Promise<Shell> {
  const request = new IncomingMessage(new Socket())
  Object.assign(request, { method: 'POST', headers: { host: 'localhost:7878', ...headers } })
  const event = createEvent(request, new ServerResponse(request))
  const stream = new Duplex({ read() {}, write: (_, __, done) => done() })
  const program = {
    stream,
    resize: async () => {},
    end: () => new Promise<never>(() => {}),
    close: async () => void stream.destroy(),
    fault: () => null,
  }
  const resource = { kind: 'service' as const, id: null, name: 'web', environment: null }
  return openShell(openerOf(event, identify(event)), async () => ({ program, container: 'web-1', resource }))
}

/** Connects to a shell with a ticket, as a client that has left by then. Returns whether it was let in. */
async function connect({ id, ticket }: Shell): Promise<boolean> {
  const accept = vi.fn<OfferedSocket['accept']>(() => null)
  await joinShell(id, ticket, {
    assertPossible: () => {},
    accept,
    isAllowed: () => true,
    watch: () => () => {},
    bytesRead: () => 0,
  })
  return accept.mock.calls.length === 1
}

function withSession() {
  const { id, secret } = openSession(useDatabase(), 'test', false)
  return { id, headers: { cookie: `deployer_session_7878=${secret}` } }
}

function withToken(expiresAt: number | null = null) {
  const { api_token, token } = createToken('test', expiresAt)
  return { id: api_token.id, headers: { authorization: `Bearer ${token}` } }
}

test.each([
  ['a session', withSession],
  ['an API token', withToken],
])('the ticket of a shell lets a client in while %s that opened it is valid', async (_, sign) => {
  const shell = await openBy(sign().headers)
  expect(await connect(shell)).toBe(true)
  await expect(connect(shell)).rejects.toMatchObject({ httpStatus: 401 })
})

test.each([
  ['the session that opened it was signed out', withSession, (id: string) => endSession(id)],
  ['the API token that opened it was revoked', withToken, (id: string) => revokeToken(id)],
  // Another process does that, which tells the server nothing.
  ['a command on the host revoked the API token', withToken, (id: string) => deleteToken(useDatabase(), id)],
  [
    'the API token that opened it has expired',
    () => withToken(Date.now() + HOUR_MS),
    () => vi.setSystemTime(Date.now() + HOUR_MS),
  ],
])('a ticket that was not used is refused once %s, and its shell ends', async (_, sign, end) => {
  const { id, headers } = sign()
  const shell = await openBy(headers)
  end(id)
  await expect(connect(shell)).rejects.toMatchObject({ code: 'unauthorized', httpStatus: 401 })
  await vi.waitUntil(() => !isOpenShell(shell.id))
})
