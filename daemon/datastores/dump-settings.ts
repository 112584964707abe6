/** A database's own settings are some lines. */
const MAX_CHARACTERS = 1024 * 1024
/** The statements of such a script that hold for the database, and not for the session that loads it. */
const SETTING =
  /^(?:ALTER|COMMENT|GRANT|REVOKE|SECURITY LABEL|SET SESSION AUTHORIZATION|RESET SESSION AUTHORIZATION)\b/

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
  let begun: string[] = []
  let quote: string | null = null
  for (const line of text.split('\n')) {
    if (begun.length === 0 && !SETTING.test(line)) continue
    begun.push(line)
    quote = openAfter(line, quote)
    if (quote !== null || !line.endsWith(';')) continue
    statements.push(`${begun.join('\n')}\n`)
    begun = []
  }
  if (begun.length > 0) throw new Error('the settings of the database end within a statement')
  return statements
}

/**
 * The quote that is open after a line, by that before it: a name or a value may have lines of its own. A quote within its own
 * kind stands twice, so that it closes and opens.
 */
function openAfter(line: string, before: string | null): string | null {
  let open = before
  for (const [character] of line.matchAll(/["']/g)) {
    if (open === null) open = character
    else if (open === character) open = null
  }
  return open
}
