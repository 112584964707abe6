import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { imageTag } from '#daemon/builds/tags.ts'
import { releaseOldImages, surplusImages } from '#daemon/cleanup/images.ts'
import { surplusImagesOfNodes } from '#daemon/cleanup/node-images.ts'
import { releaseOldSites, surplusSites } from '#daemon/cleanup/sites.ts'
import type { EngineUse } from '#daemon/engine/index.ts'
import type { World } from '#daemon/world.ts'
import { useDatabase } from '#server/context.ts'
import { siteFolder } from '#server/deploys/folders.ts'
import { queueRollback } from '#server/deploys/operations.ts'
import { getDeploy, insertDeploy } from '#server/deploys/store.ts'
import { DatastoreInput } from '#server/datastores/schema.ts'
import { createDatastore } from '#server/datastores/operations.ts'
import { upgradeDatastore } from '#server/datastores/restores-and-upgrades.ts'
import { deleteDatastoreRow, getDatastore, recordDatastore } from '#server/datastores/store.ts'
import { newId } from '#server/ids.ts'
import { ledgerOn } from '#server/ledger.ts'
import { ServiceInput } from '#server/services/input.ts'
import { createService } from '#server/services/operations.ts'
import { getService } from '#server/services/store.ts'
import { openContext } from '../support/context.ts'
import { addNode } from '../support/nodes.ts'

const HOUR_MS = 3_600_000
/** As many folders of a site as the data plane looks into for assets of earlier pages, with the live one. */
const LOOKED_INTO = 51

let close: () => Promise<void>
let service: string
let made = 0

beforeAll(async () => ({ close } = await openContext()))
afterAll(() => close())
beforeEach(() => {
  service = createService(ServiceInput.parse({ name: `one-${++made}` })).id
})

/** Records a deploy that ended so many hours ago; the newest is live, and each replaced the one before. */
function deployed(hoursAgo: number, columns: Record<string, string | number | Uint8Array | null>): string {
  const id = newId('deploy')
  const source = { kind: 'archive' as const, repo_url: null, branch: null, commit: null }
  insertDeploy({ id, service_id: service, trigger: 'upload', source })
  const all = {
    status: 'deactivated',
    was_live: 1,
    finished_at: Date.now() - hoursAgo * HOUR_MS,
    ...columns,
  }
  const assignments = Object.keys(all).map((column) => `${column} = ?`)
  useDatabase().run(`UPDATE deploys SET ${assignments.join(', ')} WHERE id = ?`, ...Object.values(all), id)
  return id
}

/** An engine with these names of images, and those that were pulled; `removed` are those that were removed. */
function engineWith(
  names: string[],
  pulled: string[] = [],
): { world: World; removed: string[]; use: () => Promise<EngineUse> } {
  const removed: string[] = []
  const images = {
    names: () => names,
    pulled: ({ except }: { except: readonly string[] }) => pulled.filter((name) => !except.includes(name)),
    remove: async (name: string) => void removed.push(name),
  }
  const use: EngineUse = {
    images: names.map((name) => ({ id: name, names: [name], bytes: 10 })),
    sharedBytes: 0,
    volumes: new Map(),
    buildCache: { bytes: 0, records: 0 },
  }
  return { world: { engine: { images } } as unknown as World, removed, use: async () => use }
}

test('the image of a deploy that a rollback waits for is kept, whenever it was asked for', async () => {
  const image = (hoursAgo: number) =>
    deployed(hoursAgo, { image_id: `sha256:${hoursAgo}`, snapshot: Buffer.from('sealed') })
  const ids = [1, 2, 3, 4, 5, 6, 7].map(image)
  const [sixth, seventh] = ids.slice(5) as [string, string]
  const { world, removed, use } = engineWith(ids.map((id) => imageTag(service, id)))
  const before = surplusImages(world, use)
  expect(before.map(({ id }) => id)).toEqual([sixth, seventh])
  expect(await before[0]!.bytes()).toBe(10)

  queueRollback(getService(service)!, seventh)
  expect(surplusImages(world, use).map(({ id }) => id)).toEqual([sixth])
  releaseOldImages()
  expect(() => queueRollback(getService(service)!, sixth)).toThrow('no longer kept')
  for (const surplus of before) await surplus.remove()
  expect(removed).toEqual([imageTag(service, sixth)])
})

