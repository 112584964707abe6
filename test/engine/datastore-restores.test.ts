import { appendFileSync, copyFileSync, readFileSync, truncateSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseOf } from '../support/database.ts'
import type { TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import {
  backUp,
  backupFile,
  become,
  grow,
  isBeingLoaded,
  keyvalue,
  query,
  restored,
  startStores,
  tlsUrlOf,
  volumeOf,
  type Datastore,
} from './datastore-support.ts'
import { countEvents, docker } from './live.ts'

let server: TestServer
let db: Datastore
let cache: Datastore
/** Backups of both datastores in their initial state. */
let dbBackup: string
let cacheBackup: string

beforeAll(async () => {
  ;({ server, db, cache } = await startStores())
  dbBackup = await backedUp('db')
  cacheBackup = await backedUp('cache')
})

afterAll(async () => {
  await server?.stop()
})

/** Makes a backup. */
async function backedUp(name: string): Promise<string> {
  const { id, status } = await backUp(server, name)
  expect(status).toBe('succeeded')
  return id
}

function restore(name: string, backup: string, body: object = {}) {
  return server.api('POST', `/datastores/${name}/backups/${backup}/restore`, body)
}

/** The names of a datastore's volumes, including kept ones. */
async function volumesOf(id: string): Promise<string[]> {
  return (await docker('volume', 'ls', '-q', '--filter', `name=${id}`)).split('\n').sort()
}

/** Changes the record of a backup to describe its current file, as if it had been made that way. */
function vouchFor(backup: string): void {
  const bytes = readFileSync(backupFile(server, backup))
  const database = databaseOf(server.dataDirectory)
  database
    .prepare('UPDATE backups SET size_bytes = ?, sha256 = ? WHERE id = ?')
    .run(bytes.length, createHash('sha256').update(bytes).digest('hex'), backup)
  database.close()
}

describe('a backup that is restored', () => {
  test('into a new datastore does not touch its own', async () => {
    await query(db.external_url, 'INSERT INTO notes VALUES (2)')
    const { status, body } = await restore('db', dbBackup, { name: 'copy' })
    expect(status).toBe(202)
    expect(body).toMatchObject({ name: 'copy', status: 'restoring', version: '15', database: 'db' })
    const copy = await become(server, body.id, 'available')
    expect(copy.error).toBeNull()
    expect(await query(copy.external_url, 'SELECT id FROM notes')).toEqual([[1]])
    expect(await query(db.external_url, 'SELECT count(*)::int FROM notes')).toEqual([[2]])
    expect((await restore('db', dbBackup, { name: 'cache' })).status).toBe(409)
    expect((await server.api('DELETE', '/datastores/copy')).status).toBe(204)
    expect(await volumesOf(copy.id)).toEqual([''])
  })

  test('brings the roles that it mentions, without the right to sign in', { tags: ['slow'] }, async () => {
    await query(
      db.external_url,
      `CREATE ROLE "Odd ""reader" LOGIN PASSWORD 'x'; CREATE ROLE keeper; CREATE ROLE member;
       CREATE TABLE shared (id int); GRANT SELECT ON shared TO "Odd ""reader"; ALTER TABLE shared OWNER TO keeper;
       ALTER TABLE shared ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON shared TO keeper, member USING (true)`,
    )
    // More than is read to find its roles.
    await grow(db)
    const { id } = await backUp(server, 'db')
    await query(
      db.external_url,
      'DROP TABLE big; DROP TABLE shared; DROP ROLE "Odd ""reader"; DROP ROLE keeper; DROP ROLE member',
    )
    const { body } = await restore('db', id, { name: 'with-roles' })
    const copy = await become(server, body.id, 'available')
    const grants = `SELECT has_table_privilege('Odd "reader', 'shared', 'SELECT'), tableowner, rolcanlogin, polroles::regrole[]::text
      FROM pg_tables, pg_roles, pg_policy WHERE tablename = 'shared' AND rolname = 'Odd "reader'`
    expect(await query(copy.external_url, grants)).toEqual([[true, 'keeper', false, '{keeper,member}']])
    expect(await query(copy.external_url, 'SELECT count(*)::int FROM big')).toEqual([[600_000]])
    expect((await server.api('DELETE', '/datastores/with-roles')).status).toBe(204)
  })

  test.each(['db', 'cache'])(
    'into its own (%s) replaces the current data, which is kept for a day',
    async (name) => {
      const before = await volumeOf(name === 'db' ? db.id : cache.id)
      if (name === 'db')
        await query(
          db.external_url,
          "CREATE TABLE later (id int); CREATE ROLE guest LOGIN PASSWORD 'its own'",
        )
      else await keyvalue(cache.external_url, (client) => client.set('at', 'later'))
      const now = await restored(server, name, name === 'db' ? dbBackup : cacheBackup)
      expect(now.error).toBeNull()
      if (name === 'db') {
        expect(await query(now.external_url, 'SELECT id FROM notes')).toEqual([[1]])
        expect(await query(now.external_url, "SELECT to_regclass('later') IS NULL")).toEqual([[true]])
        await query(now.external_url, 'INSERT INTO notes VALUES (3)')
        const guest = Object.assign(new URL(now.external_url), {
          username: 'guest',
          password: 'its own',
        }).href
        expect(await query(guest, 'SELECT current_user')).toEqual([['guest']])
      } else {
        expect(await keyvalue(now.external_url, (client) => client.get('at'))).toBe('first')
        expect(await keyvalue(now.external_url, (client) => client.configGet('appendonly'))).toEqual({
          appendonly: 'yes',
        })
        await keyvalue(tlsUrlOf(now), (client) => client.set('written', 'since'), now.ca_certificate)
      }
      expect(await volumesOf(now.id)).toEqual([before, await volumeOf(now.id)].sort())
      expect(server.logs).toContain(before)
      // What was restored is on the disk as well as in memory.
      await docker('kill', now.id)
      await become(server, now.id, 'unavailable')
      await become(server, now.id, 'available')
      if (name === 'db') expect(await query(now.external_url, 'SELECT id FROM notes')).toEqual([[1], [3]])
      else
        expect(await keyvalue(now.external_url, (client) => client.mGet(['at', 'written']))).toEqual([
          'first',
          'since',
        ])
    },
  )

  test('allows no second one meanwhile, and cannot be deleted', async () => {
    const { status } = await restore('db', dbBackup)
    expect(status).toBe(202)
    const second = await restore('db', dbBackup)
    expect(second).toMatchObject({ status: 409, body: { error: { message: 'datastore db is restoring' } } })
    expect((await server.api('DELETE', `/datastores/db/backups/${dbBackup}`)).status).toBe(409)
    expect((await server.api('POST', '/datastores/db/backups')).status).toBe(409)
    await become(server, db.id, 'available')
  })
})

describe('a backup that cannot be restored leaves the current data in use:', () => {
  const kept = () => keyvalue(cache.external_url, (client) => client.get('kept'))

  beforeAll(() => keyvalue(cache.external_url, (client) => client.set('kept', 'yes')))

  test('one that was cut off', async () => {
    const cut = await backedUp('cache')
    truncateSync(backupFile(server, cut), 40)
    const now = await restored(server, 'cache', cut)
    expect(now.error).toMatch(/^it was not restored: the file of the backup bak-\w+ has 40 bytes/)
    expect(await kept()).toBe('yes')
    expect((await server.api('GET', `/datastores/cache/backups/${cut}/download`)).body.error.code).toBe(
      'io_error',
    )
  })

  test('one that was changed', { tags: ['slow'] }, async () => {
    const changed = await backedUp('cache')
    const bytes = readFileSync(backupFile(server, changed)).length
    truncateSync(backupFile(server, changed), bytes - 1)
    appendFileSync(backupFile(server, changed), '!')
    const now = await restored(server, 'cache', changed)
    expect(now.error).toContain('has a different checksum')
    expect(await kept()).toBe('yes')
  })

  test('one of another kind', { tags: ['slow'] }, async () => {
    const foreign = await backedUp('cache')
    copyFileSync(backupFile(server, dbBackup), backupFile(server, foreign))
    vouchFor(foreign)
    const now = await restored(server, 'cache', foreign)
    expect(now.error).toContain('is not a dump of a key-value datastore')
    expect(await kept()).toBe('yes')
  })

  const isRefused = async (name: string) => {
    const refused = await backedUp(name)
    truncateSync(
      backupFile(server, refused),
      Math.floor(readFileSync(backupFile(server, refused)).length / 2),
    )
    vouchFor(refused)
    const used = await volumeOf(name === 'db' ? db.id : cache.id)
    const now = await restored(server, name, refused)
    expect(now.error).toMatch(name === 'db' ? /pg_restore ended with exit code 1: / : /the program ended: /)
    if (name === 'db') expect(await query(db.external_url, 'SELECT id FROM notes')).toEqual([[1]])
    else expect(await kept()).toBe('yes')
    expect(await volumeOf(now.id)).toBe(used)
  }
  test('one that the program refuses (db)', () => isRefused('db'))
  test('one that the program refuses (cache)', { tags: ['slow'] }, () => isRefused('cache'))

  test('and creates no empty datastore either', { tags: ['slow'] }, async () => {
    const refused = await backedUp('cache')
    truncateSync(backupFile(server, refused), 40)
    const { body } = await restore('cache', refused, { name: 'never' })
    const failed = await become(server, body.id, 'failed')
    expect(failed.error).toContain('has 40 bytes')
    expect((await server.api('DELETE', '/datastores/never')).status).toBe(204)
  })

  test('one of a database that is not the only one in its datastore', { tags: ['slow'] }, async () => {
    await query(db.external_url, 'CREATE DATABASE other')
    const now = await restored(server, 'db', dbBackup)
    expect(now.error).toContain('it also holds database other')
    await query(db.external_url, 'DROP DATABASE other')
  })
})

describe('a server that is killed', () => {
  /** The containers that currently work on the database. */
  async function atWork(): Promise<string[]> {
    const names = await docker('ps', '-a', '--filter', `name=${db.id}-`, '--format', '{{.Names}}')
    return names.split('\n').filter(Boolean)
  }

  let printed = 0
  /** How often the engine was asked to stop the database's program. */
  let stops: ReturnType<typeof countEvents>

  let grown: Promise<string> | undefined
  /** A backup that takes a while to be loaded. */
  const grownBackup = () => (grown ??= grow(db).then(() => backedUp('db')))

  beforeAll(() => void (stops = countEvents(db.id, 'kill')))
  afterAll(() => stops.stop())

  type Reached = () => boolean | Promise<boolean>
  const steps: [string, Reached][] = [
    ['has taken the place', () => server.logs.slice(printed).includes('of a datastore was replaced')],
  ]
  const furtherSteps: [string, Reached][] = [
    ['is being loaded', () => isBeingLoaded(db.id)],
    ['has just been asked for', () => true],
    ['has a program on its fresh volume', async () => (await atWork()).length > 0],
    ['stops what it replaces', () => stops.count > 0],
  ]

  async function isKilledWhenARestore(step: string, isReached: Reached): Promise<void> {
    // The table comes after the backup.
    const backup = step === 'is being loaded' ? await grownBackup() : dbBackup
    await query(db.external_url, 'DROP TABLE IF EXISTS later; CREATE TABLE later (id int)')
    printed = server.logs.length
    stops.count = 0
    expect((await restore('db', backup)).status).toBe(202)
    await waitFor(isReached, 'the step')
    await server.kill('SIGKILL')
    await server.restart()
    const now = await become(server, db.id, 'available')
    expect(now.error).toBeNull()
    expect(await query(now.external_url, 'SELECT id FROM notes')).toEqual([[1]])
    expect(await query(now.external_url, "SELECT to_regclass('later') IS NULL")).toEqual([[true]])
  }

  test.each(steps)('when a restore %s loses nothing, and nothing hangs', isKilledWhenARestore)
  test.each(furtherSteps)(
    'when a restore %s loses nothing either, and nothing hangs',
    { tags: ['slow'] },
    isKilledWhenARestore,
  )

  test('in order, however often, continues the restore at the next start', { tags: ['slow'] }, async () => {
    expect((await restore('db', await grownBackup())).status).toBe(202)
    for (let stops = 0; stops < 4; stops++) {
      await waitFor(() => isBeingLoaded(db.id), 'its work')
      await server.restart()
      expect((await server.api('GET', '/datastores/db')).body).toMatchObject({ status: 'restoring' })
    }
    const now = await become(server, db.id, 'available')
    expect(now.error).toBeNull()
    expect(await query(now.external_url, 'SELECT count(*)::int FROM big')).toEqual([[600_000]])
    await restored(server, 'db', dbBackup)
  })

  // Stray containers are looked for once a minute.
  test('leaves no container of that work behind', { tags: ['slow'] }, async () => {
    await waitFor(async () => (await atWork()).length === 0, 'the containers to go')
  })
})

test('a datastore without its volume is not started empty, and comes back from a backup', async () => {
  const volume = await volumeOf(cache.id)
  await server.kill('SIGTERM')
  await docker('rm', '-f', cache.id)
  await docker('volume', 'rm', volume)
  await server.restart()
  const lost = await waitFor(async () => {
    const datastore = await become(server, cache.id, 'unavailable')
    return datastore.error?.includes('is gone from the container engine') ? datastore : null
  }, 'the reason')
  expect(lost.error).toContain(volume)
  const now = await restored(server, 'cache', cacheBackup)
  expect(await keyvalue(now.external_url, (client) => client.get('at'))).toBe('first')
})
