import { posix } from 'node:path'
import { isInstallation } from '../installation.ts'
import { isDevelopmentServer } from '../node/development-servers.ts'
import { readManifest, type Manifest } from '../node/manifest.ts'
import { callsOf, commandsOf, MANAGERS, packageNeeded } from '../node/scripts.ts'
import type { PlannedBuild } from '../plan.ts'
import { pagesIn } from '../source/pages.ts'
import type { Tree } from '../source/tree.ts'

/** What a command of another host's file is checked against. */
export interface Known {
  /** The file that contains it. */
  file: string
  /** The name of the plan. */
  language: string
  tree: Tree
  /** What is built and started without the file. */
  own: PlannedBuild
  /** Debian packages that are installed. */
  packages: readonly string[]
  /** Whether a package of a workspace is built, for which the commands are not written. */
  isElsewhere: boolean
}

/** What a command is for. */
export type Purpose = 'start' | 'build' | 'release'

/** What the image of each plan has: a shell with the usual commands. */
const SHELL = new Set(
  (
    ': [ cat cd chmod cp cut date echo export false find grep head ls ln mkdir mv printf pwd rm sed set sleep sort tail ' +
    'tar test touch tr true ulimit umask'
  ).split(' '),
)

/** Programs of languages that run from source. For others, the plan itself knows best. */
const PROGRAMS: Record<string, string[]> = {
  node: ['node', 'npm', 'npx'],
  bun: ['bun', 'bunx'],
  deno: ['deno'],
  python: ['python', 'python3', 'pip', 'pip3'],
  ruby: ['ruby', 'bundle', 'rake', 'gem'],
  php: ['php'],
}

/** Files that name the packages whose programs are in the image. */
const MANIFESTS: Record<string, string[]> = {
  python: ['requirements.txt', 'pyproject.toml', 'Pipfile'],
  // All programs of a source are built under their own names.
  go: ['go.mod'],
  rust: ['Cargo.toml'],
}

/** The package of a program, where the names differ. */
const BROUGHT_BY: Record<string, string> = { 'django-admin': 'django', 'waitress-serve': 'waitress' }

/** Programs that only serve files, which the data plane does. */
const FILE_SERVERS = new Set(['serve', 'http-server', 'sirv', 'superstatic', 'caddy', 'nginx'])

/** Servers of frameworks, which are started as the framework's output requires. */
const FRAMEWORK_SERVERS = new Set(['next', 'nuxt', 'react-router-serve', 'remix-serve', 'vinxi'])

/** Programs that restart another one when a developer changes a file. */
const WATCHERS = new Set(['nodemon', 'ts-node-dev', 'tsnd', 'node-dev'])

/** Nixpacks copies the files of [staticAssets] to `/assets`, unless a command creates that. */
const MAKES_ASSETS = /\bmkdir\s(?:[^&|;]*\s)?\/assets(?:[/\s]|$)/

/** Dev servers, and options that start one, by the words of a call. */
const DEVELOPMENT =
  /(?:^|\s)manage\.py runserver|(?:^|\s)flask .*\brun(?:\s|$)|(?:^|\s)artisan serve|^php\s(?:.*\s)?-S\s|-m http\.server|^fastapi dev|\s--reload(?:\s|$)|^(?:node|bun|tsx)\s(?:.*\s)?(?:--watch|--hot|watch)(?:\s|$)/

/**
 * Returns why a command is not used: a plan that is right without the file must stay right. Null where nothing speaks
 * against it.
 */
