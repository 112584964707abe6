import { assert, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memorySettings } from '#daemon/datastores/settings.ts'

const MIN_MB = 16
const MAX_MB = 1024 * 1024

/** The number in a setting such as `96MB`. */
function megabytes(settings: Record<string, string>, key: string): number {
  return Number.parseInt(settings[key]!, 10)
}

describe('the memory settings of a relational datastore', () => {
  test('follow the shares that its manual names', () => {
    expect(memorySettings('relational', 1024)).toEqual({
      max_connections: '204',
      shared_buffers: '256MB',
      effective_cache_size: '768MB',
      maintenance_work_mem: '64MB',
      work_mem: '2MB',
    })
  })

  test('leave space below the limit, whatever it is', () => {
    assert(
      property(integer({ min: 2 * MIN_MB, max: MAX_MB }), (limit) => {
        const settings = memorySettings('relational', limit)
        expect(megabytes(settings, 'shared_buffers')).toBeLessThanOrEqual(limit / 3)
        expect(megabytes(settings, 'effective_cache_size')).toBeLessThanOrEqual(limit)
        expect(Number(settings.max_connections)).toBeGreaterThanOrEqual(20)
      }),
    )
  })
})

describe('the memory settings of a key-value datastore', () => {
  test('leave a quarter for the copies that it makes, and never evict a key', () => {
    expect(memorySettings('keyvalue', 512)).toEqual({ maxmemory: '384mb', 'maxmemory-policy': 'noeviction' })
  })
})
