import { expect, test } from 'vitest'
import {
  createRole,
  hasForeignLargeObjects,
  rolesWithout,
  rolesOfScript,
} from '#daemon/datastores/dump-roles.ts'
import { settingsOf } from '#daemon/datastores/dump-settings.ts'

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer, void> {
  const bytes = Buffer.from(text)
  await Promise.resolve()
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const SCRIPT = `\\restrict x
ALTER SCHEMA app OWNER TO keeper;
ALTER TABLE public.notes OWNER TO "Odd ""one; TO two";
CREATE POLICY p ON public.notes FOR SELECT TO reader, "Writer" USING ((owner = CURRENT_USER));
CREATE POLICY q ON public.notes TO auditor WITH CHECK (true);
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT SELECT(id),UPDATE(id) ON TABLE public.notes TO metabase WITH GRANT OPTION;
GRANT SELECT ON TABLE public.notes TO pg_monitor;
GRANT USAGE ON SCHEMA public TO öffentlich;
CREATE USER MAPPING FOR mapped SERVER elsewhere OPTIONS (user 'TO me');
SET SESSION AUTHORIZATION grantor;
GRANT nothing TO "";
GRANT nothing TO ${'x'.repeat(64)};
ALTER DEFAULT PRIVILEGES FOR ROLE maker IN SCHEMA public GRANT ALL ON TABLES TO taker;
COMMENT ON TABLE public.notes IS 'GRANT nothing TO nobody;';
`

test.each([1, 7, 65_536])('a script names its roles, however it comes (%s bytes at a time)', async (size) => {
  expect(await rolesOfScript(inPieces(SCRIPT, size), false)).toEqual([
    'keeper',
    'Odd "one; TO two',
    'reader',
    'Writer',
    'auditor',
    'metabase',
    'öffentlich',
    'mapped',
    'grantor',
    'maker',
    'taker',
  ])
})

test('a line without an end costs no more than its beginning', async () => {
  const long = `GRANT ${'x'.repeat(200_000)} TO nobody;\nGRANT SELECT ON TABLE a TO reader;\n`
  expect(await rolesOfScript(inPieces(long, 4_096), false)).toEqual(['reader'])
})

test('a name is quoted', () => {
  expect(createRole('a"; DROP TABLE x')).toBe('CREATE ROLE "a""; DROP TABLE x"')
})

test('the content of tables names no roles', async () => {
  const rows = 'GRANT SELECT ON TABLE a TO visitor;\n\\\\.\nALTER TABLE a OWNER TO visitor;\n'
  const script = `COPY public.notes (text) FROM stdin;\n${rows}\\.\nGRANT SELECT ON TABLE a TO reader;\n`
  expect(await rolesOfScript(inPieces(script, 7), true)).toEqual(['reader'])
})

test('a comment that looks like the rows of a table hides no roles of a script without rows', async () => {
  const script = "COMMENT ON TABLE a IS 'see\nCOPY a FROM stdin;\n';\nGRANT SELECT ON TABLE a TO reader;\n"
  expect(await rolesOfScript(inPieces(script, 7), false)).toEqual(['reader'])
})

test.each(['app', 'user'])('the roles other than the owner %s come with their privileges', async (owner) => {
  const named = owner === 'user' ? '"user"' : owner
  const others = `CREATE ROLE app_reader;
ALTER ROLE app_reader WITH NOSUPERUSER LOGIN PASSWORD 'SCRAM-SHA-256$4096:x';
ALTER ROLE app_reader SET work_mem TO '7MB';
GRANT app_reader TO ${named} WITH INHERIT TRUE GRANTED BY ${named};
`
  const ofOwner = `CREATE ROLE ${named};
ALTER ROLE ${named} WITH SUPERUSER LOGIN PASSWORD 'SCRAM-SHA-256$4096:y';
ALTER ROLE ${named} SET statement_timeout TO '1s';
`
  expect(await rolesWithout(owner, inPieces(ofOwner + others, 7))).toBe(others)
})

const CREATING = `--
-- Name: app; Type: DATABASE; Schema: -; Owner: app
--

CREATE DATABASE app WITH TEMPLATE = template0 ENCODING = 'UTF8';


ALTER DATABASE app OWNER TO "o'brien; ""two""";

\\connect app

SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);

--
-- Name: DATABASE app; Type: COMMENT; Schema: -; Owner: app
--

COMMENT ON DATABASE app IS 'two;
lines, of ''one'';
ALTER ROLE tenant SUPERUSER;';


--
-- Name: app; Type: DATABASE PROPERTIES; Schema: -; Owner: app
--

ALTER DATABASE app SET search_path TO 'app', 'public';
ALTER ROLE app IN DATABASE app SET work_mem TO '9MB';


\\connect app

SET statement_timeout = 0;

--
-- Name: DATABASE app; Type: ACL; Schema: -; Owner: app
--

GRANT CONNECT ON DATABASE app TO reader;
`

test.each([1, 65_536])(
  'a script names the settings of the database itself (%s bytes at a time)',
  async (size) => {
    expect(await settingsOf(inPieces(CREATING, size))).toEqual([
      `ALTER DATABASE app OWNER TO "o'brien; ""two""";\n`,
      "COMMENT ON DATABASE app IS 'two;\nlines, of ''one'';\nALTER ROLE tenant SUPERUSER;';\n",
      "ALTER DATABASE app SET search_path TO 'app', 'public';\n",
      "ALTER ROLE app IN DATABASE app SET work_mem TO '9MB';\n",
      'GRANT CONNECT ON DATABASE app TO reader;\n',
    ])
  },
)

test('a comment of many lines that look like ends is read quickly', async () => {
  const comment = `COMMENT ON DATABASE app IS '${';\n'.repeat(200_000)}';\n`
  expect(await settingsOf(inPieces(comment, 65_536))).toEqual([comment])
})

test('settings that end within a statement, or never, are refused', async () => {
  await expect(settingsOf(inPieces("COMMENT ON DATABASE app IS 'two;\n", 7))).rejects.toThrow(/end within/)
  const endless = inPieces(`COMMENT ON DATABASE app IS '${'x'.repeat(2 ** 21)}`, 65_536)
  await expect(settingsOf(endless)).rejects.toThrow(/too long/)
})

test.each([
  ['12; 2613 90001 BLOB - 90001 app', false],
  ['12; 2613 90001 BLOB - 90001 Odd one', true],
  ['12; 2613 90001 BLOB METADATA - 90001..90004 keeper', true],
  ['13; 0 0 ACL - LARGE OBJECT 90001 app', true],
  ['14; 1259 16385 TABLE public BLOB keeper', false],
])('the contents "%s" of a dump include large objects of others: %s', async (line, expected) => {
  const list = inPieces(`;\n; Selected TOC Entries:\n;\n${line}\n`, 7)
  expect(await hasForeignLargeObjects(list, 'app')).toBe(expected)
})