export async function against(command: string, purpose: Purpose, known: Known): Promise<string | null> {
  const { file, own, tree, language, isElsewhere } = known
  if (isElsewhere) return 'it is written for another folder than the one that is built'
  if (/(?:^|\s)#/.test(command)) return 'it has a comment'
  if (file.startsWith('nixpacks.') && /(?:^|\s)\/assets\//.test(command) && !MAKES_ASSETS.test(command))
    return 'the image has no /assets'
  const isCompiled = !Object.hasOwn(PROGRAMS, language)
  if (purpose === 'build') {
    if (isCompiled && own.obstacle === null) return unsuited(language)
    const fault = againstBuild(command)
    if (fault !== null) return fault
  }
  // Nothing was found that it could break.
  if (isCompiled && own.obstacle !== null) return null
  const manifest = (await tree.hasFile('package.json')) ? await readManifest(tree) : null
  const scripts = manifest?.scripts ?? {}
  const programs = callsOf(own.startCommand ?? '', scripts).map(([program]) => program)
  for (const call of purpose === 'build' ? [] : callsOf(command, scripts)) {
    const [program] = call
    const text = call.join(' ')
    if (isDevelopmentServer(call) || WATCHERS.has(program!) || DEVELOPMENT.test(text))
      return 'it is a dev server'
    if (FILE_SERVERS.has(program!)) return 'it only serves files'
    if (FRAMEWORK_SERVERS.has(program!) && !programs.includes(program))
      return 'the framework starts its own server'
  }
  if (purpose === 'start' && own.obstacle !== null && (await pagesIn(tree)) !== null)
    return 'there are pages that need no program'
  const missing = await missingIn(command, purpose, known, manifest)
  return missing === null ? null : isCompiled ? unsuited(language) : `the image has no ${missing}`
}

function unsuited(language: string): string {
  return `the plan for ${language} knows what it builds and starts`
}

function againstBuild(command: string): string | null {
  if (/\bmigrat|\bdb:|\bdb push\b/.test(command))
    return 'a build cannot reach a database: set pre_deploy_command for that'
  if (/-m venv\b/.test(command)) return 'the packages already have an environment'
  const parts = command.split('&&').map((part) => part.trim())
  const folder = parts.findIndex((part) => part.startsWith('cd '))
  return parts.slice(0, folder === -1 ? undefined : folder).some(isInstallation)
    ? 'it installs the packages again'
    : null
}

/** Returns the first program or script that an image lacks; null for none. */
async function missingIn(
  command: string,
  purpose: Purpose,
  known: Known,
  manifest: Manifest | null,
): Promise<string | null> {
  let folder = '.'
  for (const words of commandsOf(command)) {
    const at = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word) && word !== 'exec' && word !== 'env')
    const [program, ...rest] = at === -1 ? [] : words.slice(at)
    if (program === undefined) continue
    if (program === 'cd') folder = posix.join(folder, rest[0] ?? '')
    else if (program === 'sh' || program === 'bash') {
      const isText = /^-l?c$/.test(rest[0] ?? '')
      const missing = isText
        ? await missingIn(rest[1] ?? '', purpose, known, manifest)
        : (await known.tree.hasFile(posix.join(folder, rest[0] ?? '')))
          ? null
          : (rest[0] ?? program)
      if (missing !== null) return missing
    } else if (program.includes('/')) {
      const path = posix.join(folder, program)
      const isThere = !program.startsWith('/') && !path.startsWith('..') && (await known.tree.hasFile(path))
      if (!isThere && !isPackage(path.replace(/^node_modules\/\.bin\//, ''), manifest)) return program
    } else if (!(await hasProgram(program, purpose, known, manifest))) return program
    else if (folder === '.' && MANAGERS.has(program) && rest[0] === 'run') {
      const name = rest[1] ?? ''
      if (!name.startsWith('-') && !Object.hasOwn(manifest?.scripts ?? {}, name)) return `script "${name}"`
    }
  }
  return null
}

function isPackage(program: string, manifest: Manifest | null): boolean {
  if (manifest === null || program.includes('/')) return false
  const names = new Set([...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)])
  return packageNeeded(program, {}, names) !== null
}

async function hasProgram(
  program: string,
  purpose: Purpose,
  { language, tree, own, packages }: Known,
  manifest: Manifest | null,
): Promise<boolean> {
  if (SHELL.has(program) || packages.includes(program)) return true
  if (PROGRAMS[language]?.includes(program)) return true
  if (language === 'node' || language === 'bun')
    return program === own.packageManager || isPackage(program, manifest)
  // If the build has node for assets, the program's image does not.
  const hasNode = purpose === 'build' && own.dockerfile.includes('/opt/node/bin')
  if (hasNode && PROGRAMS.node!.includes(program)) return true
  const name = Object.hasOwn(BROUGHT_BY, program) ? BROUGHT_BY[program]! : program
  for (const file of MANIFESTS[language] ?? []) {
    const words = ((await tree.readText(file)) ?? '').toLowerCase().split(/[^\w.-]+/)
    if (words.includes(name.toLowerCase())) return true
  }
  return language === 'go' && (await tree.hasFolder(`cmd/${program}`))
}
