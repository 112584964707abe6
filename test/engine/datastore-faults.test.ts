import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import {
  backUp,
  backupsOf,
  become,
  create,
  endOfBackup,
  grow,
  isBeingLoaded,
  keyvalue,
  query,
  read,
  volumeOf,
  type Datastore,
} from './datastore-support.ts'
import { openDoor, type EngineDoor } from './engine-door.ts'
import { docker } from './live.ts'

let door: EngineDoor
let server: TestServer

beforeAll(async () => {
  door = await openDoor()
  server = await startServer({ engine: true, flags: ['--docker-host', door.host] })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
})
afterAll(async () => {
  door?.refuse(null)
  await door?.comeBack()
  await server?.stop()
  await door?.close()
})
beforeEach(async () => {
  door.refuse(null)
  await door.comeBack()
})

async function cacheWith(name: string, value: string): Promise<Datastore> {
  const { id } = await create(server, { kind: 'keyvalue', name })
  const cache = await become(server, id, 'available')
  await keyvalue(cache.external_url, (client) => client.set('kept', value))
  return cache
}

function kept({ external_url }: Datastore): Promise<string | null> {
  return keyvalue(external_url, (client) => client.get('kept'))
}

/** What the server has recorded as created for a datastore. */
function recorded(id: string): unknown[] {
  const database = databaseOf(server.dataDirectory)
  try {
    return database.prepare('SELECT kind, name FROM engine_things WHERE name LIKE ?').all(`${id}%`)
  } finally {
    database.close()
  }
}

/** Crashes the server and starts it again. */
async function crash(): Promise<void> {
  await server.kill('SIGKILL')
  await server.restart()
}

test('a datastore whose volume cannot be created fails with the reason, and is created once it can be', async () => {
  door.refuse({ line: /^POST \S*\/volumes\/create/, words: 'no space left on device' })
  const { id } = await create(server, { kind: 'keyvalue', name: 'volumeless' })
  const failed = await become(server, id, 'failed')
  expect(failed.error).toMatch(/^creating the volume dbs-\S+: the disk is full/)
  expect(await docker('volume', 'ls', '-q', '--filter', `name=${id}`)).toBe('')
  await crash()
  expect(await read(server, id)).toMatchObject({ status: 'failed' })
  door.refuse(null)
  const again = await server.api('PATCH', `/datastores/${id}`, {})
  expect(again.status).toBe(200)
  await become(server, id, 'available')
})

test(
  'a datastore whose container cannot be created leaves no record of it behind',
  { tags: ['slow'] },
  async () => {
    door.refuse({ line: /^POST \S*\/containers\/create\?name=dbs-/, words: 'no space left on device' })
    const { id } = await create(server, { kind: 'keyvalue', name: 'unmade' })
    await become(server, id, 'failed')
    expect(recorded(id)).not.toEqual([])
    expect((await server.api('DELETE', `/datastores/${id}`)).status).toBe(204)
    expect(recorded(id)).toEqual([])
  },
)

test('a datastore fails when the engine goes away during its creation, and is created when the engine is back', async () => {
  const asked = create(server, { kind: 'keyvalue', name: 'halfway' })
  await waitFor(async () => (await server.api('GET', '/datastores/halfway')).status === 200, 'its record')
  await door.goAway()
  const { id } = await asked
  const failed = await become(server, id, 'failed')
  expect(failed.error).toContain('engine')
  await door.comeBack()
  await become(server, id, 'available')
})

test('a datastore whose container the engine does not show is checked less and less often', async () => {
  const { id } = await cacheWith('hidden', 'yes')
  door.refuse({ line: /^GET \S*\/containers\/[^/ ]+\/json/, words: 'not now' })
  const changed = await server.api('PATCH', `/datastores/${id}`, { memory_limit_mb: 300 })
  expect(changed.body.error.message).toContain('not now')
  const before = door.refusals
  await delay(1_500)
  // A few pauses of the tests' schedule, each longer than the one before.
  expect(door.refusals - before).toBeLessThan(20)
  door.refuse(null)
  await waitFor(async () => {
    const limit = await docker('inspect', '-f', '{{.HostConfig.Memory}}', id)
    return limit === String(300 * 1024 * 1024)
  }, 'the limit')
})

