import { withoutSlashComments } from '../comments.ts'
import { BuildFailure } from '../failure.ts'
import type { Proposal } from '../start.ts'
import { hasLine } from '../text.ts'
import type { Tree } from '../tree.ts'
import { isDevelopmentServer } from './development-servers.ts'
import { entryOf, LISTENING, type StartSearch } from './entry.ts'
import { readManifest, type Manifest } from './manifest.ts'
import { SERVER_PACKAGES } from './packages.ts'
import { callsOf, MANAGERS, type Call } from './scripts.ts'

/** Scripts that start a program as it runs for its users, in the order of preference. */
const START_SCRIPTS = ['start:prod', 'start:production', 'start']

/** From here on a file of variables may be missing where node is told so (nodejs.org, `--env-file-if-exists`; 22.9). */
const FIRST_OPTIONAL_MAJOR = 22

/** What package.json, the framework and the files propose to start. */
export async function proposeStart(search: StartSearch): Promise<Proposal> {
  const { manifest, framework, notes } = search
  // The server that the standalone build made; `next start` does not serve it (Next.js, "output").
  if (framework?.output === '.next/standalone') return { command: framework.start! }
  const script = await usedScript(search)
  if (script !== undefined && !(await hasBetterStart(manifest.scripts[script]!, search)))
    return { command: await commandOf(script, search) }
  if (script === undefined && manifest.scripts.start !== undefined) {
    notes.push(`the script "start" (${manifest.scripts.start}) starts no server for users: it is not used`)
  }
  const obstacle = await foreignHost(search)
  if (obstacle !== null) return { obstacle }
  if (framework?.start) return { command: framework.start }
  const serves = SERVER_PACKAGES.some(
    (name) => name in manifest.dependencies && !(name in manifest.devDependencies),
  )
  const listening = framework?.isLeftBehind === true ? await entryOf(search, { listens: true }) : null
  const entry = listening ?? (await entryOf(search, { serves }))
  if (framework !== null && framework.publishDirectory !== null && listening === null)
    if (!serves || entry === null) return { site: true }
  if (entry === null) return await broughtAlone(search)
  const silent = serves ? await exportedAlone(entry, search) : null
  return silent === null ? { command: entry } : { obstacle: silent }
}

/** The script that starts a program as it runs for its users; undefined for none. */
async function usedScript(search: StartSearch): Promise<string | undefined> {
  const { scripts } = search.manifest
  for (const name of START_SCRIPTS) {
    if (!(name in scripts) || isUnused(scripts[name]!, search)) continue
    if (await isDevelopedElsewhere(scripts[name]!, search)) continue
    if (!(await runsDevelopmentServer(scripts[name]!, search))) return name
  }
  return undefined
}

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

/** Programs that start what their framework built as a server, which there is none of where it built files alone. */
const FRAMEWORK_SERVERS = new Set(['next', 'nuxt', 'react-router-serve', 'remix-serve', 'vinxi'])

/** Whether a script starts a development server, or the server of a framework that makes none here. */
function isUnused(script: string, { manifest: { scripts }, framework }: StartSearch): boolean {
  if (script === framework?.start) return false
  const isSite = framework !== null && framework.start === null && framework.publishDirectory !== null
  const hasNone = (call: Call): boolean => isSite || (framework === null && !call.slice(2).some(isFolder))
  const calls = callsOf(script, scripts)
  return (
    (calls.length > 0 && calls.every(([program]) => SAYING.has(program!) || CONTAINERS.has(program!))) ||
    calls.some((call) => isDevelopmentServer(call) || (FRAMEWORK_SERVERS.has(call[0]!) && hasNone(call)))
  )
}

/** What a script does that only tells people where else to start. */
const SAYING = new Set(['echo', 'exit'])

/** Programs that start containers, which none has inside of it. */
const CONTAINERS = new Set(['docker', 'docker-compose', 'podman', 'podman-compose'])

/** Packages that a start script starts beside each other; no project has more. */
const MAX_TOGETHER = 10

/**
 * Whether a script runs what the developers of several packages run, a development server among them; of one package
 * alone it may be all that starts that.
 */
async function isDevelopedElsewhere(script: string, search: StartSearch): Promise<boolean> {
  const calls = callsOf(script, search.manifest.scripts).filter(
    ([program, ...rest]) => MANAGERS.has(program!) && rest.includes('dev'),
  )
  if (calls.length < 2) return false
  for (const call of calls.slice(0, MAX_TOGETHER)) {
    const scripts = (await packageOf(call, search))?.scripts
    if (scripts !== undefined && callsOf(scripts.dev ?? '', scripts).some(isDevelopmentServer)) return true
  }
  return false
}

