import { posix } from 'node:path'
import type { Tree } from '../../../sources/tree.ts'
import { hasLine, linesOf } from '../../text.ts'
import type { NamesPackage } from './requirements.ts'

/** How a Python program is started. */
export interface PythonStart {
  command: string
  /** One lower-case word; null for a plain program. */
  framework: string | null
  /** The web server that it wants, which the project does not name. */
  packages: string[]
}

/** Where applications are usually made, as file and as module name. */
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

/** The same in a package below `src` (PyPA, "src layout vs flat layout"). */
const SOURCES = 'src'
const IN_PACKAGES = ['main', 'app', 'asgi', 'wsgi', 'server', 'api', '__init__']
/** Of those packages; one has the application. */
const MAX_PACKAGES = 10

/** What makes an application in a module, and how it is served. */
const APPLICATIONS: { framework: string; call: RegExp; kind: 'asgi' | 'wsgi' }[] = [
  { framework: 'fastapi', call: /^(?:\w+\.)?FastAPI\(/, kind: 'asgi' },
  { framework: 'fasthtml', call: /^(?:fast_app|FastHTML|\w+\.FastHTML)\(/, kind: 'asgi' },
  { framework: 'starlette', call: /^(?:\w+\.)?Starlette\(/, kind: 'asgi' },
  { framework: 'litestar', call: /^(?:\w+\.)?Litestar\(/, kind: 'asgi' },
  { framework: 'quart', call: /^(?:\w+\.)?Quart\(/, kind: 'asgi' },
  { framework: 'flask', call: /^(?:\w+\.)?Flask\(/, kind: 'wsgi' },
  { framework: 'falcon', call: /^falcon\.(?:App|API)\(/, kind: 'wsgi' },
]

/** A module that may make the application. */
interface Module {
  file: string
  /** The folder that its name starts from, empty for the root. */
  base: string
}

/** Finds the application that a server for Python serves, by what its module makes; null where none of the usual ones does. */
export async function findApplication(tree: Tree, names: NamesPackage): Promise<PythonStart | null> {
  for (const { file, base } of await modulesOf(tree)) {
    const text = await tree.readText(`${file}.py`)
    if (text === null) continue
    const made = madeIn(text, names)
    if (made === null) continue
    const folder = posix.dirname(file)
    const isInside = base === '' && folder !== '.' && (await importsBeside(tree, folder, text))
    const path = isInside ? posix.basename(file) : posix.relative(base, file)
    const module = path.replace(/\/__init__$/, '').replaceAll('/', '.')
    const prefix = isInside ? `cd ${folder} && ` : base === '' ? '' : `PYTHONPATH=${base} `
    const start = served({ ...made, target: made.target(module) }, names)
    return { ...start, command: `${prefix}${start.command}` }
  }
  return null
}

async function modulesOf(tree: Tree): Promise<Module[]> {
  const folders = (await tree.list(SOURCES))
    .filter((name) => /^[A-Za-z_]\w*\/$/.test(name))
    .slice(0, MAX_PACKAGES)
  return [
    ...MODULES.map((file) => ({ file, base: '' })),
    ...folders.flatMap((name) =>
      IN_PACKAGES.map((module) => ({ file: `${SOURCES}/${name}${module}`, base: SOURCES })),
    ),
  ]
}

/** Whether a module names others of its folder as if that were the root, so that it is started there. */
async function importsBeside(tree: Tree, folder: string, text: string): Promise<boolean> {
  const modules = (await tree.list(folder)).map((name) => name.replace(/(?:\.py|\/)$/, ''))
  const root = new Set((await tree.list('.')).map((name) => name.replace(/(?:\.py|\/)$/, '')))
  const beside = new Set(modules.filter((name) => !root.has(name)))
  for (const line of linesOf(text)) {
    if (beside.has(/^(?:from|import) ([A-Za-z_]\w*)/.exec(line)?.[1] ?? '')) return true
  }
  return false
}

interface Made {
  framework: string
  kind: 'asgi' | 'wsgi'
  /** What a server is told, by the module's name. */
  target: (module: string) => string
}

function madeIn(text: string, names: NamesPackage): Made | null {
  for (const { framework, call, kind } of APPLICATIONS) {
    const made = findMade(text, call)
    if (made !== undefined) return { framework, kind, target: (module) => `${module}:${made}` }
  }
  // Dash tells its own server by a name, or runs it itself by HOST and PORT.
  const dash = names('dash') ? findMade(text, /^\w+\.server\b/) : undefined
  if (dash !== undefined) return { framework: 'dash', kind: 'wsgi', target: (module) => `${module}:${dash}` }
  if (!hasLine(text, /^def create_app\(/)) return null
  const isAsgi = names('fastapi') && !names('flask')
  return isAsgi
    ? { framework: 'fastapi', kind: 'asgi', target: (module) => `--factory ${module}:create_app` }
    : { framework: 'flask', kind: 'wsgi', target: (module) => `"${module}:create_app()"` }
}

/** Django's development server and Flask's are not made to be public. */
export function withServer(start: PythonStart, server: string, names: NamesPackage): PythonStart {
  return names(server) ? start : { ...start, packages: [server] }
}

function served(
  { framework, kind, target }: Omit<Made, 'target'> & { target: string },
  names: NamesPackage,
): PythonStart {
  const start = { framework, packages: [] }
  if (kind === 'wsgi') {
    return withServer({ ...start, command: `gunicorn --bind 0.0.0.0:$PORT ${target}` }, 'gunicorn', names)
  }
  if (!names('uvicorn') && names('hypercorn') && !target.startsWith('--')) {
    return { ...start, command: `hypercorn --bind 0.0.0.0:$PORT ${target}` }
  }
  return withServer({ ...start, command: `uvicorn --host 0.0.0.0 --port $PORT ${target}` }, 'uvicorn', names)
}

/** The name that a module gives to what a call makes: `app = Flask(...)`, `app: FastAPI = FastAPI(...)`, `app, rt = fast_app()`. */
function findMade(text: string, call: RegExp): string | undefined {
  for (const line of linesOf(text)) {
    const equals = line.indexOf('=')
    if (equals === -1 || !call.test(line.slice(equals + 1).trimStart())) continue
    const name = /^[A-Za-z_]\w*(?=\s*(?:[:,]|$))/.exec(line.slice(0, equals))?.[0]
    if (name !== undefined) return name
  }
  return undefined
}
