import type { Tree } from '../../../sources/tree.ts'
import { withoutSlashComments } from '../../comments.ts'
import { hasLine } from '../../text.ts'
import type { Proposal } from '../start.ts'
import { isDevelopmentServer } from './development-servers.ts'
import type { Framework } from './frameworks.ts'
import type { PackageManager } from './managers.ts'
import type { Manifest } from './manifest.ts'
import { callsOf, type Call } from './scripts.ts'

/** Scripts that start a program as it runs for its users, in the order of preference. */
const START_SCRIPTS = ['start:prod', 'start:production', 'start']

/** Files that are started when nothing says what to start, in this order; with and without the folder of the sources. */
const ENTRY_NAMES = ['server', 'index', 'app', 'main']
const JAVASCRIPT = ['js', 'mjs', 'cjs']
const TYPESCRIPT = ['ts', 'mts']

/** From here on node runs TypeScript as it is (nodejs.org, "Running TypeScript Natively"; 22.18). */
const FIRST_TYPESCRIPT_MAJOR = 22

/** Packages with which a program serves itself, whatever front end lies beside it. */
const SERVER_PACKAGES = [
  'express',
  'fastify',
  'koa',
  'hono',
  '@hono/node-server',
  '@hapi/hapi',
  'polka',
  'restify',
  'h3',
]

/** With these, too, a program answers requests, whatever else it does. */
const OTHER_SERVERS = [
  '@nestjs/core',
  'socket.io',
  'ws',
  '@slack/bolt',
  'elysia',
  'micro',
  'serve',
  'http-server',
]

/** Packages of bots, which ask for their work or are sent it by a connection that they open. */
const BOTS = [
  'discord.js',
  'eris',
  'oceanic.js',
  'telegraf',
  'grammy',
  'node-telegram-bot-api',
  'telegram',
  'whatsapp-web.js',
  '@whiskeysockets/baileys',
  'tmi.js',
  'twitch-js',
  'matrix-bot-sdk',
]

/** Whether a program is a bot by its packages, and nothing of them serves. */
export function isBot({ dependencies }: Manifest): boolean {
  const has = (names: string[]): boolean => names.some((name) => name in dependencies)
  return has(BOTS) && !has(SERVER_PACKAGES) && !has(OTHER_SERVERS)
}

/** What is known of a project when its start is looked for. */
export interface StartSearch {
  tree: Tree
  manifest: Manifest
  manager: PackageManager
  framework: Framework | null
  /** Of node; null for Bun, which runs TypeScript. */
  major: number | null
  notes: string[]
}

/** What package.json, the framework and the files propose to start. */
export async function proposeStart(search: StartSearch): Promise<Proposal> {
  const { manifest, framework, notes } = search
  // The server that the standalone build made; `next start` does not serve it (Next.js, "output").
  if (framework?.output === '.next/standalone') return { command: framework.start! }
  const script = START_SCRIPTS.find(
    (name) => name in manifest.scripts && !isUnused(manifest.scripts[name]!, search),
  )
  if (script !== undefined && !(await hasBetterStart(manifest.scripts[script]!, search)))
    return { command: commandOf(script, search) }
  if (script === undefined && manifest.scripts.start !== undefined) {
    notes.push(`the script "start" (${manifest.scripts.start}) starts no server for users: it is not used`)
  }
  const obstacle = await foreignHost(search)
  if (obstacle !== null) return { obstacle }
  if (framework?.start) return { command: framework.start }
  const entry = await entryOf(search)
  const serves = SERVER_PACKAGES.some(
    (name) => name in manifest.dependencies && !(name in manifest.devDependencies),
  )
  if (framework !== null && framework.publishDirectory !== null && !(serves && entry !== null))
    return { site: true }
  if (entry === null) return null
  const silent = serves ? await exportedAlone(entry, search) : null
  return silent === null ? { command: entry } : { obstacle: silent }
}

