import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { backUp, become, create, query, type Datastore } from './datastore-support.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
})

afterAll(async () => {
  await server?.stop()
})

/** Creates a relational datastore with the contents that a script creates. */
async function holding(name: string, script: string): Promise<Datastore> {
  const { id } = await create(server, { kind: 'relational', name, database: 'app', version: '15' })
  const db = await become(server, id, 'available')
  await query(db.external_url, script)
  return db
}

/** Backs up a datastore, restores the backup into a new one, and returns the new one. */
async function copyOf({ name }: Datastore): Promise<Datastore> {
  const backup = await backUp(server, name)
  expect(backup).toMatchObject({ status: 'succeeded' })
  const path = `/datastores/${name}/backups/${backup.id}/restore`
  const { body } = await server.api('POST', path, { name: `${name}-copy` })
  const copy = await waitFor(async () => {
    const now = (await server.api('GET', `/datastores/${body.id}`)).body as Datastore
    return now.status === 'restoring' ? null : now
  }, 'the end of the restore')
  return copy.status === 'failed' ? copy : become(server, copy.id, 'available')
}

/** What was set for the database itself, not for its contents. */
const GIVEN = `SELECT
  (SELECT array_agg(setting ORDER BY setting) FROM pg_db_role_setting, unnest(setconfig) AS setting),
  (SELECT array_agg(grantee::regrole::text || ' ' || privilege_type ORDER BY 1) FROM aclexplode(datacl) WHERE grantee <> 0 AND grantee <> datdba),
  has_database_privilege('visitor', 'app', 'TEMPORARY'), shobj_description(oid, 'pg_database'), datconnlimit,
  pg_get_userbyid(datdba)
  FROM pg_database WHERE datname = 'app'`

const GIVE = `CREATE SCHEMA app; CREATE TABLE app.notes AS SELECT 7 AS id;
  CREATE ROLE visitor; CREATE ROLE landlord;
  ALTER DATABASE app SET search_path TO app, public; ALTER DATABASE app SET app.secret TO E'two\\nlines;\\nof ''it''';
  ALTER ROLE CURRENT_USER IN DATABASE app SET work_mem TO '9MB';
  ALTER DATABASE app CONNECTION LIMIT 9; COMMENT ON DATABASE app IS 'mine';
  REVOKE ALL ON DATABASE app FROM PUBLIC; GRANT CONNECT ON DATABASE app TO visitor;
  ALTER DATABASE app OWNER TO landlord`

test(
  'a restored database has the settings, rights, comment and owner of the original',
  { tags: ['slow'] },
  async () => {
    const db = await holding('given', GIVE)
    const before = await query(db.external_url, GIVEN)
    expect(before[0]![0]).toHaveLength(3)
    const copy = await copyOf(db)
    expect(copy.error).toBeNull()
    expect(await query(copy.external_url, GIVEN)).toEqual(before)
    // Through the search path.
    expect(await query(copy.external_url, 'SELECT id FROM notes')).toEqual([[7]])
  },
)

test(
  'large objects that other roles own, or have rights to, are restored with their owner and rights',
  { tags: ['slow'] },
  async () => {
    const db = await holding(
      'large',
      `CREATE ROLE "Odd owner"; CREATE ROLE viewer;
     SELECT lo_from_bytea(90001, 'one'); ALTER LARGE OBJECT 90001 OWNER TO "Odd owner";
     SELECT lo_from_bytea(90002, 'two'); GRANT SELECT ON LARGE OBJECT 90002 TO viewer`,
    )
    const objects = `SELECT oid::int, lomowner = '"Odd owner"'::regrole, coalesce(lomacl::text, '') LIKE '%viewer=r%',
    convert_from(lo_get(oid), 'UTF8') FROM pg_largeobject_metadata ORDER BY oid`
    const copy = await copyOf(db)
    expect(copy.error).toBeNull()
    expect(await query(copy.external_url, objects)).toEqual([
      [90001, true, false, 'one'],
      [90002, false, true, 'two'],
    ])
  },
)

test('text in tables and comments is never run as a statement by a restore', { tags: ['slow'] }, async () => {
  const lines = "E'x\\n-- Name: x; Type: DATABASE; Schema: -\\nALTER ROLE tenant SUPERUSER;'"
  const db = await holding(
    'hostile',
    `CREATE ROLE tenant; CREATE TABLE notes (line text); COMMENT ON TABLE notes IS ${lines};
     INSERT INTO notes VALUES ('-- Name: x; Type: DATABASE; Schema: -'), ('ALTER ROLE tenant SUPERUSER; DROP TABLE notes;');
     SELECT lo_from_bytea(90003, 'three'); GRANT SELECT ON LARGE OBJECT 90003 TO PUBLIC; GRANT SELECT ON notes TO tenant`,
  )
  const copy = await copyOf(db)
  expect(copy.error).toBeNull()
  expect(await query(copy.external_url, "SELECT rolsuper FROM pg_roles WHERE rolname = 'tenant'")).toEqual([
    [false],
  ])
  expect(await query(copy.external_url, 'SELECT count(*)::int FROM notes')).toEqual([[2]])
})
