import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { become, create, keyvalue, query, read, volumeOf, type Datastore } from './datastore-support.ts'
import { countEvents, docker } from './live.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true, flags: ['--keyvalue-image', 'redis:7'] })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
})

afterAll(async () => {
  await server?.stop()
})

async function relational(name: string): Promise<Datastore> {
  const { id } = await create(server, { kind: 'relational', name, version: '15' })
  const db = await become(server, id, 'available')
  await query(db.external_url, 'CREATE TABLE notes (id int PRIMARY KEY); INSERT INTO notes VALUES (1), (2)')
  return db
}

function upgrade(name: string, version: string) {
  return server.api('POST', `/datastores/${name}/upgrade`, { version })
}

function majorOf(db: Datastore): Promise<unknown[][]> {
  return query(db.external_url, "SELECT current_setting('server_version_num')::int / 10000")
}

test('an upgrade carries rows and roles over to the new major and keeps the old volume', async () => {
  const db = await relational('main')
  await query(
    db.external_url,
    `CREATE ROLE team; CREATE ROLE reader LOGIN PASSWORD 'of its own' IN ROLE team; ALTER ROLE reader SET work_mem = '7MB';
     GRANT SELECT ON notes TO team; CREATE ROLE idle`,
  )
  await query(db.external_url, 'CREATE EXTENSION pg_stat_statements')
  await query(db.external_url, 'CREATE DATABASE other')
  const before = await volumeOf(db.id)
  expect((await upgrade('main', '15')).status).toBe(400)
  expect((await upgrade('main', '14')).status).toBe(400)
  expect((await upgrade('main', '17')).status).toBe(202)
  const held = await become(server, db.id, 'available')
  expect(held.error).toMatch(
    /^it was not upgraded: it also holds database other, .*drop it here, and try again$/,
  )
  await query(db.external_url, 'DROP DATABASE other')
  const { status, body } = await upgrade('main', '17')
  expect(status).toBe(202)
  expect(body).toMatchObject({ status: 'upgrading', version: '15' })
  expect((await upgrade('main', '17')).status).toBe(409)
  expect((await server.api('DELETE', '/datastores/main')).status).toBe(409)
  const now = await become(server, db.id, 'available')
  expect(now).toMatchObject({ version: '17', error: null, external_url: db.external_url })
  expect(await majorOf(now)).toEqual([[17]])
  await query(now.external_url, 'INSERT INTO notes VALUES (3)', now.ca_certificate)
  expect(await query(now.external_url, 'SELECT count(*) > 0 FROM pg_stat_statements')).toEqual([[true]])
  const asReader = Object.assign(new URL(now.external_url), {
    username: 'reader',
    password: 'of its own',
  }).href
  expect(await query(asReader, 'SELECT id FROM notes ORDER BY id')).toEqual([[1], [2], [3]])
  expect(await query(asReader, 'SHOW work_mem')).toEqual([['7MB']])
  expect(await query(now.external_url, "SELECT rolname FROM pg_roles WHERE rolname = 'idle'")).toHaveLength(1)
  expect(await docker('volume', 'ls', '-q')).toContain(before)
  expect(server.logs).toContain(before)
  expect(server.logs).not.toContain('did not accept all')
  const backups = (await server.api('GET', '/datastores/main/backups')).body
  expect(backups).toMatchObject([{ trigger: 'upgrade', status: 'succeeded' }])
})

test(
  'no row that is written during an upgrade is lost: it is refused, or it is there afterwards',
  { tags: ['slow'] },
  async () => {
    const db = await relational('busy')
    await query(
      db.external_url,
      'CREATE TABLE ballast AS SELECT md5(i::text) t FROM generate_series(1, 500000) i; CREATE TABLE log (n int)',
    )
    expect((await upgrade('busy', '17')).status).toBe(202)
    const written: number[] = []
    let sawUpgrading = 0
    for (let n = 0; (await read(server, db.id)).status !== 'available'; n++) {
      sawUpgrading++
      await query(db.external_url, `INSERT INTO log VALUES (${n})`).then(
        () => written.push(n),
        () => {},
      )
      await delay(20)
    }
    expect(sawUpgrading).toBeGreaterThan(0)
    expect(await majorOf(db)).toEqual([[17]])
    const rows = await query(db.external_url, 'SELECT n FROM log ORDER BY n')
    // The answer to an INSERT may have been cut off.
    const kept = rows.map(([n]) => n)
    expect(kept).toEqual(expect.arrayContaining(written))
    expect(new Set(kept).size).toBe(kept.length)
  },
)

