import { posix } from 'node:path'
import { hasLine, linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import type { NamesPackage } from './requirements.ts'
import { STANDARD_LIBRARY } from './standard-library.ts'

/** How a Python program is started. */
export interface PythonStart {
  command: string
  /** One lower-case word; null for a plain program. */
  framework: string | null
  /** The web server that it needs and the project does not name. */
  packages: string[]
}

/** Where applications are usually created, as file and as module name. */
const MODULES = [
  'app',
  'main',
  'wsgi',
  'asgi',
  'server',
  'application',
  'app/main',
  'app/app',
  'app/__init__',
  'src/main',
  'src/app',
  'api/main',
  'backend/main',
]

/** The same for a package below `src` (PyPA, "src layout vs flat layout"). */
const SOURCES = 'src'
const IN_PACKAGES = ['main', 'app', 'asgi', 'wsgi', 'server', 'api', '__init__', 'webapp']
/** How many of those packages are searched; one has the application. */
const MAX_PACKAGES = 10

/** How many lines of parameters of a factory are read. */
const MAX_PARAMETERS_CHARACTERS = 4_096

/** How an application is created in a module, and how it is served. */
const APPLICATIONS: { framework: string; call: RegExp; kind: 'asgi' | 'wsgi' }[] = [
  { framework: 'fastapi', call: /^(?:\w+\.)?FastAPI\(/, kind: 'asgi' },
  { framework: 'fasthtml', call: /^(?:fast_app|FastHTML|\w+\.FastHTML)\(/, kind: 'asgi' },
  { framework: 'starlette', call: /^(?:\w+\.)?Starlette\(/, kind: 'asgi' },
  { framework: 'litestar', call: /^(?:\w+\.)?Litestar\(/, kind: 'asgi' },
  { framework: 'quart', call: /^(?:\w+\.)?Quart\(/, kind: 'asgi' },
  { framework: 'flask', call: /^(?:\w+\.)?Flask\(/, kind: 'wsgi' },
  { framework: 'falcon', call: /^falcon\.(?:App|API)\(/, kind: 'wsgi' },
]

const KINDS = Object.fromEntries(APPLICATIONS.map(({ framework, kind }) => [framework, kind]))

/** Finds the application for a Python web server, by how its module creates it; null where no usual way is found. */
export async function findApplication(tree: Tree, names: NamesPackage): Promise<PythonStart | null> {
  for (const file of MODULES) {
    const text = await tree.readText(`${file}.py`)
    const made = text === null ? null : madeIn(text, names)
    if (text === null || made === null) continue
    const folder = posix.dirname(file)
    const isInside = folder !== '.' && (await importsBeside(tree, file, text, names))
    const start = served(made, moduleOf(isInside ? posix.basename(file) : file), names)
    return isInside ? { ...start, command: `cd ${folder} && ${start.command}` } : start
  }
  return null
}

/** Finds the application that a package below `src`, or one in the root, creates; null where none does by itself. */
export async function findPackaged(tree: Tree, names: NamesPackage): Promise<PythonStart | null> {
  const below = await inPackages(tree, SOURCES, names)
  if (below !== null) return { ...below, command: `PYTHONPATH=${SOURCES} ${below.command}` }
  return await inPackages(tree, '.', names)
}

async function inPackages(tree: Tree, root: string, names: NamesPackage): Promise<PythonStart | null> {
  const folders = (await tree.list(root)).filter((name) => /^(?!tests?\/)[A-Za-z_]\w*\/$/.test(name))
  let left = MAX_PACKAGES
  for (const folder of folders) {
    // Besides packages, the root has folders of all kinds.
    if (root !== SOURCES && !(await tree.hasFile(`${folder}__init__.py`))) continue
    if (--left < 0) return null
    for (const module of IN_PACKAGES) {
      const file = `${folder}${module}`
      const text = await tree.readText(posix.join(root, `${file}.py`))
      const made = text === null ? null : madeIn(text, names)
      if (text === null || made === null || (made.isFactory && !takesNothing(text))) continue
      return served(made, moduleOf(file), names)
    }
  }
  return null
}

function moduleOf(file: string): string {
  return file.replace(/\/__init__$/, '').replaceAll('/', '.')
}

/** Whether the factory of a module can be called without arguments: a server passes none. */
function takesNothing(text: string): boolean {
  const [, rest = ''] = text.split(/^def create_app\(/m, 2)
  const parameters = rest.slice(0, MAX_PARAMETERS_CHARACTERS).split(')', 1)[0]!.split(',')
  return parameters.map((each) => each.trim()).every((each) => /^(?:$|[*/])|=/.test(each))
}

/**
 * Whether a module names others of its folder as if that were the root, so that it is started there. One that also names
 * them from the root, or by their place, is none, nor is a package itself.
 */
async function importsBeside(tree: Tree, file: string, text: string, names: NamesPackage): Promise<boolean> {
  const folder = posix.dirname(file)
  if (posix.basename(file) === '__init__') return false
  const root = new Set(await modulesIn(tree, '.'))
  const beside = new Set((await modulesIn(tree, folder)).filter((name) => !root.has(name)))
  const imported = new Set<string>()
  for (const line of linesOf(text)) {
    if (/^\s*from\s+\./.test(line)) return false
    const name = /^\s*(?:from|import)\s+([A-Za-z_]\w*)/.exec(line)?.[1]
    if (name !== undefined) imported.add(name)
  }
  const isElsewhere = (name: string): boolean =>
    STANDARD_LIBRARY.has(name) || names(name.replaceAll('_', '-'))
  return !imported.has(folder) && [...imported].some((name) => beside.has(name) && !isElsewhere(name))
}

async function modulesIn(tree: Tree, folder: string): Promise<string[]> {
  return (await tree.list(folder)).map((name) => name.replace(/(?:\.py|\/)$/, ''))
}

interface Made {
  framework: string
  kind: 'asgi' | 'wsgi'
  /** The arguments for a server, by the name of the module. */
  target: (module: string) => string
  /** Whether a function that the server calls creates it. */
  isFactory: boolean
}

function madeIn(text: string, names: NamesPackage): Made | null {
  for (const { framework, call, kind } of APPLICATIONS) {
    const made = findMade(text, call)
    if (made !== undefined)
      return { framework, kind, target: (module) => `${module}:${made}`, isFactory: false }
  }
  // Dash exposes its server by a name, or runs it itself on HOST and PORT.
  const dash = names('dash') ? findMade(text, /^\w+\.server\b/) : undefined
  if (dash !== undefined) {
    return { framework: 'dash', kind: 'wsgi', target: (module) => `${module}:${dash}`, isFactory: false }
  }
  if (!hasLine(text, /^def create_app\(/)) return null
  // Its application may come from another module.
  const lines = factoryLines(text)
  const inside = APPLICATIONS.find(({ call }) => makesInside(lines, call))
  const framework = inside?.framework ?? (names('fastapi') && !names('flask') ? 'fastapi' : 'flask')
  const isFactory = true
  return (inside?.kind ?? KINDS[framework]) === 'asgi'
    ? { framework, kind: 'asgi', target: (module) => `--factory ${module}:create_app`, isFactory }
    : { framework, kind: 'wsgi', target: (module) => `"${module}:create_app()"`, isFactory }
}

/** Yields the lines of a module's factory; those of its parameters may end with a bracket that is not indented. */
function factoryLines(text: string): string[] {
  const lines = [...linesOf(text)]
  const start = lines.findIndex((line) => line.startsWith('def create_app(')) + 1
  const end = lines.findIndex((line, index) => index >= start && /^[^\s)#]/.test(line))
  return lines.slice(start, end === -1 ? undefined : end)
}

/** Whether lines of a function create an application. */
function makesInside(lines: readonly string[], call: RegExp): boolean {
  for (const line of lines) {
    const [, made] = /^\s+(?:return|[A-Za-z_]\w*(?:\s*:[^=]{1,100})?\s*=)\s*(\S.*)$/.exec(line) ?? []
    if (made !== undefined && call.test(made)) return true
  }
  return false
}

/** The dev servers of Django and Flask are not meant to be public. */
export function withServer(start: PythonStart, server: string, names: NamesPackage): PythonStart {
  return names(server) ? start : { ...start, packages: [server] }
}

function served(made: Made, module: string, names: NamesPackage): PythonStart {
  const { framework, kind, isFactory } = made
  const target = made.target(module)
  const start = { framework, packages: [] }
  if (kind === 'wsgi') {
    return withServer({ ...start, command: `gunicorn --bind 0.0.0.0:$PORT ${target}` }, 'gunicorn', names)
  }
  if (!names('uvicorn') && names('hypercorn') && !isFactory) {
    return { ...start, command: `hypercorn --bind 0.0.0.0:$PORT ${target}` }
  }
  return withServer({ ...start, command: `uvicorn --host 0.0.0.0 --port $PORT ${target}` }, 'uvicorn', names)
}

/**
 * Returns the name to which a module assigns the result of a call: `app = Flask(...)`, `app: FastAPI = FastAPI(...)`, `app,
 * rt = fast_app()`.
 */
function findMade(text: string, call: RegExp): string | undefined {
  for (const line of linesOf(text)) {
    const equals = line.indexOf('=')
    if (equals === -1 || !call.test(line.slice(equals + 1).trimStart())) continue
    const name = /^[A-Za-z_]\w*(?=\s*(?:[:,]|$))/.exec(line.slice(0, equals))?.[0]
    if (name !== undefined) return name
  }
  return undefined
}
