import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { guardMetadata } from '#daemon/environments/metadata.ts'
import type { World } from '#daemon/world.ts'
import { recentLog } from '#server/log.ts'
import { openContext } from '../support/context.ts'

const NOBODY = 65_534

let close: () => Promise<void>
beforeAll(async () => ({ close } = await openContext()))
afterEach(() => vi.restoreAllMocks())
afterAll(() => close())

const networks = { names: () => [], list: async () => [] }
const warnings = () =>
  recentLog('warn', 10).map(({ message, fields }) => `${message}: ${String(fields.reason)}`)

test('it is said once what containers can reach if the server cannot close it', async () => {
  const world = { reachByAddress: false, metadataFault: null, engine: { networks } } as unknown as World
  await guardMetadata(world)
  await guardMetadata(world)
  expect(world.metadataFault).toBe(
    'the engine is rootless or in a virtual machine: its networks are not on this host',
  )
  expect(warnings()).toEqual([
    expect.stringMatching(
      /^containers can reach link-local and metadata addresses, .*: the engine is rootless/,
    ),
  ])

  world.reachByAddress = true
  vi.spyOn(process, 'getuid').mockReturnValue(NOBODY)
  await guardMetadata(world)
  expect(world.metadataFault).toBe('the server does not run as root')
  expect(warnings()).toHaveLength(2)
})

test('nothing is done before the networks of the engine are known', async () => {
  const world = { reachByAddress: null, metadataFault: null } as unknown as World
  await guardMetadata(world)
  expect(world.metadataFault).toBeNull()
})