test(
  'an upgrade is canceled and loses no row if a client writes anyway, through READ WRITE transactions',
  { tags: ['slow'] },
  async () => {
    const db = await relational('insisting')
    await query(db.external_url, 'CREATE TABLE log (n int)')
    const starts = countEvents(db.id, 'start')
    expect((await upgrade('insisting', '17')).status).toBe(202)
    const written: number[] = []
    for (let n = 0; (await read(server, db.id)).status !== 'available'; n++) {
      await query(db.external_url, `BEGIN READ WRITE; INSERT INTO log VALUES (${n}); COMMIT`).then(
        () => written.push(n),
        () => {},
      )
      await delay(20)
    }
    expect((await read(server, db.id)).error).toMatch(/^it was not upgraded: .*READ WRITE/)
    // Once to refuse writes and once to accept them again.
    await waitFor(() => starts.count === 2, 'both starts').finally(() => starts.stop())
    expect(await majorOf(db)).toEqual([[15]])
    const rows = async () => (await query(db.external_url, 'SELECT n FROM log ORDER BY n')).map(([n]) => n)
    const kept = await rows()
    // The answer to a COMMIT may have been cut off.
    expect(kept).toEqual(expect.arrayContaining(written))
    expect((await upgrade('insisting', '17')).status).toBe(202)
    expect(await become(server, db.id, 'available')).toMatchObject({ version: '17', error: null })
    expect(await rows()).toEqual(kept)
  },
)

test('a failed upgrade leaves the old version in use, with writes, and says why', async () => {
  const db = await relational('held')
  expect((await upgrade('held', '99')).status).toBe(202)
  const now = await become(server, db.id, 'available')
  expect(now.version).toBe('15')
  expect(now.error).toMatch(/^it was not upgraded: the image postgres:99 cannot be pulled/)
  // Removed from PostgreSQL 17: its dump cannot be restored any more.
  await query(now.external_url, 'CREATE EXTENSION adminpack')
  expect((await upgrade('held', '17')).status).toBe(202)
  const refused = await become(server, db.id, 'available')
  expect(refused.error).toMatch(/^it was not upgraded: pg_restore ended with exit code 1: [^]*adminpack/)
  await query(refused.external_url, 'INSERT INTO notes VALUES (3)')
  expect(await majorOf(refused)).toEqual([[15]])
})