test('a datastore has its data again after an engine restart', async () => {
  const cache = await cacheWith('restarted', 'yes')
  // Its containers end together with it.
  await door.goAway()
  await docker('kill', cache.id)
  await expect(kept(cache)).rejects.toThrow()
  await door.comeBack()
  expect(await waitFor(() => kept(cache), 'it to answer again')).toBe('yes')
})

test(
  'limits that are changed while the engine is away are saved, and applied when it is back',
  { tags: ['slow'] },
  async () => {
    const cache = await cacheWith('limited', 'yes')
    await door.goAway()
    const { status, body } = await server.api('PATCH', '/datastores/limited', { memory_limit_mb: 96 })
    expect(status).toBe(502)
    expect(body.error.code).toBe('runtime_error')
    expect(body.error.message).toMatch(/^saved; not applied yet: /)
    await door.comeBack()
    await waitFor(async () => {
      const limit = await docker('inspect', '-f', '{{.HostConfig.Memory}}', cache.id)
      return limit === String(96 * 1024 * 1024)
    }, 'the limit')
    expect(await kept(cache)).toBe('yes')
  },
)

test('a server that is killed while it creates a datastore creates it after its start', async () => {
  const asked = server.api('POST', '/datastores', { kind: 'keyvalue', name: 'early' }).catch(() => null)
  await waitFor(async () => (await server.api('GET', '/datastores/early')).status === 200, 'its record')
  await crash()
  await asked
  const { id } = await read(server, 'early')
  const cache = await become(server, id, 'available')
  await keyvalue(cache.external_url, (client) => client.ping())
})

test(
  'a server that is killed while a datastore is unavailable brings it back with its data',
  { tags: ['slow'] },
  async () => {
    const cache = await cacheWith('down', 'yes')
    door.refuse({ line: /^POST \S*\/containers\/create/, words: 'not now' })
    await docker('rm', '-f', cache.id)
    await become(server, cache.id, 'unavailable')
    await crash()
    expect(await read(server, cache.id)).toMatchObject({ status: 'unavailable' })
    door.refuse(null)
    await become(server, cache.id, 'available')
    expect(await kept(cache)).toBe('yes')
  },
)