/** What listens, in the words of servers for node. */
const LISTENING = /\.listen\(|\bserve\(|\bcreateServer\(|\bDeno\.serve\b/

/** Why a program that exports its application for a host's own server ends at once; null where it may listen. */
async function exportedAlone(entry: string, { tree, major }: StartSearch): Promise<string | null> {
  const file = /^(?:node|tsx|ts-node) ([\w./@-]+)$/.exec(entry)?.[1]
  const text = withoutSlashComments((file === undefined ? null : await tree.readHead(file)) ?? '')
  // Bun serves what is exported.
  const isExported = major !== null && hasLine(text, /^export default [A-Za-z_$]\w*;?\s*$/)
  // Other files of the project may do it.
  const mayListen = hasLine(text, LISTENING) || hasLine(text, /\bfrom ["']\.|\bimport ?\(?["']\./)
  return !isExported || mayListen
    ? null
    : `${file} exports its application and listens on no port, as hosts of functions want it: let it listen on PORT, or set start_command`
}

/** Files of tools, which people leave in `main` where a program would be named. */
const TASKS = /^(?:gulpfile|gruntfile|(?:webpack|rollup|vite)\.config)\b/i

/** Programs that start what their framework built as a server, which there is none of where it built files alone. */
const FRAMEWORK_SERVERS = new Set(['next', 'nuxt', 'react-router-serve', 'remix-serve', 'vinxi'])

/** Whether a script starts a development server, or the server of a framework that makes none here. */
function isUnused(script: string, { manifest: { scripts }, framework }: StartSearch): boolean {
  if (script === framework?.start) return false
  const isSite = framework !== null && framework.start === null && framework.publishDirectory !== null
  const hasNone = (call: Call): boolean => isSite || (framework === null && !call.slice(2).some(isFolder))
  return callsOf(script, scripts).some(
    (call) => isDevelopmentServer(call) || (FRAMEWORK_SERVERS.has(call[0]!) && hasNone(call)),
  )
}

/** An argument that may name the folder of the project. */
function isFolder(word: string): boolean {
  return /^[\w./][\w./-]*$/.test(word) && !/^\d+$/.test(word)
}

/**
 * Whether the framework's own start does what a script means: one that fetches its program each time it starts, or that
 * is written for the folder of the build, to which people change first (AdonisJS, "Deployment").
 */
async function hasBetterStart(script: string, { tree, manifest, framework }: StartSearch): Promise<boolean> {
  if (!framework?.start) return false
  const fetched = /^(?:npx|pnpx|bunx|pnpm dlx|yarn dlx) (?:--?[\w-]+ )*([\w@./-]+)/.exec(script)?.[1]
  if (fetched !== undefined) return !(fetched in manifest.dependencies) && framework.start.startsWith(fetched)
  const file = /^node (?:\.\/)?([\w./-]+\.[cm]?js)$/.exec(script)?.[1]
  return file !== undefined && framework.start.endsWith(`/${file}`) && !(await tree.hasFile(file))
}

/** Configurations and packages of hosts whose programs run nowhere else. */
const WRANGLER = ['wrangler.jsonc', 'wrangler.toml', 'wrangler.json']
const FOREIGN_PACKAGES: Record<string, string> = {
  '@cloudflare/vite-plugin': 'Cloudflare Workers',
  '@netlify/vite-plugin-tanstack-start': 'Netlify',
}

/** Why what is built here runs on another host alone; null where it does not. */
async function foreignHost({ tree, manifest, framework }: StartSearch): Promise<string | null> {
  const name = Object.keys(FOREIGN_PACKAGES).find((each) => each in manifest.dependencies)
  if (name !== undefined && !(await tree.hasFile('index.html'))) {
    return foreign(name, FOREIGN_PACKAGES[name]!)
  }
  if (framework !== null && (framework.start !== null || framework.publishDirectory !== null)) return null
  for (const file of WRANGLER) {
    const text = withoutSlashComments((await tree.readText(file)) ?? '')
    if (hasLine(text, /^\s*"?main"?\s*[:=]/)) return foreign(file, 'Cloudflare Workers')
  }
  return null
}

function foreign(sign: string, host: string): string {
  return `${sign} builds it for ${host}, and nothing else runs that: set it up for node, with a script "start", or set start_command`
}

/**
 * A plain script is run itself: without the package manager before it the program starts sooner, takes less memory and
 * gets its signals directly. Whatever the manager adds to it is kept by running the manager.
 */
function commandOf(name: string, { manifest: { scripts }, manager }: StartSearch): string {
  const script = scripts[name]!
  const isPlain =
    !(`pre${name}` in scripts) &&
    !(`post${name}` in scripts) &&
    !/[\n]|\$?npm_|\b(npm|npx|pnpm|pnpx|yarn|bun|bunx)\b/.test(script)
  if (!isPlain) return manager.run(name)
  // It restarts a program whose files a developer changes.
  return /^nodemon [\w./-]+\.[cm]?js$/.test(script) ? script.replace('nodemon', 'node') : script
}

async function entryOf({ tree, manifest, framework, major, notes }: StartSearch): Promise<string | null> {
  const { scripts, dependencies } = manifest
  const main = TASKS.test(manifest.main ?? '') ? null : manifest.main
  const run = major === null ? 'bun run' : 'node'
  if (main !== null && /^[\w./@-]+$/.test(main) && !main.includes('..')) {
    for (const file of [main, `${main}.js`, `${main}/index.js`]) {
      if (/\.[cm]?js$/.test(file) && (await tree.hasFile(file))) return `${run} ${file}`
    }
    if (/\.[cm]?tsx?$/.test(main) && (await tree.hasFile(main))) return typescript(main)
    // What is not there yet, the build makes.
    if (/\.[cm]?js$/.test(main) && scripts.build !== undefined && framework === null) return `${run} ${main}`
  }
  for (const folder of ['', 'src/']) {
    for (const file of filesOf(folder, JAVASCRIPT)) if (await tree.hasFile(file)) return `${run} ${file}`
  }
  for (const folder of ['src/', '']) {
    for (const file of filesOf(folder, TYPESCRIPT)) {
      if (!(await tree.hasFile(file))) continue
      return (await compiled(file)) ?? typescript(file)
    }
  }
  // A library's is what its build makes.
  const { module } = manifest
  if (module !== null && /^[\w./@-]+\.[cm]?[jt]sx?$/.test(module) && !module.includes('..'))
    if (await tree.hasFile(module)) return /\.[cm]?js$/.test(module) ? `${run} ${module}` : typescript(module)
  return null

  function typescript(file: string): string | null {
    if (major === null) return `bun run ${file}`
    for (const runner of ['tsx', 'ts-node']) if (runner in dependencies) return `${runner} ${file}`
    if (major >= FIRST_TYPESCRIPT_MAJOR) return `node ${file}`
    notes.push(`node ${major} does not run ${file}: pin node ${FIRST_TYPESCRIPT_MAJOR} or newer, or add tsx`)
    return null
  }

  /** Where the compiler of TypeScript puts a file of src/. */
  async function compiled(file: string): Promise<string | null> {
    const builds = callsOf(scripts.build ?? '', scripts).some(([program]) => program === 'tsc')
    if (!builds || major === null) return null
    const settings = withoutSlashComments((await tree.readText('tsconfig.json')) ?? '')
    const folder = /"outDir"\s*:\s*"(?:\.\/)?([\w/-]+?)\/?"/.exec(settings)?.[1]
    return folder === undefined ? null : `node ${folder}/${file.replace(/^src\//, '').replace(/ts$/, 'js')}`
  }
}

function filesOf(folder: string, endings: string[]): string[] {
  return ENTRY_NAMES.flatMap((name) => endings.map((ending) => `${folder}${name}.${ending}`))
}
