import { afterAll, beforeAll, expect, test } from 'vitest'
import { tryVolume } from '#daemon/datastores/fill.ts'
import { imageOf } from '#daemon/datastores/image.ts'
import type { World } from '#daemon/world.ts'
import { createDatastore, newVolume } from '#server/datastores/operations.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { openContext } from '../support/context.ts'
import { never, openBench, type Bench } from './engine-support.ts'

let bench: Bench
let world: World
let row: DatastoreRow
let imageId: string
let close: () => Promise<void>

beforeAll(async () => {
  ;({ close } = await openContext())
  bench = await openBench()
  const { engine } = bench
  world = { engine, engineOf: () => engine, reachByAddress: null } as unknown as World
  row = createDatastore({ kind: 'keyvalue', name: 'cache' })
  imageId = await imageOf(world, row, never())
})
afterAll(async () => {
  for (const { name } of bench.ledger.list('volume')) await bench.engine.volumes.remove(name)
  await bench.close()
  await close()
})

/** A volume of the datastore in which a command has left something. */
async function volumeAfter(command: string): Promise<string> {
  const volume = newVolume(row.id)
  await bench.engine.volumes.create(volume, {})
  await bench.output(command, { volumes: [{ name: volume, path: '/data' }] })
  return volume
}

test('a copy of a volume is tried by the program that is to serve it, which is gone afterwards', async () => {
  const volume = await volumeAfter('true')
  await tryVolume(world, row, { volume, imageId }, never())
  expect(await bench.engine.containers.inspect(volume)).toBeNull()
  // What it began with is there for the datastore itself.
  const left = await bench.output('ls /data', { volumes: [{ name: volume, path: '/data' }] })
  expect(left).not.toEqual([])
})

test('a copy that the program cannot read is not used, and the reason is told', async () => {
  const volume = await volumeAfter(
    'mkdir /data/appendonlydir; echo nonsense > /data/appendonlydir/appendonly.aof.manifest',
  )
  await expect(tryVolume(world, row, { volume, imageId }, never())).rejects.toMatchObject({
    code: 'runtime_error',
    message: expect.stringContaining('manifest'),
  })
  expect(await bench.engine.containers.inspect(volume)).toBeNull()
})

test('a trial that is canceled ends', async () => {
  const volume = await volumeAfter('true')
  const canceled = AbortSignal.abort(new Error('the move was canceled'))
  await expect(tryVolume(world, row, { volume, imageId }, canceled)).rejects.toThrow('the move was canceled')
  expect(await bench.engine.containers.inspect(volume)).toBeNull()
})
