import { describe, expect, test } from 'vitest'
import { examine } from '#daemon/doctor/examine.ts'
import { failed, listed, passed, skipped, warning, worstOf, type Check } from '#daemon/doctor/check.ts'
import { judgeDatastore, judgeServer } from '#daemon/doctor/checks/backups.ts'
import { judgeCertificates } from '#daemon/doctor/checks/certificates.ts'
import { dateGap, judgeGap } from '#daemon/doctor/checks/clock.ts'
import { judgeModes, judgeOwners } from '#daemon/doctor/checks/data-directory.ts'
import { buildLimits, engine, logDriver, storageDriver } from '#daemon/doctor/checks/engine.ts'
import { containerAddresses, metadataAddresses, resolver } from '#daemon/doctor/checks/networks.ts'
import { judgeOpener } from '#daemon/doctor/checks/open-files.ts'
import { judgeDisk, judgeInodes, judgeMemory } from '#daemon/doctor/checks/space.ts'
import type { Facts } from '#daemon/doctor/facts.ts'
import { CHECKS } from '#daemon/doctor/table.ts'
import type { EngineInfo } from '#daemon/engine/index.ts'
import type { ServerBackupRow } from '#server/server-backups/store.ts'
import type { BackupRow } from '#server/backups/store.ts'
import type { CertificateEntry } from '#server/certificates/schema.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { CHECK_IDS } from '#server/doctor/schema.ts'
import { hide } from '#server/text/redaction.ts'

const DAY_MS = 86_400_000
const LIMIT_MS = 50

const facts = (parts: object = {}) =>
  ({ world: null, serverFault: 'no server runs', recordsFault: 'there is no database', ...parts }) as Facts
const check = (look: Check['look'], more: Partial<Check> = {}): Check => ({
  id: 'disk',
  title: 'Disk space',
  fix: 'look at it',
  look,
  ...more,
})

describe('an examination', () => {
  test('has every check of the contract, in its order', () => {
    expect(CHECKS.map(({ id }) => id)).toEqual(CHECK_IDS)
  })

  test('makes a verdict of a check that hangs, and of one that breaks', async () => {
    const aborted: string[] = []
    const hangs = check((_, signal) => {
      signal.addEventListener('abort', () => aborted.push('hangs'))
      return new Promise(() => {})
    })
    const breaks = check(() => {
      throw new Error('the cable is cut')
    })
    const works = check(() => passed('fine'))
    expect(await examine([hangs, breaks, works], facts(), LIMIT_MS)).toEqual([
      expect.objectContaining({
        outcome: 'failed',
        message: 'there was no result within 0.05 s',
        fix: 'look at it',
      }),
      expect.objectContaining({ outcome: 'failed', message: 'the cable is cut', fix: 'look at it' }),
      { id: 'disk', title: 'Disk space', outcome: 'passed', message: 'fine', fix: null },
    ])
    expect(aborted).toEqual(['hangs'])
  })

  test('skips what needs a server or its records where there are none, and says so', async () => {
    const look = () => passed('fine')
    const found = await examine(
      [check(look, { needs: 'server' }), check(look, { needs: 'records' })],
      facts(),
    )
    expect(found.map(({ outcome, message }) => [outcome, message])).toEqual([
      ['skipped', 'no server runs'],
      ['skipped', 'there is no database'],
    ])
  })

  test('shows no secret, and no line that others have broken', async () => {
    hide('hush-hush-1234')
    const look = () => passed('it has hush-hush-1234\nand https://me:too@example.com')
    const [found] = await examine([check(look)], facts())
    expect(found!.message).toBe('it has *** and https://***@example.com')
  })
})

