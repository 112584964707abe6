import type { ComposeFile, ComposeProgram } from './file.ts'
import { wordsOf } from './commands.ts'
import type { Port } from './ports.ts'

/** A place in a text that names another program of the file. */
export interface Address {
  program: ComposeProgram
  host: string
  /** The index of the host in the text. */
  at: number
  /** The port that follows it, or that of its scheme; null when there is neither. */
  port: number | null
}

/** What may be a host: a word after a scheme, a user, or a separator. */
const HOSTS = /(^|\/\/|[@,;\s=("'[])([A-Za-z0-9][\w.-]*)(?=[:/?,;\s"')\]]|$)/g
/** Keys of variables whose value may be just a host. */
const HOST_KEY = /host|addr|server|url|uri|endpoint|broker|upstream|proxy|nodes/i
/** The flag of a command before a host. */
const HOST_FLAG = /(?:^|\s)-(?:h|-?[\w-]*(?:host|addr|server|address|endpoint|broker|url|uri))$/i
const HTTP = 80

/** The addresses of other programs in the value of a variable, or in a command, which has no key. */
export function addressesIn(text: string, file: ComposeFile, key = ''): Address[] {
  return [...text.matchAll(HOSTS)].flatMap((match): Address[] => {
    const [whole, before = '', host = ''] = match
    const program = file.at(host)
    if (!program) return []
    const after = text.slice(match.index + whole.length)
    const written = /^:(\d{1,5})(?!\d)/.exec(after)?.[1]
    const isAddress =
      before === '//' ||
      before === '@' ||
      written !== undefined ||
      (before === '=' && isHostOf(text, match.index)) ||
      (key === '' && HOST_FLAG.test(text.slice(Math.max(0, match.index - 32), match.index)))
    if (!isAddress && !HOST_KEY.test(key)) return []
    const isHttp = before === '//' && /\bhttp:$/.test(text.slice(Math.max(0, match.index - 6), match.index))
    const port = written === undefined ? (isHttp ? HTTP : null) : Number(written)
    return [{ program, host, at: match.index + before.length, port }]
  })
}

/** Whether the word before an equals sign names a host, as in `Host=db;Port=5432`. */
function isHostOf(text: string, at: number): boolean {
  return /(?:host|server|data source|addr|address)\s*$/i.test(text.slice(Math.max(0, at - 32), at))
}

/**
 * Replaces the hosts in a text of a program by their names here. Also returns which names changed. A name with a dot that a
 * program uses for itself stays: it is the one under which others know it, such as `git.example.com`.
 */
export function renameHosts(
  text: string,
  addresses: readonly Address[],
  own: ComposeProgram,
): { text: string; renamed: string[] } {
  const renamed: string[] = []
  let written = ''
  let from = 0
  for (const { program, host, at } of addresses) {
    if (program.here === host || (program === own && host.includes('.'))) continue
    renamed.push(`${host} is ${program.here}`)
    written += `${text.slice(from, at)}${program.here}`
    from = at + host.length
  }
  return { text: written + text.slice(from), renamed: [...new Set(renamed)] }
}

/** The programs that others connect to, with the port if one of the others names it. */
export type Called = ReadonlyMap<ComposeProgram, Port | undefined>

export function calledPrograms(file: ComposeFile): Called {
  const called = new Map<ComposeProgram, Port | undefined>()
  for (const caller of file.programs) {
    const variables = new Map(caller.variables.map(({ key, value }) => [key, value?.text ?? '']))
    const fields = ['command', 'entrypoint'].flatMap((field) => caller.mapping.node.entries.get(field) ?? [])
    const texts = [
      ...caller.variables.map(({ key, value, node }) => ({ key, text: value?.text ?? '', node })),
      ...fields.flatMap((node) => wordsOf(node).words.map((text) => ({ key: '', text, node }))),
    ]
    for (const { key, text, node } of texts)
      for (const { program, port } of addressesIn(text, file, key)) {
        const number = port ?? relatedPort(key, variables)
        if (program === caller || called.get(program)) continue
        const isPort = number !== null && number >= 1 && number <= 65_535
        called.set(program, isPort ? { number, last: number, node } : undefined)
      }
  }
  return called
}

/** The port in a related variable, such as `API_PORT` for `API_HOST`. */
function relatedPort(key: string, variables: ReadonlyMap<string, string>): number | null {
  const text = variables.get(key.replace(/(?:HOST(?:NAME)?|ADDR(?:ESS)?|SERVER)$/i, 'PORT'))
  return text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : null
}
