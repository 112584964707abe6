/** The settings of a database are some lines. */
const MAX_CHARACTERS = 1024 * 1024
/** The statements of such a script that apply to the database, not to the session that loads it. */
const SETTING =
  /^(?:ALTER|COMMENT|GRANT|REVOKE|SECURITY LABEL|SET SESSION AUTHORIZATION|RESET SESSION AUTHORIZATION)\b/

/** A schema that cannot exist: the name is longer than allowed (NAMEDATALEN). */
const NONEXISTENT_SCHEMA = '-'.repeat(64)
/** Makes pg_restore print what a dump says about the database itself, and nothing of its contents. */
export const DATABASE_ONLY = ['--create', '--schema-only', `--schema=${NONEXISTENT_SCHEMA}`]

/**
 * Returns the statements that set a database's settings, rights, owner and comment, from the script that pg_restore writes
 * with these options. Throws for a script that is too long or ends within a statement.
 */
export async function settingsOf(script: AsyncIterable<Buffer>): Promise<string[]> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of script) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > MAX_CHARACTERS) throw new Error('the settings of the database are too long')
  }
  const statements: string[] = []
  let pending: string[] = []
  let quote: string | null = null
  for (const line of text.split('\n')) {
    if (pending.length === 0 && !SETTING.test(line)) continue
    pending.push(line)
    quote = openAfter(line, quote)
    if (quote !== null || !line.endsWith(';')) continue
    statements.push(`${pending.join('\n')}\n`)
    pending = []
  }
  if (pending.length > 0) throw new Error('the settings of the database end within a statement')
  return statements
}

/**
 * Returns the quote that is open after a line, given the one before it: a name or a value may span lines. A quote inside its
 * own kind is doubled, so it closes and opens again.
 */
function openAfter(line: string, before: string | null): string | null {
  let open = before
  for (const [character] of line.matchAll(/["']/g)) {
    if (open === null) open = character
    else if (open === character) open = null
  }
  return open
}