test('several verdicts are one, as bad as the worst, with every message that is as bad', () => {
  const all = [passed('a'), warning('b', 'do b'), skipped('c'), warning('d', 'do d')]
  expect(worstOf(all)).toEqual(warning('b; d', 'do b'))
  expect(worstOf([...all, failed('e', 'do e')])).toEqual(failed('e', 'do e'))
  expect(worstOf([skipped('c'), passed('a')])).toEqual(passed('a'))
  expect(listed(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 more')
})

describe('the engine', () => {
  const info: EngineInfo = {
    name: 'docker',
    version: '28.2.2',
    apiVersion: '1.50',
    cpus: 2,
    memoryBytes: 1,
    cgroupVersion: '2',
    dataRoot: '/var/lib/docker',
    rootless: false,
    storageDriver: 'overlay2',
    logDrivers: ['json-file', 'local'],
    cgroupDriver: 'cgroupfs',
    clockGapMs: 0,
  }
  const outcomeOf = async ({ look }: Check, changed: Partial<EngineInfo> | null) => {
    const found = changed && { ...info, ...changed }
    const engine = { socketPath: '/run/docker.sock' }
    const engineInfo = async () => found!
    return look(
      facts({ engine, engineInfo, engineInfoIfAny: async () => found }),
      new AbortController().signal,
    )
  }

  test('stores images well, or has a driver that does not', async () => {
    expect((await outcomeOf(storageDriver, {})).outcome).toBe('passed')
    expect(await outcomeOf(storageDriver, { storageDriver: 'vfs' })).toMatchObject({
      outcome: 'warning',
      message: expect.stringMatching(/vfs, which copies every layer/),
      fix: expect.stringMatching(/overlay2.*\/var\/lib\/docker/),
    })
  })

  test('has the log driver of every container, or creates none', async () => {
    expect((await outcomeOf(logDriver, {})).outcome).toBe('passed')
    expect((await outcomeOf(logDriver, { logDrivers: ['journald'] })).outcome).toBe('failed')
    expect((await outcomeOf(logDriver, { logDrivers: [] })).outcome).toBe('skipped')
  })

  test.each([
    [{ name: 'podman' as const }, /podman has no BuildKit/],
    [{ rootless: true }, /the engine is rootless/],
    [{ cgroupDriver: 'systemd' }, /the systemd cgroup driver/],
  ])('cannot limit its builds if it is %o', async (changed, why) => {
    expect(await outcomeOf(buildLimits, changed)).toMatchObject({
      outcome: 'warning',
      message: expect.stringMatching(why),
    })
  })

  test('that does not answer leaves the others nothing to look at', async () => {
    for (const each of [storageDriver, logDriver, buildLimits])
      expect((await outcomeOf(each, null)).outcome).toBe('skipped')
  })

  test('that the server has lost is a warning, even if it answers again', async () => {
    const parts = {
      engine: { socketPath: '/s' },
      engineInfo: async () => info,
      world: { engineFault: 'it went away' },
    }
    expect(await engine.look(facts(parts), new AbortController().signal)).toMatchObject({
      outcome: 'warning',
      message: expect.stringMatching(/Docker 28.2.2 answers at \/s, but .*it went away/),
    })
  })
})

describe('networks', () => {
  const outcomeOf = async ({ look }: Check, world: object, options: object = {}) =>
    look(facts({ world, options: { allowMetadata: false, ...options } }), new AbortController().signal)

  test('are unknown until the engine has answered', async () => {
    for (const each of [containerAddresses, resolver, metadataAddresses])
      expect(await outcomeOf(each, { reachByAddress: null })).toMatchObject({
        outcome: 'skipped',
        message: 'the engine has not answered since the server started',
      })
  })

  test('reach containers by address, or by published ports and the names of the engine', async () => {
    expect((await outcomeOf(containerAddresses, { reachByAddress: true })).outcome).toBe('passed')
    expect((await outcomeOf(containerAddresses, { reachByAddress: false })).outcome).toBe('warning')
    expect((await outcomeOf(resolver, { reachByAddress: false })).outcome).toBe('skipped')
  })

  test('are closed to metadata addresses, or say why not', async () => {
    const world = { reachByAddress: true, metadataFault: null }
    expect((await outcomeOf(metadataAddresses, world)).outcome).toBe('passed')
    expect((await outcomeOf(metadataAddresses, world, { allowMetadata: true })).outcome).toBe('skipped')
    expect(
      await outcomeOf(metadataAddresses, { ...world, metadataFault: 'nft is not installed' }),
    ).toMatchObject({
      outcome: 'warning',
      message: expect.stringMatching(/clouds hand out credentials: nft is not installed$/),
    })
  })
})

describe('what is left', () => {
  const at = (free: number) => ({
    path: '/data',
    totalBytes: 100 * 1024 ** 3,
    freeBytes: free * 1024 ** 3,
    totalInodes: 1_000,
    freeInodes: free * 10,
  })

  test.each([
    [15, 'passed'],
    [14, 'warning'],
    [5, 'warning'],
    [4, 'failed'],
  ])('of space and inodes: %i %% is %s', (free, outcome) => {
    expect(judgeDisk([at(free)]).outcome).toBe(outcome)
    expect(judgeInodes([at(free)]).outcome).toBe(outcome)
  })

  test('is said of each file system that is as bad', () => {
    const message = '/data: 4.0 GiB (4 %) are free; /data: 3.0 GiB (3 %) are free'
    expect(judgeDisk([at(4), at(50), at(3)]).message).toBe(message)
    expect(judgeInodes([{ ...at(0), totalInodes: 0 }]).outcome).toBe('passed')
  })

  test.each([
    [10, 'passed'],
    [9, 'warning'],
    [4, 'failed'],
  ])('of memory: %i %% is %s', (available, outcome) => {
    expect(judgeMemory(available, 100).outcome).toBe(outcome)
  })

  test.each([
    [100, 65_536, 'passed'],
    [56_000, 65_536, 'warning'],
    [63_000, 65_536, 'failed'],
    [100, 1_024, 'warning'],
    [100, Infinity, 'passed'],
  ])('of open files: %i of %d is %s', (used, limit, outcome) => {
    expect(judgeOpener({ name: 'worker 1', used, limit }).outcome).toBe(outcome)
  })
})

test.each([
  [0, 'passed', 'the clock agrees with that of ca.example'],
  [-29_000, 'passed', 'the clock agrees with that of ca.example'],
  [31_000, 'warning', 'the clock is 31 s behind that of ca.example'],
  [-301_000, 'failed', 'the clock is 301 s ahead of that of ca.example'],
])('a clock that another one is %i ms ahead of: %s', (gap, outcome, message) => {
  expect(judgeGap(gap, 'that of ca.example')).toMatchObject({ outcome, message })
})

test('the date of an answer says nothing within its own second and the time of the answer', () => {
  expect(dateGap(10_000, 10_900, 11_500)).toBe(0)
  expect(dateGap(10_000, 11_400, 11_500)).toBe(-400)
  expect(dateGap(12_000, 10_900, 11_500)).toBe(500)
})

describe('backups of a datastore', () => {
  const now = Date.parse('2026-03-04T12:00:00Z')
  const row = (more: Partial<DatastoreRow> = {}) =>
    ({
      name: 'main',
      kind: 'relational',
      backup_schedule: '0 3 * * *',
      created_at: now - 30 * DAY_MS,
      ...more,
    }) as DatastoreRow
  const backup = (status: BackupRow['status'], days: number, more: Partial<BackupRow> = {}) =>
    ({ status, created_at: now - days * DAY_MS, error: null, object_url: null, ...more }) as BackupRow
  const judged = (of: DatastoreRow, backups: BackupRow[], hasBucket = false) =>
    judgeDatastore(of, backups, { hasBucket, now }).outcome

  test.each([
    ['a new one', row({ created_at: now - 3_600_000 }), [], 'passed'],
    ['one that was never backed up', row(), [], 'warning'],
    ['a recent backup', row(), [backup('succeeded', 1)], 'passed'],
    ['an old backup', row(), [backup('running', 0), backup('succeeded', 3)], 'warning'],
    [
      'a failed one on top',
      row(),
      [backup('failed', 0, { error: 'no space' }), backup('succeeded', 1)],
      'failed',
    ],
    ['a failed one below', row(), [backup('succeeded', 0), backup('failed', 1)], 'passed'],
    ['a database without a schedule', row({ backup_schedule: null }), [], 'warning'],
    ['the same, backed up by hand', row({ backup_schedule: null }), [backup('succeeded', 300)], 'passed'],
    ['a cache without a schedule', row({ backup_schedule: null, kind: 'keyvalue' }), [], 'passed'],
  ])('of %s', (_, of, backups, outcome) => {
    expect(judged(of, backups)).toBe(outcome)
  })

  test('are on this host alone if the bucket refused the newest', () => {
    const refused = [backup('succeeded', 0, { error: 'the bucket refused the key' })]
    expect(judged(row(), refused, true)).toBe('warning')
    expect(judged(row(), refused, false)).toBe('passed')
  })
})

describe('backups of the server', () => {
  const now = Date.parse('2026-03-02T12:00:00Z')
  const backup = (status: ServerBackupRow['status'], days: number, more: Partial<ServerBackupRow> = {}) =>
    ({
      status,
      damaged: 0,
      created_at: now - days * DAY_MS,
      error: null,
      object_url: null,
      ...more,
    }) as ServerBackupRow

  test.each([
    ['a new server', [], {}, 'passed'],
    ['none for two nights', [], { since: now - 3 * DAY_MS }, 'warning'],
    ['a recent one', [backup('succeeded', 1)], {}, 'passed'],
    ['an old one', [backup('running', 0), backup('succeeded', 3)], {}, 'warning'],
    [
      'one of Friday, on a Monday, if it is made on work days',
      [backup('succeeded', 3)],
      { schedule: '0 3 * * 1-5' },
      'passed',
    ],
    ['a failed one on top', [backup('failed', 0), backup('succeeded', 1)], {}, 'failed'],
    ['a canceled one on top', [backup('canceled', 0), backup('succeeded', 1)], {}, 'passed'],
    ['one that is damaged', [backup('succeeded', 0, { damaged: 1 })], { since: now - 3 * DAY_MS }, 'warning'],
    ['neither one nor a schedule', [], { schedule: null }, 'warning'],
    [
      'one that the bucket refused',
      [backup('succeeded', 0, { error: 'no' })],
      { hasBucket: true },
      'warning',
    ],
  ])('%s', (_, backups, wanted, outcome) => {
    const usual = { schedule: '17 3 * * *', since: now, hasBucket: false, now }
    expect(judgeServer(backups, { ...usual, ...wanted }).outcome).toBe(outcome)
  })
})

describe('certificates', () => {
  const now = Date.parse('2026-03-04T12:00:00Z')
  const entry = (
    state: CertificateEntry['state'],
    daysLeft: number | null,
    more: Partial<CertificateEntry> = {},
  ) =>
    ({
      host: 'www.example.com',
      state,
      expires_at: daysLeft === null ? null : new Date(now + daysLeft * DAY_MS).toISOString(),
      not_before: daysLeft === null ? null : new Date(now + (daysLeft - 90) * DAY_MS).toISOString(),
      error: null,
      source: daysLeft === null ? null : 'acme',
      ...more,
    }) as CertificateEntry

  test.each([
    ['issued', [entry('issued', 60)], 'passed', /^1 of 1 hosts/],
    ['close to its end', [entry('issued', 10)], 'warning', /expires soon of www.example.com/],
    ['still there after a failed renewal', [entry('failed', 40, { error: 'no' })], 'passed', /^1 of 1/],
    ['expired', [entry('failed', -1, { error: 'rate limit' })], 'failed', /has expired .*\(rate limit\)/],
    ['refused', [entry('failed', null, { error: 'CAA' })], 'failed', /no certificate for .*\(CAA\)/],
    [
      'waiting for DNS',
      [entry('pending', null, { error: 'does not lead here' })],
      'warning',
      /not lead here/,
    ],
    ['being ordered', [entry('issuing', null)], 'passed', /^0 of 1/],
    ['not needed', [entry('local', null)], 'skipped', /all names are local/],
  ])('%s', (_, entries, outcome, message) => {
    expect(judgeCertificates(entries, now)).toMatchObject({
      outcome,
      message: expect.stringMatching(message),
    })
  })
})

describe('the data directory', () => {
  const entry = (name: string, mode: number, uid = 0) => ({ name, mode: 0o100000 + mode, uid })

  test('is closed to others, and so are its secrets', () => {
    const files = [entry('secret.key', 0o600), entry('server.json', 0o644)]
    expect(judgeModes('/data', 0o40700, files)).toEqual([])
    expect(judgeModes('/data', 0o40700, [entry('secret.key', 0o640)])).toMatchObject([
      { outcome: 'warning', fix: 'chmod 600 /data/secret.key' },
    ])
    expect(judgeModes('/data', 0o40755, [entry('secret.key', 0o644)])).toMatchObject([
      {
        outcome: 'failed',
        message: 'others can read /data (mode 0755), and in it secret.key',
        fix: 'chmod 700 /data',
      },
    ])
  })

  test('has one owner, as whom the server runs', () => {
    expect(judgeOwners('/data', 0, [entry('secret.key', 0o600)], 0)).toEqual([])
    expect(judgeOwners('/data', 0, [entry('secret.key', 0o600, 1000)], null)).toMatchObject([
      { outcome: 'warning', fix: 'chown -R 0 /data' },
    ])
    expect(judgeOwners('/data', 1000, [], 0)).toMatchObject([
      { message: expect.stringMatching(/runs as user 0/) },
    ])
  })
})
