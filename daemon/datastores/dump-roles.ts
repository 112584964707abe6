/** The statements of a script of pg_restore that name roles; each is one line, or names them in its first. */
const VERBS = /^(?:ALTER|CREATE POLICY|CREATE USER MAPPING|GRANT|REVOKE|SET SESSION AUTHORIZATION) /
/** A quoted name, a word, or a mark between them. */
const TOKEN = /"(?:[^"]|"")*"|[^\s",;()]+|[,;()]/g
/** Longer lines are no statements of these. */
const MAX_LINE_CHARACTERS = 16 * 1024
/** More are no roles that somebody has made by hand. */
const MAX_ROLES = 1_000
/** NAMEDATALEN without its end (manual, "Lexical Structure"): what is longer is no name. */
const MAX_NAME_BYTES = 63
/** Those that every database has, and words that stand for none (manual, "CREATE ROLE"). */
const NOT_MADE = /^(?:pg_.*|PUBLIC|public|none)$/

/**
 * The roles that a dump of one database speaks of, from the script that pg_restore writes of its schema: a dump does not
 * hold them, and is not loaded without them. A function's text may look like such a statement; it names one too many.
 */
export async function rolesOfScript(script: AsyncIterable<Buffer>): Promise<string[]> {
  const names = new Set<string>()
  for await (const line of linesOf(script)) {
    if (!VERBS.test(line)) continue
    for (const written of rolesIn(line.match(TOKEN) ?? [])) {
      const name = written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written
      if (isRole(name) && names.size < MAX_ROLES) names.add(name)
    }
  }
  return [...names]
}

function isRole(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= MAX_NAME_BYTES && !NOT_MADE.test(name)
}

/** The statement that makes a role with which nobody can sign in. */
export function createRole(name: string): string {
  return `CREATE ROLE "${name.replaceAll('"', '""')}"`
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
