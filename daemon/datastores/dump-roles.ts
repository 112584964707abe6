/** The statements of a pg_restore script that name roles; each is one line, or names them in its first line. */
const VERBS = /^(?:ALTER|CREATE POLICY|CREATE USER MAPPING|GRANT|REVOKE|SET SESSION AUTHORIZATION) /
/** A quoted name, a word, or a punctuation mark between them. */
const TOKEN = /"(?:[^"]|"")*"|[^\s",;()]+|[,;()]/g
/** The lines before and after the rows of a table (manual, "COPY"). */
const ROWS = /^COPY .* FROM stdin;$/
const END_OF_ROWS = '\\.'
/** A large object in the table of contents of a dump, with its owner. */
const LARGE_OBJECT = /^\d+; \d+ \d+ BLOB(?: METADATA)? - \S+ (.*)$/
const LARGE_OBJECT_RIGHTS = /^\d+; \d+ \d+ ACL - LARGE OBJECTS? /
/** None of these statements has longer lines. */
const MAX_LINE_CHARACTERS = 16 * 1024
/** Nobody creates more roles by hand. */
const MAX_ROLES = 1_000
/** NAMEDATALEN without the terminator (manual, "Lexical Structure"): longer names do not exist. */
const MAX_NAME_BYTES = 63
/** The statements for roles created by hand have some KiB. */
const MAX_SCRIPT_CHARACTERS = 4 * 1024 * 1024
/** A statement that creates or alters one role. Owner names that are SQL keywords are in quotes. */
const SINGLE_ROLE_STATEMENT = /^(?:CREATE|ALTER) ROLE "?([a-z0-9_]+)"?(?: (?:WITH|SET) .*)?;$/
/** Built-in roles, and words that do not name a role (manual, "CREATE ROLE"). */
const BUILT_IN_ROLES = /^(?:pg_.*|PUBLIC|public|none)$/

/**
 * Returns the roles that a dump of one database refers to, from the script that pg_restore writes of it: a dump does not
 * contain them and cannot be loaded without them. A function body may look like such a statement, which only adds a role.
 * The rows of tables, if the script has them, are skipped.
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

/** Returns the roles that a line of such a script refers to. */
export function rolesOf(line: string): string[] {
  if (!VERBS.test(line)) return []
  return rolesIn(line.match(TOKEN) ?? [])
    .map((name) => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name))
    .filter(isRole)
}

/**
 * Whether a dump, by the output of `pg_restore --list`, has large objects that other roles own or have rights to: the
 * script of its schema does not mention those.
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
  return name !== '' && Buffer.byteLength(name) <= MAX_NAME_BYTES && !BUILT_IN_ROLES.test(name)
}

/** Returns the statement that creates a role that cannot sign in. */
export function createRole(name: string): string {
  return `CREATE ROLE "${name.replaceAll('"', '""')}"`
}

/**
 * Returns the statements of a `pg_dumpall --roles-only` script without those about the owner only: every datastore has an
 * owner already, and its settings would apply while the backup is loaded. Throws for a script that is too long.
 */
export async function rolesWithout(owner: string, script: AsyncIterable<Buffer>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of script) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > MAX_SCRIPT_CHARACTERS) throw new Error('it has too many roles to copy')
  }
  const isOfOwner = (line: string) => SINGLE_ROLE_STATEMENT.exec(line)?.[1] === owner
  return text
    .split('\n')
    .filter((line) => !isOfOwner(line))
    .join('\n')
}

/** Returns the roles that a statement names, as they are written there. */
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

/** Returns the list of names after a word; an empty list if the word is missing. */
function namesAfter(tokens: string[], word: number): string[] {
  const names: string[] = []
  if (word === -1) return names
  for (let at = word + 1; at < tokens.length; at += 2) {
    names.push(tokens[at]!)
    if (tokens[at + 1] !== ',') break
  }
  return names
}

/** Yields the lines of a text, each cut to its beginning. */
async function* linesOf(text: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const piece of text) {
    const [first, ...lines] = decoder.decode(piece, { stream: true }).split('\n')
    pending = (pending + first).slice(0, MAX_LINE_CHARACTERS)
    for (const line of lines) {
      yield pending
      pending = line.slice(0, MAX_LINE_CHARACTERS)
    }
  }
  yield pending
}
