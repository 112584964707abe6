import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const UNKNOWN = 'job-0123456789abcdef0123'

let made = 0
let name: string

beforeEach(() => {
  name = `job-of-${++made}`
})

async function create(fields: object = {}): Promise<void> {
  const { status } = await server.api('POST', '/services', {
    name,
    image: 'busybox:1',
    deploy: false,
    ...fields,
  })
  expect(status).toBe(201)
}

const CRON = { type: 'cron_job', schedule: '0 3 * * *' }

describe('a job', () => {
  it('of a service that is not a cron job needs a command', async () => {
    await create()
    const { status, body } = await server.api('POST', `/services/${name}/jobs`)
    expect(status).toBe(400)
    expect(body.error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/^command: /) as string,
    })
  })

  it.each([
    ['an empty command', { command: ' ' }],
    ['a command with NUL', { command: 'a\0b' }],
    ['a command that is no text', { command: 7 }],
    ['a command that is too long', { command: 'x'.repeat(16 * 1024 + 1) }],
    ['an unknown field', { cmd: 'true' }],
  ])('with %s is refused', async (_, body) => {
    await create()
    expect((await server.api('POST', `/services/${name}/jobs`, body)).status).toBe(400)
  })

  it.each([
    ['a one-off', {}, { command: 'true' }],
    ['a run of a cron job', CRON, undefined],
    ['a one-off on a static site', { type: 'static_site', image: undefined }, { command: 'true' }],
  ])('(%s) is refused while no image is live', async (_, fields, body) => {
    await create(fields)
    const answer = await server.api('POST', `/services/${name}/jobs`, body)
    expect(answer.status).toBe(409)
    expect(answer.body.error.message).toContain('no live image')
  })

  it('is refused while its service is suspended', async () => {
    await create(CRON)
    await server.api('POST', `/services/${name}/suspend`)
    const { status, body } = await server.api('POST', `/services/${name}/jobs`)
    expect(status).toBe(409)
    expect(body.error.message).toContain('suspended')
  })

  it('of an unknown service is not found', async () => {
    expect((await server.api('POST', '/services/none/jobs', { command: 'true' })).status).toBe(404)
    expect((await server.api('GET', '/services/none/jobs')).status).toBe(404)
  })

  it('that is unknown is not found', async () => {
    for (const id of [UNKNOWN, 'x']) {
      expect((await server.api('GET', `/jobs/${id}`)).status).toBe(404)
      expect((await server.api('POST', `/jobs/${id}/cancel`)).status).toBe(404)
      const logs = await server.api('GET', `/jobs/${id}/logs?follow`)
      expect(logs.status).toBe(404)
      expect(logs.body.error.code).toBe('not_found')
    }
  })
})

describe('the list of jobs', () => {
  it('is empty at first, and its limit is clamped and must be a number', async () => {
    await create(CRON)
    for (const query of ['', '?limit=0', '?limit=-5', '?limit=100000']) {
      expect(await server.api('GET', `/services/${name}/jobs${query}`)).toMatchObject({
        status: 200,
        body: [],
      })
    }
    expect((await server.api('GET', `/services/${name}/jobs?limit=x`)).status).toBe(400)
  })
})
