import { aptPackagesOf } from './apt.ts'
import type { PlanSettings } from './plan.ts'
import { pagesIn } from './source/pages.ts'
import { linesOf } from './source/text.ts'
import type { Tree } from './source/tree.ts'

/**
 * Returns the command of this service's line in the tree's `Procfile`, or null. `takesOther`: a single line of another name
 * will do; `hasPython`: the plan's image has Python. Notes say what of the file is not used.
 */
export async function procfileCommand(
  tree: Tree,
  settings: PlanSettings,
  notes: string[],
  { takesOther, hasPython }: { takesOther: boolean; hasPython: boolean },
): Promise<string | null> {
  const text = await tree.readText('Procfile')
  if (text === null) return null
  const commands = readProcfile(text)
  const type = settings.processType
  const only = takesOther ? onlyOther(commands) : null
  const [line, command] = commands.has(type) || only === null ? [type, commands.get(type) ?? null] : only
  if ((await lacksPython(command ?? '', tree, settings, hasPython)) && (await pagesIn(tree)) === '.') {
    notes.push(
      `the line "${line}:" of the Procfile (${command}) serves the pages with a Python that the image does not have: it is not used`,
    )
    return null
  }
  notes.push(
    command === null
      ? `the Procfile has no line "${type}:"`
      : `starting with the line "${line}:" of the Procfile`,
  )
  return command
}

/** Python's own file server. */
const SERVES_FILES = /^python[23]? -m (?:http\.server|SimpleHTTPServer)(?: (?:\$PORT|\$\{PORT\}|\d+))?$/
/** No base image has Python 2. */
const OF_PYTHON_2 = /^python2 |SimpleHTTPServer/

/** Whether a command serves files with a Python that the image does not have; Debian's may be installed by request. */
async function lacksPython(
  command: string,
  tree: Tree,
  settings: PlanSettings,
  hasPython: boolean,
): Promise<boolean> {
  if (!SERVES_FILES.test(command)) return false
  if (OF_PYTHON_2.test(command)) return true
  return !hasPython && !(await aptPackagesOf(tree, settings, [])).some((name) => name.startsWith('python'))
}

/** Names of lines that state the type of service they are for. */
const KNOWN_TYPES = new Set(['web', 'worker', 'job', 'release'])

/** Returns the only line, if its name says nothing about a type: `bot:`, `api:`. Null for none or several. */
function onlyOther(commands: ReadonlyMap<string, string>): [string, string] | null {
  const others = [...commands].filter(([name]) => name !== 'release')
  return others.length === 1 && !KNOWN_TYPES.has(others[0]![0]) ? others[0]! : null
}

/** Returns the command of the `release:` line, which runs before a new version goes live; null without one. */
export async function releaseCommand(tree: Tree): Promise<string | null> {
  return readProcfile((await tree.readText('Procfile')) ?? '').get('release') ?? null
}

/** Returns the process types that the tree's Procfile names; none without one. */
export async function processTypes(tree: Tree): Promise<ReadonlySet<string>> {
  return new Set(readProcfile((await tree.readText('Procfile')) ?? '').keys())
}

/** Returns the commands by process type. */
function readProcfile(text: string): Map<string, string> {
  const commands = new Map<string, string>()
  for (const line of linesOf(text)) {
    const [whole, type] = /^([A-Za-z0-9_-]+):/.exec(line) ?? []
    const command = whole === undefined ? '' : line.slice(whole.length).trim()
    if (command !== '') commands.set(type!, command)
  }
  return commands
}
