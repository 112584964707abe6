import { execFile } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { createServer, request as forward } from 'node:https'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as breathe } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startAuthority, type Authority } from '../stand/acme.ts'
import { startReceiver, toldTo } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'
import { startPlace, type Place } from './place.ts'

interface Row {
  status: string
  order_url: string | null
  retry_at: number | null
  version: string | null
}

let place: Place
let second: Authority | undefined
/** What stands before the authority: answers in its place when it is set. */
let instead: { status: number; headers: Record<string, string>; detail: string } | null = null
let front: ReturnType<typeof createServer>

beforeAll(async () => {
  place = await startPlace({ authority: { blocked: ['blocked.example.com'], badNonces: 0 } })
})
afterAll(async () => {
  await place?.stop()
  await second?.stop()
  front?.close()
})

function readRow(host: string): Row | undefined {
  const database = new DatabaseSync(join(place.server.dataDirectory, 'deployer.db'), { readOnly: true })
  try {
    return database.prepare('SELECT * FROM certificates WHERE id = ?').get(host) as Row | undefined
  } finally {
    database.close()
  }
}

/** Makes a retry due now, as if the wait were over. */
function skipWait(host: string): void {
  setMoment('retry_at', host)
}

/** Makes a renewal due now. */
function renewNow(host: string): void {
  setMoment('renew_at', host)
}

function setMoment(column: 'retry_at' | 'renew_at', host: string): void {
  const database = new DatabaseSync(join(place.server.dataDirectory, 'deployer.db'), { timeout: 5_000 })
  database.prepare(`UPDATE certificates SET ${column} = 0 WHERE id = ?`).run(host)
  database.close()
}

/** Writes a file until the disk is full. */
function fill(file: string): void {
  const descriptor = openSync(file, 'w')
  try {
    for (;;) writeSync(descriptor, Buffer.alloc(1_024))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(descriptor)
  }
}

function folderOf(host: string): string {
  return join(place.server.dataDirectory, 'certificates', host)
}

function newOrders(): number {
  return requestsTo('/order-plz')
}

/** How often the authority was asked for something. */
function requestsTo(path: string): number {
  return place.authority.log.split(`${path} -> calling`).length - 1
}

describe('kill -9 during an order', () => {
  let proofsBefore = 0
  let signedBefore = 0
  const steps: [string, (host: string) => boolean][] = [
    ['when it begins', (host) => readRow(host)?.status === 'issuing'],
    ['when the authority has the order', (host) => (readRow(host)?.order_url ?? null) !== null],
    ['when the key is kept', (host) => existsSync(join(folderOf(host), 'next.privkey.pem'))],
    ['when its proof is shown', () => requestsTo('/chalZ/') > proofsBefore],
    ['when the authority was told to sign', () => requestsTo('/finalize-order/') > signedBefore],
    [
      'when the certificate is written',
      (host) =>
        existsSync(folderOf(host)) && readdirSync(folderOf(host)).some((file) => /fullchain/.test(file)),
    ],
  ]

  test.each(steps.map(([when, isThere], index) => ({ when, isThere, name: `step${index}` })))(
    '$when is taken up by the next start',
    async ({ isThere, name }) => {
      const host = `${name}.example.com`
      const before = newOrders()
      proofsBefore = requestsTo('/chalZ/')
      signedBefore = requestsTo('/finalize-order/')
      const created = place.server.api('POST', '/services', { name }).catch(() => null)
      const deadline = performance.now() + 20_000
      while (!isThere(host)) {
        if (performance.now() > deadline) throw new Error(`${host} did not get there`)
        await breathe()
      }
      await place.server.kill('SIGKILL')
      await created
      await place.server.restart()
      await place.reaches(host, 'issued')
      expect(await place.shown(host)).toMatchObject({ subjectaltname: `DNS:${host}` })
      // What was ordered is not ordered once more, but where the kill came before that was written.
      expect(newOrders() - before).toBeLessThanOrEqual(2)
      const files = readdirSync(folderOf(host))
      expect(files).toContain('fullchain.pem')
      expect(files.filter((file) => file.endsWith('.new'))).toEqual([])
    },
  )
})

