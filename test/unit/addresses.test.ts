import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { provideContext, type Context } from '../../server/context.ts'
import { openDatabase, type Database } from '../../server/database/index.ts'
import { ensureProduction, findEnvironment } from '../../server/environments/store.ts'
import {
  addressAt,
  allotAddress,
  allotJobAddress,
  jobAddressHolders,
  moveAddresses,
  releaseAddress,
} from '../../server/instances/addresses.ts'

const SUBNET = '10.208.16.0/20'
/** Of the last quarter, without the broadcast address. */
const JOB_ADDRESSES = 1_023
/** The first three quarters without the first 16. */
const INSTANCE_ADDRESSES = 3_056
const HOUR_MS = 3_600_000

let folder: string
let database: Database
let environment: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deployer-addresses-'))
  database = await openDatabase(join(folder, 'test.db'))
  provideContext({ database } as Context)
  ensureProduction()
  environment = findEnvironment().id
  vi.useFakeTimers({ toFake: ['Date'] })
})

afterEach(async () => {
  vi.useRealTimers()
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

const instance = (holder: string) => allotAddress(environment, SUBNET, holder)
const job = (holder: string) => allotJobAddress(environment, SUBNET, holder)

/** Does something `count` times, in one transaction since each costs a write to the disk. */
function all<T>(count: number, work: (index: number) => T): T[] {
  return database.transaction(() => Array.from({ length: count }, (_, index) => work(index)))
}

/** Takes and returns every address of the jobs' part, a millisecond each. */
function useAllJobAddresses(): string[] {
  return all(JOB_ADDRESSES, (index) => {
    const address = job(`job-${index}`)
    releaseAddress(`job-${index}`)
    vi.advanceTimersByTime(1)
    return address
  })
}

describe('addresses', () => {
  test('of instances begin after those left to the engine, of jobs in the last quarter', () => {
    expect([instance('a'), instance('b')]).toEqual(['10.208.16.16', '10.208.16.17'])
    expect([job('j'), job('k')]).toEqual(['10.208.28.0', '10.208.28.1'])
    expect(instance('c')).toBe('10.208.16.18')
  })

  test('stay with their holder however often it asks', () => {
    expect(job('j')).toBe(job('j'))
    expect(jobAddressHolders()).toEqual(['j'])
    releaseAddress('j')
    expect(jobAddressHolders()).toEqual([])
  })

  test('of jobs are all used before one is reused, then the longest free, never the broadcast address', () => {
    const used = useAllJobAddresses()
    expect(new Set(used).size).toBe(JOB_ADDRESSES)
    expect(used.at(-1)).toBe(addressAt(SUBNET, 4_094))
    expect([job('next'), job('after')]).toEqual(used.slice(0, 2))
  })

  test('of jobs are refused when all are in use, and never taken from the instances', () => {
    instance('old')
    releaseAddress('old')
    vi.advanceTimersByTime(2 * HOUR_MS)
    all(JOB_ADDRESSES, (index) => job(`job-${index}`))
    expect(() => job('more')).toThrow('has no free address left')
    expect(instance('new')).toBe('10.208.16.17')
  })

  test('of instances are not reused for an hour, and are never taken from the jobs', () => {
    all(INSTANCE_ADDRESSES, (index) => instance(`srv-${index}`))
    expect(job('j')).toBe('10.208.28.0')
    releaseAddress('j')
    releaseAddress('srv-7')
    vi.advanceTimersByTime(HOUR_MS - 1)
    expect(() => instance('more')).toThrow('has no free address left')
    vi.advanceTimersByTime(1)
    expect(instance('more')).toBe('10.208.16.23')
  })

  test.each(['10.208.32.0/20', '10.208.16.16/28'])('move with their holders to %s', (to) => {
    for (const holder of ['a', 'b', 'c']) instance(holder)
    releaseAddress('b')
    moveAddresses(environment, SUBNET, to)
    const elsewhere = (holder: string) => allotAddress(environment, to, holder)
    const [first, third] = [addressAt(to, 16), addressAt(to, 18)]
    expect([elsewhere('a'), elsewhere('c'), elsewhere('d')]).toEqual([first, third, addressAt(to, 19)])
    // What was returned rests there as it would have here.
    vi.advanceTimersByTime(2 * HOUR_MS)
    expect(elsewhere('a')).toBe(first)
  })
})
