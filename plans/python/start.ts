import { mayListen } from '../source/listening.ts'
import { hasLine, linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { findApplication, findPackaged, withServer, type PythonStart } from './application.ts'
import { findDjangoBelow, type DjangoProject } from './django.ts'
import { mainPackage } from './main-package.ts'
import type { NamesPackage } from './requirements.ts'

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
  'flask fastapi django quart sanic starlette litestar robyn nicegui uvicorn hypercorn granian gunicorn waitress cherrypy falcon bottle streamlit gradio'.split(
    ' ',
  )

/** Packages for servers that packages for bots need too, so a complete list of installed packages names them. */
const OF_BOTH = ['aiohttp', 'tornado']

/**
 * Calls that listen: of those packages, of Python itself, and of bots that receive webhooks; bots that poll delete the
 * webhook.
 */
const LISTENING =
  /\b(?:_?run_app|AppRunner|TCPSite|\w*(?:HTTP|TCP|WSGI)Server|(?:start|create|make)_server|serve_forever|http\.server|socketserver|quickstart|aiohttp\.web|(?<!\bintents\.)(?!delete_webhook\b)\w*webhooks?)\b|\bserve\(|\baiohttp import\b.{0,200}\bweb\b|\.(?:listen|bind)\(/

/** Whether a program is a bot by its packages, and none of them serves. */
export async function isBot(tree: Tree, names: NamesPackage): Promise<boolean> {
  if (!BOTS.some(names) || SERVERS.some(names)) return false
  return !OF_BOTH.some(names) || !(await mayListen(tree, /\.py$/, LISTENING))
}

/** Whether a program serves requests by its packages. */
export function mayServe(names: NamesPackage): boolean {
  return SERVERS.some(names)
}

/**
 * Finds out how a Python program is started: Django, Streamlit and similar tools, FastAPI, Flask, a plain file; null when
 * nothing shows it.
 */
export async function findStart(
  tree: Tree,
  names: NamesPackage,
  project: DjangoProject | null,
): Promise<PythonStart | null> {
  if (project !== null) return django(project, names)
  return (
    (await reflex(tree, names)) ??
    (await ownServer(tree, names)) ??
    (await findApplication(tree, names)) ??
    (await runByTool(tree, names, PROGRAMS)) ??
    (await plainFile(tree, names)) ??
    (await ownCommand(tree)) ??
    (await runByTool(tree, names, PAGES))
  )
}

/** A start that only the files suggest, with the Django project if it is one. */
export interface Suggested {
  start: PythonStart
  project: DjangoProject | null
}

/** Looks deeper for a program, in a tree whose root shows none and which is not a site either. */
export async function suggestStart(
  tree: Tree,
  names: NamesPackage,
  isDocumented: boolean,
): Promise<Suggested | null> {
  const project = await findDjangoBelow(tree, names, isDocumented)
  if (project !== null) return { start: django(project, names), project }
  const start =
    (await findPackaged(tree, names)) ??
    ((await isBot(tree, names)) ? await onlyProgram(tree) : null) ??
    (!isDocumented && BOTS.some(names) ? await mainPackage(tree) : null)
  return start === null ? null : { start, project: null }
}

function django({ module, folder }: DjangoProject, names: NamesPackage): PythonStart {
  const start = { framework: 'django', packages: [] }
  const place = folder === '' ? '' : `cd ${folder} && `
  if (!names('gunicorn') && names('uvicorn')) {
    return { ...start, command: `${place}uvicorn --host 0.0.0.0 --port $PORT ${module}.asgi:application` }
  }
  if (!names('gunicorn') && names('daphne')) {
    return { ...start, command: `${place}daphne -b 0.0.0.0 -p $PORT ${module}.asgi:application` }
  }
  const command = `${place}gunicorn --bind 0.0.0.0:$PORT ${module}.wsgi`
  return withServer({ ...start, command }, 'gunicorn', names)
}

/** Gradio listens on localhost only unless it is told otherwise (gradio.app, "Environment Variables"). */
const gradio = (file: string): string => `GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=$PORT python ${file}`

/** Tools that run a script, or scripts that serve by themselves when they are told where to listen. */
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
    command: gradio,
  },
  {
    framework: 'chainlit',
    imports: /^\s*(?:import chainlit\b|from chainlit\b)/,
    files: ['app.py', 'main.py'],
    command: (file) => `chainlit run ${file} --host 0.0.0.0 --port $PORT --headless`,
  },
]

/** Tools whose pages end at once when python runs them, with what identifies such a page. */
const TOOLS: { framework: string; page: RegExp; command: (file: string) => string }[] = [
  {
    framework: 'shiny',
    page: /^\s*(?:from shiny\.express import\b|from shiny import\b.{0,200}\b(?:App|ui)\b|app = (?:shiny\.)?App\()/,
    command: (file) => `shiny run --host 0.0.0.0 --port $PORT ${file}`,
  },
  {
    framework: 'panel',
    page: /\.servable\(/,
    command: (file) => `panel serve ${file} --address 0.0.0.0 --port $PORT --allow-websocket-origin='*'`,
  },
  {
    framework: 'solara',
    page: /^\s*import solara\s*$/,
    command: (file) => `solara run ${file} --host 0.0.0.0 --port $PORT --production --no-open`,
  },
]

/** Further files with pages, which nobody runs with python. */
const PAGES = ['app-express.py', 'app-core.py', 'src/app.py', 'sol.py']

/** What serves by itself, or is served by a Python web server. */
const SERVES_ITSELF =
  /(?<!\bsubprocess)\.(?:serve|show|run|run_app)\(|\brun_app\(|\b__main__\b|\b(?:Flask|FastAPI|Starlette|Quart|Dash|Litestar|Sanic|Robyn)\(|^\s*(?:import|from) (?:uvicorn|solara\.server|bokeh\.server)\b/

/** Returns the first of some files if it is a page of a tool; what starts without the tool is left to the other rules. */
async function runByTool(
  tree: Tree,
  names: NamesPackage,
  files: readonly string[],
): Promise<PythonStart | null> {
  const tools = TOOLS.filter(({ framework }) => names(framework))
  for (const file of tools.length === 0 ? [] : files) {
    const text = await tree.readHead(file)
    if (text === null) continue
    const tool = hasLine(text, SERVES_ITSELF) ? undefined : tools.find(({ page }) => hasLine(text, page))
    return tool === undefined
      ? null
      : { command: tool.command(file), framework: tool.framework, packages: [] }
  }
  return null
}

/** Reflex serves pages and events on one port when both options name the same one (reflex.dev, "Self Hosting"). */
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
      // Gradio can also be mounted into a FastAPI application.
      if (!hasLine(text, /=\s*(?:\w+\.)?FastAPI\(/))
        return { command: command(file), framework, packages: [] }
    }
  }
  return null
}

/** How many files of the root are read; Streamlit's users choose any name. */
const MAX_PAGES = 20

/** Returns the files of the root that are not tests: any may be the program, or the first page of a Streamlit app. */
async function pagesOf(tree: Tree): Promise<string[]> {
  const names = await tree.list('.')
  return names
    .filter(
      (name) => /^[\w.-]+\.py$/.test(name) && !/^(?:tests?|test_.*|.*_tests?|conftest|setup)\.py$/.test(name),
    )
    .slice(0, MAX_PAGES)
}

async function plainFile(tree: Tree, names: NamesPackage): Promise<PythonStart | null> {
  const run = names('gradio') ? gradio : (file: string): string => `python ${file}`
  for (const file of PROGRAMS) {
    if (await tree.hasFile(file)) return { command: run(file), framework: null, packages: [] }
  }
  return null
}

/**
 * Returns the only file of the root that has a main block: only for bots, because next to anything else it may be a tool.
 */
async function onlyProgram(tree: Tree): Promise<PythonStart | null> {
  const programs: string[] = []
  for (const file of await pagesOf(tree)) {
    if (hasLine((await tree.readText(file)) ?? '', /^if __name__ == ["']__main__["']/)) programs.push(file)
  }
  return programs.length === 1 ? { command: `python ${programs[0]!}`, framework: null, packages: [] } : null
}

/**
 * Returns the only command that the project installs, for which the project itself has to be built (PyPA, "Entry points").
 */
async function ownCommand(tree: Tree): Promise<PythonStart | null> {
  const commands: string[] = []
  let table = ''
  for (const line of linesOf((await tree.readText('pyproject.toml')) ?? '')) {
    const text = line.trim()
    if (text.startsWith('[')) table = text
    const name = /^"?([\w.-]+)"?\s*=/.exec(text)?.[1]
    if (/^\[(?:project|tool\.poetry)\.scripts\]$/.test(table) && name !== undefined) commands.push(name)
  }
  return commands.length === 1 ? { command: commands[0]!, framework: null, packages: [] } : null
}