test('folders of a site are kept for a day while pages can still need them, and those of the last live deploys longer', async () => {
  const site = (hoursAgo: number, replacedHoursAgo: number | null) => {
    const id = deployed(hoursAgo, {
      replaced_at: replacedHoursAgo === null ? null : Date.now() - replacedHoursAgo * HOUR_MS,
      status: replacedHoursAgo === null ? 'live' : 'deactivated',
    })
    useDatabase().run('UPDATE deploys SET site_id = id WHERE id = ?', id)
    mkdirSync(siteFolder(id), { recursive: true })
    return id
  }
  // One of each of the last 60 quarters of an hour, then two of earlier days.
  const recent = Array.from({ length: 60 }, (_, at) => site(at / 4, at === 0 ? null : (at - 1) / 4))
  const earlier = [site(30, 26), site(60, 30)]
  const found = await surplusSites()
  expect(new Set(found.map(({ id }) => id))).toEqual(new Set([...recent.slice(LOOKED_INTO), ...earlier]))
  releaseOldSites()
  expect(getDeploy(earlier[0]!)?.site_id).toBeNull()
  expect(getDeploy(recent[LOOKED_INTO - 1]!)?.site_id).not.toBeNull()
  // A deploy has come to use the folder meanwhile.
  useDatabase().run('UPDATE deploys SET site_id = ? WHERE id = ?', earlier[0]!, recent[0]!)
  const kept = await Promise.all(found.filter(({ id }) => id === earlier[0]).map((each) => each.remove()))
  expect(kept).toEqual([false])
})

test('the image of a datastore is kept, with the one that it is being upgraded to', () => {
  const { world, use } = engineWith([], ['postgres:16', 'postgres:17', 'postgres:15'])
  const surplus = () => surplusImages(world, use).map(({ id }) => id)
  expect(surplus()).toEqual(['postgres:16', 'postgres:17', 'postgres:15'])
  const { id } = createDatastore(DatastoreInput.parse({ kind: 'relational', name: 'db', version: '16' }))
  expect(surplus()).toEqual(['postgres:17', 'postgres:15'])
  useDatabase().run(
    "INSERT INTO replacements (datastore_id, kind, version, volume) VALUES (?, 'upgrade', '17', 'new')",
    id,
  )
  expect(surplus()).toEqual(['postgres:15'])
  deleteDatastoreRow(id)
  expect(surplus()).toHaveLength(3)
})

test('another node keeps what its datastores run, and what they are being upgraded to', async () => {
  const nodeId = addNode('worker')
  const { id } = createDatastore({ kind: 'relational', name: 'upgraded', version: '17', node: nodeId })
  recordDatastore(id, { image_id: 'sha256:17' })
  useDatabase().run("UPDATE datastores SET status = 'available' WHERE id = ?", id)
  const names = ['postgres:16', 'postgres:17', 'postgres:18']
  for (const name of names) ledgerOn(nodeId).record('image', name, `sha256:${name.slice(-2)}`)
  const { world, removed } = engineWith([], names)
  const engines = () => [{ nodeId, engine: world.engine }]
  const surplus = () => surplusImagesOfNodes({ engines } as unknown as World)
  const before = surplus()
  expect(before.map((image) => image.id)).toEqual(['postgres:16', 'postgres:18'])
  upgradeDatastore(getDatastore(id)!, '18')
  expect(surplus().map((image) => image.id)).toEqual(['postgres:16'])
  for (const image of before) await image.remove()
  expect(removed).toEqual(['postgres:16'])
  deleteDatastoreRow(id)
})
