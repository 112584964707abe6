/** The statements of a script of pg_restore that name roles; each is one line, or names them in its first. */
const VERBS = /^(?:ALTER|CREATE POLICY|CREATE USER MAPPING|GRANT|REVOKE|SET SESSION AUTHORIZATION) /
/** A quoted name, a word, or a mark between them. */
const TOKEN = /"(?:[^"]|"")*"|[^\s",;()]+|[,;()]/g
/** NAMEDATALEN without its end (manual, "Lexical Structure"): what is longer is no name. */
const MAX_NAME_BYTES = 63
/** Those that every database has, and words that stand for none (manual, "CREATE ROLE"). */
const NOT_MADE = /^(?:pg_.*|PUBLIC|public|none)$/

/** The roles that a line of a script of pg_restore speaks of. A function's text may look like such a statement; it names one too many. */
export function rolesOfLine(line: string): string[] {
  if (!VERBS.test(line)) return []
  return rolesIn(line.match(TOKEN) ?? [])
    .map((name) => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name))
    .filter(isRole)
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
