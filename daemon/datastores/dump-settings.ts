/** A database's own settings are some lines. */
const MAX_CHARACTERS = 1024 * 1024
/** The statements of such a script that hold for the database, and not for the session that loads it. */
const SETTING =
  /^(?:ALTER|COMMENT|GRANT|REVOKE|SECURITY LABEL|SET SESSION AUTHORIZATION|RESET SESSION AUTHORIZATION)\b/
/** Names and values in their quotes, in which a quote stands twice. */
const QUOTED = /"(?:[^"]|"")*"|'(?:[^']|'')*'/g

/** Longer than names may be (NAMEDATALEN). */
const NO_SCHEMA = '-'.repeat(64)
/** Has pg_restore print what a dump says of the database itself, and of nothing in it. */
export const DATABASE_ALONE = ['--create', '--schema-only', `--schema=${NO_SCHEMA}`]

/**
 * The statements that give a database its own settings, rights, owner and comment, from the script that pg_restore writes of
 * it alone. Throws for a script that is longer than any, or ends within a statement.
 */
export async function settingsOf(script: AsyncIterable<Buffer>): Promise<string[]> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of script) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > MAX_CHARACTERS) throw new Error('the settings of the database are too long')
  }
  const statements: string[] = []
  let begun = ''
  for (const line of text.split('\n')) {
    if (begun === '' && !SETTING.test(line)) continue
    begun += `${line}\n`
    if (!isWhole(begun)) continue
    statements.push(begun)
    begun = ''
  }
  if (begun !== '') throw new Error('the settings of the database end within a statement')
  return statements
}

/** A value may have lines of its own. */
function isWhole(statement: string): boolean {
  return statement.endsWith(';\n') && !/["']/.test(statement.replaceAll(QUOTED, ''))
}
