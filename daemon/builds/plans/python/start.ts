import type { Tree } from '../../../sources/tree.ts'
import { hasLine, linesOf } from '../../text.ts'
import type { DjangoProject } from './django.ts'
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

/** Files of programs that start a server themselves. */
const PROGRAMS = [
  'main.py',
  'app.py',
  'server.py',
  'run.py',
  'start.py',
  'bot.py',
  'hello.py',
  '__main__.py',
  'src/main.py',
]

const BOTS = [
  'discord.py',
  'discord',
  'py-cord',
  'nextcord',
  'disnake',
  'hikari',
  'aiogram',
  'python-telegram-bot',
  'pytelegrambotapi',
  'telethon',
  'pyrogram',
  'twitchio',
]
const SERVERS =
  'flask fastapi django quart aiohttp tornado sanic starlette uvicorn gunicorn bottle streamlit gradio'.split(
    ' ',
  )

/** Whether a program is a bot by its packages, and nothing of them serves. */
export function isBot(names: NamesPackage): boolean {
  return BOTS.some(names) && !SERVERS.some(names)
}

/** Finds out how a Python program is started: Django, Streamlit and its kin, FastAPI, Flask, a plain file; null when nothing says so. */
export async function findStart(
  tree: Tree,
  names: NamesPackage,
  project: DjangoProject | null,
): Promise<PythonStart | null> {
  if (project !== null) return django(project.module, names)
  return (
    (await reflex(tree, names)) ??
    (await ownServer(tree, names)) ??
    (await application(tree, names)) ??
    (await plainFile(tree)) ??
    (await ownCommand(tree))
  )
}

function django(module: string, names: NamesPackage): PythonStart {
  const start = { framework: 'django', packages: [] }
  if (!names('gunicorn') && names('uvicorn')) {
    return { ...start, command: `uvicorn --host 0.0.0.0 --port $PORT ${module}.asgi:application` }
  }
  if (!names('gunicorn') && names('daphne')) {
    return { ...start, command: `daphne -b 0.0.0.0 -p $PORT ${module}.asgi:application` }
  }
  return withServer({ ...start, command: `gunicorn --bind 0.0.0.0:$PORT ${module}.wsgi` }, 'gunicorn', names)
}

/** Django's development server and Flask's are not made to be public. */
function withServer(start: PythonStart, server: string, names: NamesPackage): PythonStart {
  return names(server) ? start : { ...start, packages: [server] }
}

/** Tools that run a script, or scripts that serve themselves when they are told where to listen. */
const OWN_SERVERS: {
  framework: string
  imports: RegExp
  files: string[]
  command: (file: string) => string
}[] = [
  {
    framework: 'streamlit',
    imports: /^\s*(?:import streamlit\b|from streamlit\b)/,
    files: ['streamlit_app.py', 'app.py', 'main.py', 'Home.py', 'src/streamlit_app.py', 'src/app.py'],
    command: (file) =>
      `streamlit run ${file} --server.port $PORT --server.address 0.0.0.0 --server.headless true`,
  },
  {
    framework: 'gradio',
    imports: /^\s*(?:import gradio\b|from gradio\b)/,
    files: ['app.py', 'main.py', 'demo.py', 'run.py'],
    command: (file) => `GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=$PORT python ${file}`,
  },
  {
    framework: 'chainlit',
    imports: /^\s*(?:import chainlit\b|from chainlit\b)/,
    files: ['app.py', 'main.py'],
    command: (file) => `chainlit run ${file} --host 0.0.0.0 --port $PORT --headless`,
  },
]

/** Reflex serves pages and events on one port when both are named alike (reflex.dev, "Self Hosting"). */
async function reflex(tree: Tree, names: NamesPackage): Promise<PythonStart | null> {
  if (!names('reflex') || !(await tree.hasFile('rxconfig.py'))) return null
  return {
    command: 'reflex run --env prod --single-port --frontend-port $PORT --backend-port $PORT',
    framework: 'reflex',
    packages: [],
  }
}

async function ownServer(tree: Tree, names: NamesPackage): Promise<PythonStart | null> {
  for (const { framework, imports, files, command } of OWN_SERVERS) {
    if (!names(framework)) continue
    for (const file of [...files, ...(framework === 'streamlit' ? await pagesOf(tree) : [])]) {
      const text = await tree.readHead(file)
      if (text === null || !hasLine(text, imports)) continue
      // Gradio is mounted into a FastAPI as well.
      if (!hasLine(text, /=\s*(?:\w+\.)?FastAPI\(/))
        return { command: command(file), framework, packages: [] }
    }
  }
  return null
}

/** Of the root's files, which Streamlit's users name as they like. */
const MAX_PAGES = 20

/** The files that may be the first page of an app for Streamlit. */
async function pagesOf(tree: Tree): Promise<string[]> {
  const names = await tree.list('.')
  return names
    .filter((name) => /^[\w.-]+\.py$/.test(name) && !/test|^setup\.py$/.test(name))
    .slice(0, MAX_PAGES)
}

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

async function application(tree: Tree, names: NamesPackage): Promise<PythonStart | null> {
  for (const file of MODULES) {
    const text = await tree.readText(`${file}.py`)
    if (text === null) continue
    const module = file.replace(/\/__init__$/, '').replaceAll('/', '.')
    for (const { framework, call, kind } of APPLICATIONS) {
      const made = findMade(text, call)
      if (made !== undefined) return served(framework, kind, `${module}:${made}`, names)
    }
    // Dash tells its own server by a name, or runs it itself by HOST and PORT.
    const dash = names('dash') ? findMade(text, /^\w+\.server\b/) : undefined
    if (dash !== undefined) return served('dash', 'wsgi', `${module}:${dash}`, names)
    if (hasLine(text, /^def create_app\(/)) return served('flask', 'wsgi', `"${module}:create_app()"`, names)
  }
  return null
}

function served(framework: string, kind: 'asgi' | 'wsgi', target: string, names: NamesPackage): PythonStart {
  const start = { framework, packages: [] }
  if (kind === 'wsgi') {
    return withServer({ ...start, command: `gunicorn --bind 0.0.0.0:$PORT ${target}` }, 'gunicorn', names)
  }
  if (!names('uvicorn') && names('hypercorn')) {
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

async function plainFile(tree: Tree): Promise<PythonStart | null> {
  for (const file of PROGRAMS) {
    if (await tree.hasFile(file)) return { command: `python ${file}`, framework: null, packages: [] }
  }
  return null
}

/** The only command that the project installs, which needs the project itself to be built (PyPA, "Entry points"). */
async function ownCommand(tree: Tree): Promise<PythonStart | null> {
  const commands: string[] = []
  let table = ''
  for (const line of linesOf((await tree.readText('pyproject.toml')) ?? '')) {
    const text = line.trim()
    if (text.startsWith('[')) table = text
    const name = /^"?([\w.-]+)"?\s*=/.exec(text)?.[1]
    if (table === '[project.scripts]' && name !== undefined) commands.push(name)
  }
  return commands.length === 1 ? { command: commands[0]!, framework: null, packages: [] } : null
}
