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
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { supervisorPidFile } from '../../proxy/control/paths.ts'
import { startAuthority, type Authority } from '../stand/acme.ts'
import { databaseOf } from '../support/database.ts'
import { startReceiver, toldTo } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'
import { refusal, startFront, type Front } from './front.ts'
import { certificateRow, startPlace, type Place } from './place.ts'

let place: Place
let second: Authority | undefined
let front: Front | undefined
let throttling: Front | undefined
/** What happens when the authority is asked for a certificate that it has signed, before it answers. */
let onCertificate: () => void = () => {}

beforeAll(async () => {
  place = await startPlace({
    authority: { blocked: ['blocked.example.com'], badNonces: 0 },
    async before(authority) {
      front = await startFront(authority, ({ path }, pass) => {
        if (path.startsWith('/certZ/')) onCertificate()
        return pass()
      })
      return front.directory
    },
  })
})
afterAll(async () => {
  await place?.stop()
  await second?.stop()
  await front?.stop()
  await throttling?.stop()
})

const readRow = (host: string) => certificateRow(place.server.dataDirectory, host)

/** Makes a retry due now, as if the wait were over. */
function skipWait(host: string): void {
  setMoment('retry_at', host)
}

/** Makes a renewal due now. */
function renewNow(host: string): void {
  setMoment('renew_at', host)
}

function setMoment(column: 'retry_at' | 'renew_at', host: string): void {
  const database = databaseOf(place.server.dataDirectory)
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
  interface Step {
    when: string
    isThere: (host: string) => boolean
  }
  const steps: Step[] = [
    { when: 'it begins', isThere: (host) => readRow(host)?.status === 'issuing' },
    { when: 'its proof is shown', isThere: () => requestsTo('/chalZ/') > proofsBefore },
    {
      when: 'the certificate is written',
      isThere: (host) =>
        existsSync(folderOf(host)) && readdirSync(folderOf(host)).some((file) => /fullchain/.test(file)),
    },
  ]
  const stepsBetween: Step[] = [
    { when: 'the authority has the order', isThere: (host) => (readRow(host)?.order_url ?? null) !== null },
    { when: 'the key is kept', isThere: (host) => existsSync(join(folderOf(host), 'next.privkey.pem')) },
    {
      when: 'the authority was asked to sign',
      isThere: () => requestsTo('/finalize-order/') > signedBefore,
    },
  ]

  test.each(steps)('when $when is continued by the next start', isTakenUp)
  test.each(stepsBetween)('when $when is continued by the next start, too', { tags: ['slow'] }, isTakenUp)

  async function isTakenUp({ when, isThere }: Step): Promise<void> {
    const name = when.replaceAll(' ', '-')
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
    // What was ordered is not ordered again, unless the kill came before it was recorded.
    expect(newOrders() - before).toBeLessThanOrEqual(2)
    const files = readdirSync(folderOf(host))
    expect(files).toContain('fullchain.pem')
    expect(files.filter((file) => file.endsWith('.new'))).toEqual([])
  }
})

test('kill -9 when the new version is recorded but not used yet is continued without another order', async () => {
  const host = 'recorded.example.com'
  // The recorded version is used, and reported as issued, when the data plane continues.
  const supervisor = Number(readFileSync(supervisorPidFile(place.server.dataDirectory), 'utf8'))
  onCertificate = () => process.kill(supervisor, 'SIGSTOP')
  const created = place.server.api('POST', '/services', { name: 'recorded' }).catch(() => null)
  try {
    await waitFor(() => (readRow(host)?.version ?? null) !== null, 'the version to be recorded')
    expect(readRow(host)?.status).toBe('issuing')
    await place.server.kill('SIGKILL')
  } finally {
    onCertificate = () => {}
    process.kill(supervisor, 'SIGCONT')
  }
  await created
  const before = newOrders()
  await place.server.restart()
  await place.reaches(host, 'issued')
  expect(await place.shown(host)).toMatchObject({ subjectaltname: `DNS:${host}` })
  expect(newOrders()).toBe(before)
  const { version } = readRow(host)!
  expect(readdirSync(folderOf(host))).toEqual(
    expect.arrayContaining([`${version}.fullchain.pem`, `${version}.privkey.pem`]),
  )
})

test('a full disk fails the attempt before anything is signed, while the old certificate stays in use', async () => {
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

describe('an authority that does not issue a certificate', () => {
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
    let refused = 0
    throttling = await startFront(place.authority, ({ path }, pass) => {
      if (path !== '/order-plz') return pass()
      refused++
      return refusal(429, 'rateLimited', 'too many certificates', { 'retry-after': '3600' })
    })
    await place.server.kill('SIGTERM')
    const throttled = await startPlace({
      server: {
        flags: ['--acme-directory', throttling.directory, '--acme-ca-file', place.authority.caFile],
      },
    })
    try {
      await throttled.server.api('POST', '/services', { name: 'many' })
      const entry = await throttled.reaches('many.example.com', 'failed')
      expect(entry.error).toContain('too many certificates')
      const wait = Date.parse(entry.retry_at) - Date.now()
      expect(wait).toBeGreaterThan(3_500_000)
      expect(wait).toBeLessThanOrEqual(3_600_000)
      // It may be the account's limit: the next host waits a while before it is tried.
      await throttled.certifiesNone('many')
      expect(refused).toBe(1)
    } finally {
      await throttled.stop()
    }
    await place.server.restart()
  })

  test('because it is down costs no attempt, and is found again', async () => {
    await place.authority.stop({ keepFiles: true })
    await place.server.api('POST', '/services', { name: 'patient' })
    const entry = await place.reaches('patient.example.com', 'failed')
    expect(entry.error).toContain('does not answer')
    expect(entry.retry_at).not.toBeNull()
    // Earlier certificates stay in use.
    expect(await place.shown('it-begins.example.com', { rejectUnauthorized: false })).toMatchObject({
      subjectaltname: 'DNS:it-begins.example.com',
    })
    // Another authority at the same place, which does not know the account either.
    second = await startAuthority({ dns: place.names, httpPort: 80, httpsPort: 443, former: place.authority })
    await place.server.kill('SIGKILL')
    skipWait('patient.example.com')
    await place.server.restart()
    await place.reaches('patient.example.com', 'issued')
  })
})
