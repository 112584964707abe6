import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import {
  floorOf,
  fullerOf,
  isBelowFloor,
  readFileSystems,
  type FileSystem,
} from '#server/disk-use/file-systems.ts'
import { readOptions } from '#server/options/index.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3

function optionsOf(...flags: string[]) {
  return readOptions(['--data-dir', tmpdir(), ...flags], {})
}

function fileSystem(freeBytes: number, floorBytes: number): FileSystem {
  return {
    path: '/any',
    device: 1,
    totalBytes: 100 * GIB,
    freeBytes,
    floorBytes,
    totalInodes: 0,
    freeInodes: 0,
  }
}

test.each([
  [[], 100 * GIB, 5 * GIB],
  [[], 4 * GIB, GIB],
  [['--disk-floor', '2.5%'], 100 * GIB, 2.5 * GIB],
  [['--disk-floor', '0%'], 100 * GIB, GIB],
  [['--disk-floor', '2GiB'], 4 * GIB, 2 * GIB],
  [['--disk-floor', '500MiB'], 4 * GIB, 500 * MIB],
  [['--disk-floor', '8191TiB'], 4 * GIB, 8_191 * 1_024 * GIB],
])('%j of a disk of %d bytes must keep %d bytes free', (flags, total, floor) => {
  expect(floorOf(optionsOf(...flags).diskFloor, total)).toBe(floor)
})

test.each(['5', '101%', '2GB', '2 GiB', '1.5GiB', '8192TiB', 'GiB', ''])(
  'the floor "%s" is refused, or empty',
  (value) => {
    const read = () => optionsOf('--disk-floor', value)
    if (value === '') expect(read().diskFloor).toEqual(optionsOf().diskFloor)
    else
      expect(read).toThrow(
        `--disk-floor (DEPLOYER_DISK_FLOOR) must be a share such as 5%, or a size such as 500MiB, 2GiB or 1TiB, not "${value}"`,
      )
  },
)

test('the file system with less room above its floor counts, and exactly the floor is enough', () => {
  const [roomy, tight] = [fileSystem(9 * GIB, 5 * GIB), fileSystem(20 * GIB, 20 * GIB)]
  expect(fullerOf({ data: roomy, engine: tight })).toBe(tight)
  expect(fullerOf({ data: tight, engine: roomy })).toBe(tight)
  expect(fullerOf({ data: roomy, engine: null })).toBe(roomy)
  expect(isBelowFloor(tight)).toBe(false)
  expect(isBelowFloor(fileSystem(20 * GIB - 1, 20 * GIB))).toBe(true)
})

test('an engine whose folder is not on this host has no file system here', async () => {
  const { data, engine } = await readFileSystems(optionsOf(), '/there/is/no/such/folder')
  expect(engine).toBeNull()
  expect(data.totalBytes).toBeGreaterThanOrEqual(data.freeBytes)
  expect((await readFileSystems(optionsOf(), tmpdir())).engine?.totalBytes).toBe(data.totalBytes)
})
