import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { refusal } from './account-client.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

describe('try', () => {
  it('x', async () => {
    const began = performance.now()
    const current = await server.api('GET', '/server/metrics')
    console.log(JSON.stringify(current.body, null, 1), performance.now() - began)
    await delay(22_000)
    console.log(JSON.stringify((await server.api('GET', '/server/metrics/history')).body, null, 1))
    const m = await server.request('GET', '/metrics', undefined, { headers: { authorization: `Bearer ${server.token}` } })
    console.log(m.body)
    console.log(server.logs)
  }, 60000)
})
