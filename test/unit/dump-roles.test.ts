import { expect, test } from 'vitest'
import { createRole, rolesOfScript } from '#daemon/datastores/dump-roles.ts'

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
  expect(await rolesOfScript(inPieces(SCRIPT, size))).toEqual([
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
  expect(await rolesOfScript(inPieces(long, 4_096))).toEqual(['reader'])
})

test('a name is quoted', () => {
  expect(createRole('a"; DROP TABLE x')).toBe('CREATE ROLE "a""; DROP TABLE x"')
})