test(
  'a server that is killed while it deletes a datastore removes all of it',
  { tags: ['slow'] },
  async () => {
    const cache = await cacheWith('leaving', 'yes')
    door.refuse({ line: /^DELETE \S*\/volumes\//, words: 'it is in use' })
    const { status, body } = await server.api('DELETE', '/datastores/leaving')
    expect(status).toBe(502)
    expect(body.error.message).toContain('it is in use')
    await crash()
    expect(await read(server, cache.id)).toMatchObject({ status: 'deleting' })
    door.refuse(null)
    await waitFor(async () => (await server.api('GET', `/datastores/${cache.id}`)).status === 404, 'its end')
    expect(await docker('volume', 'ls', '-q', '--filter', `name=${cache.id}`)).toBe('')
    expect(await docker('ps', '-aq', '--filter', `name=${cache.id}`)).toBe('')
  },
)

test('a backup whose container cannot be created fails with the reason, and leaves nothing', async () => {
  await cacheWith('copied', 'yes')
  door.refuse({ line: /^POST \S*\/containers\/create\?\S*name=bak-/, words: 'not now' })
  const { body } = await server.api('POST', '/datastores/copied/backups')
  const path = `/datastores/copied/backups/${body.id}`
  const ended = await waitFor(async () => {
    const backup = (await server.api('GET', path)).body
    return backup.status === 'failed' ? backup : null
  }, 'the backup to fail')
  expect(ended.error).toContain('not now')
  expect(ended.stored).toEqual([])
})

describe('an engine that goes away', { tags: ['slow'] }, () => {
  let db: Datastore
  let backup: string

  beforeAll(async () => {
    door.refuse(null)
    const { id } = await create(server, { kind: 'relational', name: 'grown', version: '15' })
    db = await become(server, id, 'available')
    await grow(db)
    backup = (await backUp(server, 'grown')).id
  })

  /** Waits until a backup is being loaded, and stops the engine together with its containers. */
  async function cutWhileLoaded(leave: () => Promise<void> | void = () => door.goAway()): Promise<void> {
    const names = async () => {
      const all = await docker('ps', '--filter', `name=${db.id}`, '--format', '{{.Names}}')
      return all.split('\n').filter(Boolean)
    }
    await waitFor(() => isBeingLoaded(db.id), 'its work')
    await leave()
    // The program that reads a backup ends by itself when its input does.
    for (const name of await names()) await docker('kill', name).catch(() => {})
  }

  test('during a restore does not end it: the restore begins again when the engine is back', async () => {
    await query(db.external_url, 'CREATE TABLE later (id int)')
    const used = await volumeOf(db.id)
    expect((await server.api('POST', `/datastores/grown/backups/${backup}/restore`, {})).status).toBe(202)
    await cutWhileLoaded()
    await waitFor(() => server.logs.includes('the engine does not answer'), 'the server to notice')
    expect(await read(server, db.id)).toMatchObject({ status: 'restoring', error: null })
    await door.comeBack()
    const now = await become(server, db.id, 'available')
    expect(now.error).toBeNull()
    const found = "SELECT to_regclass('later') IS NULL, (SELECT count(*)::int FROM big)"
    expect(await query(now.external_url, found)).toEqual([[true, 600_000]])
    expect(await volumeOf(db.id)).not.toBe(used)
  })

  test('during a restore does not end it, even if something else holds the socket meanwhile', async () => {
    expect((await server.api('POST', `/datastores/grown/backups/${backup}/restore`, {})).status).toBe(202)
    await cutWhileLoaded(() => door.hold())
    // The server learns only that the containers have ended.
    await delay(2_000)
    await door.comeBack()
    expect((await become(server, db.id, 'available')).error).toBeNull()
  })

  test('delays a restore that has not begun, also into a new datastore', async () => {
    await door.goAway()
    const { status, body } = await server.api('POST', `/datastores/grown/backups/${backup}/restore`, {
      name: 'beside',
    })
    expect(status).toBe(202)
    await delay(1_000)
    expect(await read(server, body.id as string)).toMatchObject({ status: 'restoring', error: null })
    await door.comeBack()
    const copy = await become(server, body.id as string, 'available')
    expect(await query(copy.external_url, 'SELECT count(*)::int FROM big')).toEqual([[600_000]])
  })

  test('during an upgrade does not end it, and nothing is written until it is done', async () => {
    expect((await server.api('POST', '/datastores/grown/upgrade', { version: '17' })).status).toBe(202)
    await cutWhileLoaded()
    await door.comeBack()
    const now = await become(server, db.id, 'available')
    expect(now).toMatchObject({ version: '17', error: null })
    expect(await query(now.external_url, 'SELECT count(*)::int FROM big')).toEqual([[600_000]])
    // The backup of the interrupted attempt would count towards the retention.
    const made = (await backupsOf(server, 'grown')).filter(({ trigger }) => trigger === 'upgrade')
    expect(made).toMatchObject([{ status: 'succeeded' }])
  })

  test('during a backup is named in its error, even if something else holds the socket meanwhile', async () => {
    const { id } = (await server.api('POST', '/datastores/grown/backups')).body as { id: string }
    await waitFor(
      async () => (await docker('ps', '-q', '--filter', `name=${id}`)) !== '',
      'its program to run',
    )
    door.hold()
    await docker('kill', id)
    await door.comeBack()
    const { status, error } = await endOfBackup(server, 'grown', id)
    expect({ status, error }).toEqual({
      status: 'failed',
      error: expect.stringContaining('the container engine'),
    })
  })

  test('leaves nothing of what it interrupted', async () => {
    await waitFor(
      async () => (await docker('ps', '-a', '--filter', `name=${db.id}-`, '--format', '{{.Names}}')) === '',
      'the containers to go',
    )
  })
})
