import { rolesOfLine } from './dump-roles.ts'

/** Longer lines are no statements of the kinds that are looked for. */
const MAX_LINE_CHARACTERS = 16 * 1024
/** More are no roles that somebody has made by hand. */
const MAX_ROLES = 1_000
/** Settings of one database are some lines. */
const MAX_SETTINGS_CHARACTERS = 1024 * 1024
/** How pg_dump begins what it says of one thing. */
const ENTRY = /^-- (?:Data for )?Name: (.*?); Type: ([A-Z ]+); Schema: /
/** The statements of an entry of a database that hold for it, and not for the session that loads it. */
const SETTING =
  /^(?:ALTER|COMMENT|GRANT|REVOKE|SECURITY LABEL|SET SESSION AUTHORIZATION|RESET SESSION AUTHORIZATION)\b/
/** An entry of the contents of a dump that is a large object, and to whom it belongs. */
const LARGE_OBJECT = /^\d+; \d+ \d+ BLOB(?: METADATA)? - \S+ (.*)$/
const LARGE_OBJECT_RIGHTS = /^\d+; \d+ \d+ ACL - LARGE OBJECTS? /

/** What a dump of one database needs or says beyond what is in it. */
export interface DumpScript {
  /** The roles that it speaks of: it does not hold them, and is not loaded without them. */
  roles: string[]
  /** Statements that give the database its own settings, rights and comment; empty when it has none. */
  settings: string
}

/** Reads the script that pg_restore writes of a dump, with `--create`. */
export async function readScript(script: AsyncIterable<Buffer>): Promise<DumpScript> {
  const roles = new Set<string>()
  let settings = ''
  let isOfDatabase = false
  let statement = ''
  for await (const line of linesOf(script)) {
    const entry = ENTRY.exec(line)
    if (entry) isOfDatabase = entry[2]!.startsWith('DATABASE') || entry[1]!.startsWith('DATABASE ')
    else if (isOfDatabase && (statement !== '' || SETTING.test(line))) {
      statement += `${line}\n`
      if (!isWhole(statement) && statement.length < MAX_SETTINGS_CHARACTERS) continue
      if (settings.length < MAX_SETTINGS_CHARACTERS) settings += statement
      statement = ''
    }
    for (const role of rolesOfLine(line)) if (roles.size < MAX_ROLES) roles.add(role)
  }
  return { roles: [...roles], settings }
}

/** A value may have lines of its own. */
function isWhole(statement: string): boolean {
  return statement.endsWith(';\n') && statement.split("'").length % 2 === 1
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