test('a full disk fails the attempt before anything is signed, while the old certificate serves on', async () => {
  const host = 'full.example.com'
  const folder = folderOf(host)
  mkdirSync(folder, { recursive: true })
  await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder])
  try {
    await place.server.api('POST', '/services', { name: 'full' })
    const first = await place.reaches(host, 'issued')
    const shown = await place.shown(host)
    fill(join(folder, 'filler'))
    const signed = requestsTo('/finalize-order/')
    renewNow(host)
    const failed = await place.reaches(host, 'failed')
    expect(failed).toMatchObject({ error: expect.stringContaining('ENOSPC'), expires_at: first.expires_at })
    expect(failed.retry_at).not.toBeNull()
    expect(requestsTo('/finalize-order/')).toBe(signed)
    expect((await place.shown(host)).serialNumber).toBe(shown.serialNumber)

    rmSync(join(folder, 'filler'))
    skipWait(host)
    await place.reaches(host, 'issued')
    expect((await place.shown(host)).serialNumber).not.toBe(shown.serialNumber)
  } finally {
    await promisify(execFile)('umount', ['--lazy', folder])
  }
})

describe('an authority that does not issue', () => {
  test('and refuses a name is asked again later, and the entry says why and when', async () => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const events = ['certificate.failed']
    await place.server.api('POST', '/notifications', {
      name: 'n',
      kind: 'webhook',
      url: receiver.url,
      events,
    })
    await place.server.api('POST', '/services', { name: 'blocked' })
    const entry = await place.reaches('blocked.example.com', 'failed')
    expect(entry).toMatchObject({ expires_at: null, source: null })
    expect(entry.error).toMatch(/policy|blocked|forbid/i)
    const wait = Date.parse(entry.retry_at) - Date.now()
    expect(wait).toBeGreaterThan(30_000)
    expect(wait).toBeLessThan(80_000)
    await waitFor(() => receiver.received.length > 0, 'the message')
    expect(toldTo(receiver)).toMatchObject([
      { type: 'certificate.failed', data: { host: 'blocked.example.com', error: entry.error } },
    ])
  })

  test('and throttles is asked again when it said', async () => {
    front = createServer(
      { cert: readFileSync(place.authority.caFile), key: readFileSync(place.authority.keyFile) },
      (incoming, response) => {
        const isOrder = incoming.url === '/order-plz'
        if (instead && isOrder) {
          response.writeHead(instead.status, {
            'content-type': 'application/problem+json',
            ...instead.headers,
          })
          response.end(
            JSON.stringify({ type: 'urn:ietf:params:acme:error:rateLimited', detail: instead.detail }),
          )
          incoming.resume()
          return
        }
        const { host, ...headers } = incoming.headers
        const passed = forward(
          {
            host: '127.0.0.1',
            port: place.authority.ports[0],
            path: incoming.url,
            method: incoming.method,
            headers: { ...headers, host },
            ca: readFileSync(place.authority.caFile),
            servername: 'localhost',
          },
          (answer) => {
            response.writeHead(answer.statusCode!, answer.headers)
            answer.pipe(response)
          },
        )
        incoming.pipe(passed)
      },
    ).listen(0, '127.0.0.1')
    await waitFor(() => front.address() !== null, 'the front')
    const { port } = front.address() as { port: number }
    await place.server.kill('SIGTERM')
    const throttled = await startPlace({
      server: {
        flags: [
          '--acme-directory',
          `https://localhost:${port}/dir`,
          '--acme-ca-file',
          place.authority.caFile,
        ],
      },
    })
    try {
      instead = { status: 429, headers: { 'retry-after': '3600' }, detail: 'too many certificates' }
      await throttled.server.api('POST', '/services', { name: 'many' })
      const entry = await throttled.reaches('many.example.com', 'failed')
      expect(entry.error).toContain('too many certificates')
      const wait = Date.parse(entry.retry_at) - Date.now()
      expect(wait).toBeGreaterThan(3_500_000)
      expect(wait).toBeLessThanOrEqual(3_600_000)
    } finally {
      await throttled.stop()
      instead = null
    }
    await place.server.restart()
  })

  test('because it is down costs no attempt, and is found again', async () => {
    await place.authority.stop({ keepFiles: true })
    await place.server.api('POST', '/services', { name: 'patient' })
    const entry = await place.reaches('patient.example.com', 'failed')
    expect(entry.error).toContain('does not answer')
    expect(entry.retry_at).not.toBeNull()
    // What was certified before serves on.
    expect(await place.shown('step0.example.com', { rejectUnauthorized: false })).toMatchObject({
      subjectaltname: 'DNS:step0.example.com',
    })
    // Another authority at the same place, which does not know the account either.
    second = await startAuthority({ dns: place.names, httpPort: 80, httpsPort: 443, former: place.authority })
    await place.server.kill('SIGKILL')
    skipWait('patient.example.com')
    await place.server.restart()
    await place.reaches('patient.example.com', 'issued')
  })
})