test(
  'a database that loads a library that the new version lacks is upgraded, and no longer loads it',
  { tags: ['slow'] },
  async () => {
    const db = await relational('loading')
    await query(
      db.external_url,
      `ALTER DATABASE loading SET session_preload_libraries = 'adminpack';
    ALTER ROLE CURRENT_USER IN DATABASE loading SET session_preload_libraries = 'adminpack';
    ALTER DATABASE loading SET search_path = public, other`,
    )
    expect((await upgrade('loading', '17')).status).toBe(202)
    expect(await become(server, db.id, 'available')).toMatchObject({ version: '17', error: null })
    expect(server.logs).toMatch(/loads at sign-in were reset.*could not access file \\?"adminpack/)
    expect(await query(db.external_url, 'SELECT id FROM notes ORDER BY id')).toEqual([[1], [2]])
    expect(await query(db.external_url, 'SHOW session_preload_libraries')).toEqual([['']])
    expect(await query(db.external_url, 'SHOW search_path')).toEqual([['public, other']])
  },
)

test(
  'a database with a subscription, whose worker always writes, is upgraded without loss',
  { tags: ['slow'] },
  async () => {
    const source = await relational('source')
    await query(source.external_url, 'ALTER SYSTEM SET wal_level = logical')
    await docker('kill', '-s', 'INT', source.id)
    await become(server, source.id, 'unavailable')
    await become(server, source.id, 'available')
    await query(source.external_url, 'CREATE PUBLICATION notes FOR TABLE notes')
    const { id } = await create(server, { kind: 'relational', name: 'fed', version: '15' })
    const fed = await become(server, id, 'available')
    await query(fed.external_url, 'CREATE TABLE notes (id int PRIMARY KEY)')
    await query(
      fed.external_url,
      `CREATE SUBSCRIPTION feed CONNECTION '${source.internal_url}' PUBLICATION notes`,
    )
    const rows = async () =>
      (await query(fed.external_url, 'SELECT count(*)::int FROM notes'))[0]![0] as number
    await waitFor(async () => (await rows()) === 2, 'what the source holds')
    expect((await upgrade('fed', '17')).status).toBe(202)
    for (let n = 10; (await read(server, id)).status !== 'available'; n++) {
      await query(source.external_url, `INSERT INTO notes VALUES (${n})`)
      await delay(50)
    }
    expect(await read(server, id)).toMatchObject({ version: '17', error: null })
    // What it fetches again does not matter here: a restored subscription is off.
    expect(await query(fed.external_url, 'SELECT subenabled FROM pg_subscription')).toEqual([[false]])
    expect(await rows()).toBeGreaterThanOrEqual(2)
  },
)

test(
  'a datastore with a further database is not upgraded, although it did not answer at first',
  { tags: ['slow'] },
  async () => {
    const db = await relational('silent')
    await query(db.external_url, 'CREATE DATABASE other')
    await docker('pause', db.id)
    expect((await upgrade('silent', '17')).status).toBe(202)
    const now = await become(server, db.id, 'available')
    expect(now.error).toMatch(/^it was not upgraded: it also holds database other/)
    expect(await majorOf(now)).toEqual([[15]])
  },
)

async function isFinishedAfterAKill(pauseMs: number): Promise<void> {
  const db = await relational(`killed-${pauseMs}`)
  expect((await upgrade(db.name, '17')).status).toBe(202)
  await delay(pauseMs)
  await server.kill('SIGKILL')
  await server.restart()
  const now = await become(server, db.id, 'available')
  expect(now).toMatchObject({ version: '17', error: null })
  expect(await query(now.external_url, 'SELECT id FROM notes ORDER BY id')).toEqual([[1], [2]])
  await query(now.external_url, 'INSERT INTO notes VALUES (3)')
  expect((await server.api('DELETE', `/datastores/${db.name}`)).status).toBe(204)
}

test.each([0, 2_500])(
  'a server that is killed %s ms into an upgrade finishes it',
  { tags: ['slow'] },
  isFinishedAfterAKill,
)

test('an upgrade is canceled when its datastore is deleted with force', { tags: ['slow'] }, async () => {
  const db = await relational('gone')
  expect((await upgrade('gone', '17')).status).toBe(202)
  expect((await server.api('DELETE', '/datastores/gone?force')).status).toBe(204)
  expect(await docker('ps', '-aq', '--filter', `name=${db.id}`)).toBe('')
  expect(await docker('volume', 'ls', '-q', '--filter', `name=${db.id}`)).toBe('')
})

test('a key-value store is upgraded the same way', async () => {
  const { id } = await create(server, { kind: 'keyvalue', name: 'cache', version: '7' })
  const cache = await become(server, id, 'available')
  await keyvalue(cache.external_url, (client) => client.set('kept', 'yes'))
  // There is only one version here: the newer tag is the same image.
  await docker('tag', 'redis:7', 'redis:8')
  expect((await upgrade('cache', '8')).status).toBe(202)
  const now = await become(server, id, 'available')
  expect(now).toMatchObject({ version: '8', error: null })
  expect(await keyvalue(now.external_url, (client) => client.get('kept'))).toBe('yes')
  await keyvalue(now.external_url, (client) => client.set('more', 'yes'))
})
