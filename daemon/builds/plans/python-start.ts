import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { hasLine, linesOf } from '../text.ts'

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
]

/** Finds out how a Python program is started: Django, FastAPI and its kin, Flask, a plain file. Throws BuildFailure when nothing says so. */
export async function findStart(tree: Tree, notes: string[]): Promise<string> {
  const packages = await namedPackages(tree)
  const command =
    (await django(tree, packages, notes)) ?? (await application(tree, packages)) ?? (await plainFile(tree))
  if (command === null) {
    throw new BuildFailure(
      'nothing says how to start this service: add a Procfile with a line "web:", or a main.py, or set start_command',
    )
  }
  notes.push(`starting with: ${command}`)
  return command
}

async function namedPackages(tree: Tree): Promise<(name: string) => boolean> {
  const files = ['requirements.txt', 'pyproject.toml', 'Pipfile']
  const text = (await Promise.all(files.map((name) => tree.readText(name)))).join('\n')
  const names = new Set<string>()
  for (const [name] of text.matchAll(/(?<![^\s"'])[A-Za-z][\w-]*/g)) names.add(name.toLowerCase())
  return (name) => names.has(name)
}

async function django(
  tree: Tree,
  packages: (name: string) => boolean,
  notes: string[],
): Promise<string | null> {
  const manage = await tree.readText('manage.py')
  if (manage === null) return null
  const project = /DJANGO_SETTINGS_MODULE["'],\s*["']([A-Za-z_]\w*)\./.exec(manage)?.[1]
  if (project === undefined) return null
  if (packages('gunicorn')) return `gunicorn --bind 0.0.0.0:$PORT ${project}.wsgi`
  if (packages('uvicorn')) return `uvicorn --host 0.0.0.0 --port $PORT ${project}.asgi:application`
  notes.push(
    "there is no gunicorn among the requirements: Django's development server is started, which is not made to be public",
  )
  return 'python manage.py runserver 0.0.0.0:$PORT'
}

async function application(tree: Tree, packages: (name: string) => boolean): Promise<string | null> {
  for (const file of MODULES) {
    const text = await tree.readText(`${file}.py`)
    if (text === null) continue
    const module = file.replace(/\/__init__$/, '').replaceAll('/', '.')
    const asgi = findMade(text, /^(?:\w+\.)?(?:FastAPI|Starlette|Litestar|Quart)\(/)
    if (asgi !== undefined) return `uvicorn --host 0.0.0.0 --port $PORT ${module}:${asgi}`
    const wsgi = findMade(text, /^(?:\w+\.)?Flask\(/)
    const target = wsgi ?? (hasLine(text, /^def create_app\(/) ? 'create_app' : null)
    if (target === null) continue
    if (!packages('gunicorn')) return `flask --app ${module}:${target} run --host 0.0.0.0 --port $PORT`
    return wsgi === undefined
      ? `gunicorn --bind 0.0.0.0:$PORT "${module}:create_app()"`
      : `gunicorn --bind 0.0.0.0:$PORT ${module}:${wsgi}`
  }
  return null
}

/** The name that a module gives to what a call makes: `app = Flask(...)`, `app: FastAPI = FastAPI(...)`. */
function findMade(text: string, call: RegExp): string | undefined {
  for (const line of linesOf(text)) {
    const equals = line.indexOf('=')
    if (equals === -1 || !call.test(line.slice(equals + 1).trimStart())) continue
    const name = /^[A-Za-z_]\w*(?=\s*(?::|$))/.exec(line.slice(0, equals))?.[0]
    if (name !== undefined) return name
  }
  return undefined
}

async function plainFile(tree: Tree): Promise<string | null> {
  for (const file of ['main.py', 'app.py', 'server.py', 'run.py', '__main__.py', 'src/main.py']) {
    if (await tree.hasFile(file)) return `python ${file}`
  }
  return null
}