/** The package in whose folder a package manager is called, by its path or its name in the workspace; null for none. */
async function packageOf([, ...rest]: Call, { tree, packages }: StartSearch): Promise<Manifest | null> {
  for (const word of rest.map((each) => each.split('=').at(-1)!)) {
    const path = word.replace(/^\.\//, '').replace(/\/$/, '')
    const named = packages.get(path) ?? [...packages.values()].find(({ name }) => name === word)
    if (named !== undefined) return named
    if (!isFolder(path) || path.includes('..') || !(await tree.hasFile(`${path}/package.json`))) continue
    try {
      return await readManifest(tree, `${path}/package.json`)
    } catch (error) {
      // It is that of another folder, which says so itself when it is built.
      if (!(error instanceof BuildFailure)) throw error
    }
  }
  return null
}

/** Servers for developers that a program of a project's own starts, most often one that a template brought along. */
const BROUGHT_SERVERS = /\b(?:webpack-dev-server|browser-?sync)\b/i

/** A program that is such a server whatever is around it (facebook/create-react-app, `scripts/start.js`). */
const OF_DEVELOPERS = /\bNODE_ENV = ["']development["']/

/** Whether a program serves its users as well, or at times. */
function isOfUsers(text: string): boolean {
  const names = SERVER_PACKAGES.flatMap((name) => [`'${name}'`, `"${name}"`])
  return hasLine(text, /["'`]production["'`]|\bcreateServer\(/) || names.some((name) => text.includes(name))
}

/**
 * Whether a script ends with a server for developers that a template of webpack left behind: by a file in the folder of
 * the project's own tools, or by one that is named so.
 */
async function runsDevelopmentServer(script: string, search: StartSearch): Promise<boolean> {
  const { scripts } = search.manifest
  const [program, ...rest] = callsOf(script, scripts).at(-1) ?? []
  const file = rest.find((word) => !word.startsWith('-')) ?? ''
  if (!('build' in scripts) || search.framework?.start || program !== 'node') return false
  const text = withoutSlashComments(
    (await search.tree.readHead(file.endsWith('.js') ? file : `${file}.js`)) ?? '',
  )
  if (/(?:^|\/)(?:webpack-)?dev-server(?:\.js)?$/.test(file)) return hasLine(text, /\bwebpack\b/)
  if (!/^(?:\.\/)?scripts\/[\w-]+(?:\.js)?$/.test(file) || !hasLine(text, BROUGHT_SERVERS)) return false
  return hasLine(text, OF_DEVELOPERS) || !isOfUsers(text)
}

/** Why there is nothing to start but a server that a template left behind; null where there is none. */
async function broughtAlone(search: StartSearch): Promise<Proposal> {
  const { start } = search.manifest.scripts
  if (start === undefined || !(await runsDevelopmentServer(start, search))) return null
  return {
    obstacle: `the script "start" (${start}) starts a server for developers: let it start the program, set start_command, or make it a static_site with the publish_dir of its build`,
  }
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
  if (await tree.hasFile('.meteor/release'))
    return 'this is an application of Meteor, which has a build of its own: add a Dockerfile that runs "meteor build"'
  const name = Object.keys(FOREIGN_PACKAGES).find((each) => each in manifest.dependencies)
  if (name !== undefined && !(await tree.hasFile('index.html'))) {
    return foreign(name, FOREIGN_PACKAGES[name]!)
  }
  if (framework !== null && (framework.start !== null || framework.publishDirectory !== null)) return null
  for (const file of WRANGLER) {
    const text = withoutSlashComments((await tree.readText(file)) ?? '')
    if (hasLine(text, /^\s*"?main"?\s*[:=]/)) return foreign(file, 'Cloudflare Workers')
  }
  // Its file may be made from an example, and be nobody's but the developer's.
  const { dev = '', start = '', deploy = '' } = manifest.scripts
  const isRun = [dev, start, deploy].some((script) => /\bwrangler (?:dev|deploy|publish)\b/.test(script))
  const serves = ['@hono/node-server', 'express', 'fastify', 'koa'].some(
    (each) => each in manifest.dependencies,
  )
  return isRun && !serves ? foreign('wrangler', 'Cloudflare Workers') : null
}

function foreign(sign: string, host: string): string {
  return `${sign} builds it for ${host}, and nothing else runs that: set it up for node, with a script "start", or set start_command`
}

/**
 * A plain script is run itself: without the package manager before it the program starts sooner, takes less memory and
 * gets its signals directly. Whatever the manager adds to it is kept by running the manager.
 */
async function commandOf(
  name: string,
  { tree, manifest: { scripts, value }, manager, major }: StartSearch,
): Promise<string> {
  const script = scripts[name]!
  const isPlain =
    !(`pre${name}` in scripts) &&
    !(`post${name}` in scripts) &&
    !/[\n]|\$?npm_|\b(npm|npx|pnpm|pnpx|yarn|bun|bunx)\b/.test(script)
  if (!isPlain) return manager.run(name)
  // What it runs a program by, its configuration may say.
  const isConfigured = value.nodemonConfig !== undefined || (await tree.hasFile('nodemon.json'))
  const plain = isConfigured ? script : await withoutWatcher(script, tree)
  return await withOptionalFile(plain, tree, major)
}

/** A script without what restarts a program whose files a developer changes; Express's generator makes a `bin/www`. */
async function withoutWatcher(script: string, tree: Tree): Promise<string> {
  const [, options = '', file = ''] =
    /^nodemon ((?:--env-file[= ][\w./-]+ )?)([\w./-]+)$/.exec(script.trim()) ?? []
  const isProgram =
    /\.[cm]?js$/.test(file) ||
    (file !== '' && ((await tree.readHead(file)) ?? '').startsWith('#!/usr/bin/env node')) ||
    (file !== '' && ((await tree.hasFile(`${file}.js`)) || (await tree.hasFile(`${file}/index.js`))))
  return isProgram ? `node ${options}${file}` : script
}

/** A script that does not end where a file of variables is its developer's alone: a service has them from elsewhere. */
async function withOptionalFile(script: string, tree: Tree, major: number | null): Promise<string> {
  const file = /^node (?:--[\w-]+ )*--env-file[= ]([\w./-]+) /.exec(script)?.[1]
  if (file === undefined || major === null || major < FIRST_OPTIONAL_MAJOR || (await tree.hasFile(file)))
    return script
  return script.replace(/--env-file[= ]/, '--env-file-if-exists=')
}
