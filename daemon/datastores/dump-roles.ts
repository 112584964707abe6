/** The statements of a script of pg_restore that name roles; each is one line, or names them in its first. */
const VERBS = /^(?:ALTER|CREATE POLICY|CREATE USER MAPPING|GRANT|REVOKE|SET SESSION AUTHORIZATION) /
/** A quoted name, a word, or a mark between them. */
const TOKEN = /"(?:[^"]|"")*"|[^\s",;()]+|[,;()]/g
/** How the rows of a table begin, and what ends them (manual, "COPY"). */
const ROWS = /^COPY .* FROM stdin;$/
const END_OF_ROWS = '\\.'
/** An entry of the contents of a dump that is a large object, and to whom it belongs. */
const LARGE_OBJECT = /^\d+; \d+ \d+ BLOB(?: METADATA)? - \S+ (.*)$/
const LARGE_OBJECT_RIGHTS = /^\d+; \d+ \d+ ACL - LARGE OBJECTS? /
/** Longer lines are no statements of these. */
const MAX_LINE_CHARACTERS = 16 * 1024
/** More are no roles that somebody has made by hand. */
const MAX_ROLES = 1_000
/** NAMEDATALEN without its end (manual, "Lexical Structure"): what is longer is no name. */
const MAX_NAME_BYTES = 63
/** Roles that somebody has made by hand are some KiB. */
const MAX_SCRIPT_CHARACTERS = 4 * 1024 * 1024
/** A statement that creates a role or is about it alone; the names of owners are in quotes where they are words of SQL. */
const OF_ONE_ROLE = /^(?:CREATE|ALTER) ROLE "?([a-z0-9_]+)"?(?: (?:WITH|SET) .*)?;$/
/** Those that every database has, and words that stand for none (manual, "CREATE ROLE"). */
const NOT_MADE = /^(?:pg_.*|PUBLIC|public|none)$/

/**
 * The roles that a dump of one database speaks of, from the script that pg_restore writes of it: a dump does not hold them,
 * and is not loaded without them. A function's text may look like such a statement; it names one too many. What stands between
 * the rows of tables, where it has them, does not count.
 */
export async function rolesOfScript(script: AsyncIterable<Buffer>, hasRows: boolean): Promise<string[]> {
  const names = new Set<string>()
  let isRows = false
  for await (const line of linesOf(script)) {
    if (isRows) isRows = line !== END_OF_ROWS
    else if (hasRows && ROWS.test(line)) isRows = true
    else for (const name of rolesOf(line)) if (names.size < MAX_ROLES) names.add(name)
  }
  return [...names]
}

/** The roles that a line of such a script speaks of. */
export function rolesOf(line: string): string[] {
  if (!VERBS.test(line)) return []
  return rolesIn(line.match(TOKEN) ?? [])
    .map((name) => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name))
    .filter(isRole)
}

/**
 * Whether the contents of a dump, as `pg_restore --list` prints them, have large objects that others than this role own or
 * have rights to: of these its schema says nothing.
 */
export async function hasForeignLargeObjects(list: AsyncIterable<Buffer>, owner: string): Promise<boolean> {
  let found = false
  for await (const line of linesOf(list)) {
    const itsOwner = LARGE_OBJECT.exec(line)?.[1]
    found ||= LARGE_OBJECT_RIGHTS.test(line) || (itsOwner !== undefined && itsOwner !== owner)
  }
  return found
}

function isRole(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= MAX_NAME_BYTES && !NOT_MADE.test(name)
}

/** The statement that makes a role with which nobody can sign in. */
export function createRole(name: string): string {
  return `CREATE ROLE "${name.replaceAll('"', '""')}"`
}

/**
 * The statements of a script of `pg_dumpall --roles-only`, without those that are about the owner alone: every datastore has
 * one, and its settings would hold for what loads a backup. Throws for a script that is longer than any.
 */
export async function rolesBesides(owner: string, script: AsyncIterable<Buffer>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of script) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > MAX_SCRIPT_CHARACTERS) throw new Error('it has too many roles to be carried over')
  }
  const isOfOwner = (line: string) => OF_ONE_ROLE.exec(line)?.[1] === owner
  return text
    .split('\n')
    .filter((line) => !isOfOwner(line))
    .join('\n')
}

/** The roles that a statement names, as they are written there. */
function rolesIn(tokens: string[]): string[] {
  const [verb, object] = tokens
  const grantees = () => namesAfter(tokens, Math.max(tokens.lastIndexOf('TO'), tokens.lastIndexOf('FROM')))
  switch (verb) {
    case 'SET':
      return namesAfter(tokens, tokens.indexOf('AUTHORIZATION'))
    case 'CREATE':
      return namesAfter(tokens, tokens.indexOf(object === 'USER' ? 'FOR' : 'TO'))
    case 'ALTER':
      if (object === 'DEFAULT') return [...namesAfter(tokens, tokens.indexOf('ROLE')), ...grantees()]
      return namesAfter(tokens, tokens.indexOf('OWNER') === -1 ? -1 : tokens.lastIndexOf('TO'))
    default:
      return grantees()
  }
}

/** The list of names behind a word; none when the word is not there. */
function namesAfter(tokens: string[], word: number): string[] {
  const names: string[] = []
  if (word === -1) return names
  for (let at = word + 1; at < tokens.length; at += 2) {
    names.push(tokens[at]!)
    if (tokens[at + 1] !== ',') break
  }
  return names
}

/** Lines of a text, of which no more than the beginning is held. */
async function* linesOf(text: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let begun = ''
  for await (const piece of text) {
    const [first, ...lines] = decoder.decode(piece, { stream: true }).split('\n')
    begun = (begun + first).slice(0, MAX_LINE_CHARACTERS)
    for (const line of lines) {
      yield begun
      begun = line.slice(0, MAX_LINE_CHARACTERS)
    }
  }
  yield begun
}
