import { withoutSlashComments } from '../source/comments.ts'
import { BuildFailure } from '../source/failure.ts'
import { hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import type { Proposal } from '../start.ts'
import { isDevelopmentServer, isPreview } from './development-servers.ts'
import { entryOf, LISTENING, type StartSearch } from './entry.ts'
import { readManifest, type Manifest } from './manifest.ts'
import { SERVER_PACKAGES } from './packages.ts'
import { callsOf, MANAGERS, START_SCRIPTS, type Call } from './scripts.ts'
import { memberCalled } from './workspace.ts'

/**
 * From this version on node can be told that a file of variables may be missing (nodejs.org, `--env-file-if-exists`; 22.9).
 */
const FIRST_OPTIONAL_MAJOR = 22

/** Returns the start that package.json, the framework and the files suggest. */
export async function proposeStart(search: StartSearch): Promise<Proposal> {
  const { manifest, framework, notes } = search
  // The server of the standalone build; `next start` does not serve it (Next.js, "output").
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
  if (entry === null) return await templateServerAlone(search)
  const silent = serves ? await exportedAlone(entry, search) : null
  return silent === null ? { command: entry } : { obstacle: silent }
}

/** Returns the script that starts a program for its users; undefined for none. */
async function usedScript(search: StartSearch): Promise<string | undefined> {
  const { scripts } = search.manifest
  for (const name of START_SCRIPTS) {
    if (!(name in scripts) || isUnused(scripts[name]!, search)) continue
    if (await isDevelopedElsewhere(scripts[name]!, search)) continue
    if (!(await runsDevelopmentServer(scripts[name]!, search))) return name
  }
  return undefined
}

/**
 * Returns why a program that only exports its application for a host's own server ends at once; null where it may listen.
 */
async function exportedAlone(entry: string, { tree, major }: StartSearch): Promise<string | null> {
  const file = /^(?:node|tsx|ts-node) ([\w./@-]+)$/.exec(entry)?.[1]
  const text = withoutSlashComments((file === undefined ? null : await tree.readHead(file)) ?? '')
  // Bun serves a default export.
  const isExported = major !== null && hasLine(text, /^export default [A-Za-z_$]\w*;?\s*$/)
  // Other files of the project may listen.
  const mayListen = hasLine(text, LISTENING) || hasLine(text, /\bfrom ["']\.|\bimport ?\(?["']\./)
  return !isExported || mayListen
    ? null
    : `${file} exports its application and listens on no port, as serverless hosts expect: let it listen on PORT, or set start_command`
}

/** Programs that start the server built by their framework; there is none if it built a site. */
const FRAMEWORK_SERVERS = new Set(['next', 'nuxt', 'react-router-serve', 'remix-serve', 'vinxi'])

/** Whether a script starts a dev server, or the server of a framework that builds none here. */
function isUnused(script: string, { manifest: { scripts }, framework }: StartSearch): boolean {
  if (script === framework?.start) return false
  const isSite = framework !== null && framework.start === null && framework.publishDirectory !== null
  const hasNone = (call: Call): boolean => isSite || (framework === null && !call.slice(2).some(isFolder))
  const calls = callsOf(script, scripts)
  return (
    (calls.length > 0 && calls.every(([program]) => PRINTING.has(program!) || CONTAINERS.has(program!))) ||
    calls.some(
      (call) =>
        isDevelopmentServer(call) ||
        (FRAMEWORK_SERVERS.has(call[0]!) && hasNone(call)) ||
        (isSite && isPreview(call)),
    )
  )
}

/** Commands of a script that only prints how to start the project. */
const PRINTING = new Set(['echo', 'exit'])

/** Programs that start containers, which do not exist inside a container. */
const CONTAINERS = new Set(['docker', 'docker-compose', 'podman', 'podman-compose'])

/** How many packages of a start script are looked at. */
const MAX_TOGETHER = 10

/**
 * Whether a script runs the "dev" scripts of several packages, at least one of which starts a dev server. A script that runs
 * only one "dev" script does not count, since it may be the only way to start that package.
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

/**
 * Returns the package in whose folder a package manager is called, by path or by its name in the workspace; null for none.
 */
async function packageOf([, ...rest]: Call, { tree, packages }: StartSearch): Promise<Manifest | null> {
  const member = memberCalled(rest, packages)
  if (member !== null) return member
  for (const word of rest.map((each) => each.split('=').at(-1)!)) {
    const path = word.replace(/^\.\//, '').replace(/\/$/, '')
    if (!isFolder(path) || path.includes('..') || !(await tree.hasFile(`${path}/package.json`))) continue
    try {
      return await readManifest(tree, `${path}/package.json`)
    } catch (error) {
      // The call is for another folder, where it is checked when that is built.
      if (!(error instanceof BuildFailure)) throw error
    }
  }
  return null
}

/** Dev servers that a program of the project starts, usually left by a template. */
const TEMPLATE_SERVERS = /\b(?:webpack-dev-server|browser-?sync)\b/i

/** A program that is a dev server in any project (facebook/create-react-app, `scripts/start.js`). */
const OF_DEVELOPERS = /\bNODE_ENV = ["']development["']/

/** Whether a program may also serve users: it mentions production, creates a server, or uses a server framework. */
function mayServeUsers(text: string): boolean {
  const names = SERVER_PACKAGES.flatMap((name) => [`'${name}'`, `"${name}"`])
  return hasLine(text, /["'`]production["'`]|\bcreateServer\(/) || names.some((name) => text.includes(name))
}

/**
 * Whether a script ends with a dev server that a webpack template left: a file in the folder of the project's own tools, or
 * one with such a name.
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
  if (!/^(?:\.\/)?scripts\/[\w-]+(?:\.js)?$/.test(file) || !hasLine(text, TEMPLATE_SERVERS)) return false
  return hasLine(text, OF_DEVELOPERS) || !mayServeUsers(text)
}

/** Returns why only a dev server left by a template could be started; null where that is not so. */
async function templateServerAlone(search: StartSearch): Promise<Proposal> {
  const { start } = search.manifest.scripts
  if (start === undefined || !(await runsDevelopmentServer(start, search))) return null
  return {
    obstacle: `the script "start" (${start}) starts a dev server: let it start the program, set start_command, or make it a static_site with the publish_dir of its build`,
  }
}

/** An argument that may name the folder of the project. */
function isFolder(word: string): boolean {
  return /^[\w./][\w./-]*$/.test(word) && !/^\d+$/.test(word)
}

/**
 * Whether the framework's own start command does what a script means: one that downloads its program at each start, or is
 * written for the build folder, which people enter first (AdonisJS, "Deployment").
 */
async function hasBetterStart(script: string, { tree, manifest, framework }: StartSearch): Promise<boolean> {
  if (!framework?.start) return false
  const fetched = /^(?:npx|pnpx|bunx|pnpm dlx|yarn dlx) (?:--?[\w-]+ )*([\w@./-]+)/.exec(script)?.[1]
  if (fetched !== undefined) return !(fetched in manifest.dependencies) && framework.start.startsWith(fetched)
  const file = /^node (?:\.\/)?([\w./-]+\.[cm]?js)$/.exec(script)?.[1]
  return file !== undefined && framework.start.endsWith(`/${file}`) && !(await tree.hasFile(file))
}

/** Configuration files and packages of hosts whose programs run nowhere else. */
const WRANGLER = ['wrangler.jsonc', 'wrangler.toml', 'wrangler.json']
const FOREIGN_PACKAGES: Record<string, string> = {
  '@cloudflare/vite-plugin': 'Cloudflare Workers',
  '@netlify/vite-plugin-tanstack-start': 'Netlify',
}

/** Returns why the output runs only on another host; null where it does not. */
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
  // Its file may come from an example and matter only to a developer.
  const { dev = '', start = '', deploy = '' } = manifest.scripts
  const isRun = [dev, start, deploy].some((script) => /\bwrangler (?:dev|deploy|publish)\b/.test(script))
  const serves = ['@hono/node-server', 'express', 'fastify', 'koa'].some(
    (each) => each in manifest.dependencies,
  )
  return isRun && !serves ? foreign('wrangler', 'Cloudflare Workers') : null
}

function foreign(sign: string, host: string): string {
  return `${sign} builds it for ${host}, and it runs nowhere else: set it up for node, with a script "start", or set start_command`
}

/**
 * A plain script is run directly: without the package manager the program starts sooner, takes less memory and receives its
 * signals directly. Where the manager would add something, it is run.
 */
async function commandOf(
  name: string,
  { tree, manifest: { scripts, value }, manager, major }: StartSearch,
): Promise<string> {
  const script = scripts[name]!
  const isPlain =
    !(`pre${name}` in scripts) &&
    !(`post${name}` in scripts) &&
    !/[\n]|\$?npm_|\b(npm|npx|pnpm|pnpx|yarn|bun|bunx)\b/.test(script) &&
    // Where there is no node, Bun's runner lends its name to Bun (bun.com, "bun run").
    !(major === null && /\bnode\b/.test(script))
  if (!isPlain) return manager.run(name)
  // Its configuration may say what runs a program.
  const isConfigured = value.nodemonConfig !== undefined || (await tree.hasFile('nodemon.json'))
  const plain = isConfigured ? script : await withoutWatcher(script, tree)
  return await withOptionalFile(plain, tree, major)
}

/**
 * Returns a script without the tool that restarts the program when a developer changes a file; Express's generator creates a
 * `bin/www`.
 */
async function withoutWatcher(script: string, tree: Tree): Promise<string> {
  const [, options = '', file = ''] =
    /^nodemon ((?:--env-file[= ][\w./-]+ )?)([\w./-]+)$/.exec(script.trim()) ?? []
  const isProgram =
    /\.[cm]?js$/.test(file) ||
    (file !== '' && ((await tree.readHead(file)) ?? '').startsWith('#!/usr/bin/env node')) ||
    (file !== '' && ((await tree.hasFile(`${file}.js`)) || (await tree.hasFile(`${file}/index.js`))))
  return isProgram ? `node ${options}${file}` : script
}

/**
 * Makes a script tolerate a missing file of variables that only the developer has: a service gets its variables from
 * elsewhere.
 */
async function withOptionalFile(script: string, tree: Tree, major: number | null): Promise<string> {
  const file = /^node (?:--[\w-]+ )*--env-file[= ]([\w./-]+) /.exec(script)?.[1]
  if (file === undefined || major === null || major < FIRST_OPTIONAL_MAJOR || (await tree.hasFile(file)))
    return script
  return script.replace(/--env-file[= ]/, '--env-file-if-exists=')
}
