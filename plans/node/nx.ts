import { posix } from 'node:path'
import { isRecord, parsedJson } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'
import { server, site, variants, type Framework } from './frameworks.ts'
import type { Manifest } from './manifest.ts'

/** An application of an "integrated" Nx workspace, whose packages all belong to the root, by its project.json. */
export interface NxApplication {
  name: string
  /** Its folder in the workspace. */
  folder: string
  /** The output folder of its build, relative to the root; null where no setting states it. */
  output: string | null
  /** The command that starts the output; null where that is a site. */
  start: string | null
}

/** Folders for applications, as Nx's generators create them; one more level below each for a scope. */
const FOLDERS = ['apps', 'packages']
const MAX_FOLDERS = 100

/** Whether a tree is itself such an application, without a package.json. */
export async function isNxApplication(tree: Tree): Promise<boolean> {
  return (await readApplication(tree, '')) !== null
}

/** How such an application is built and started, in the form of a framework. */
export function nxFramework({ name, output, start }: NxApplication): Framework {
  const build = `nx build ${name}`
  return start === null ? site('nx', [], build, output, { singlePage: true }) : server('nx', [], build, start)
}

/** Returns the applications of an Nx workspace; none for any other tree. */
export async function nxApplications(tree: Tree, manifest: Manifest): Promise<NxApplication[]> {
  if (!('nx' in manifest.dependencies) || !(await tree.hasFile('nx.json'))) return []
  const applications: NxApplication[] = []
  let looked = 0
  for (const parent of ['', ...FOLDERS]) {
    const names = parent === '' ? [''] : (await tree.list(parent)).filter((name) => name.endsWith('/'))
    for (const name of names) {
      if (++looked > MAX_FOLDERS) return applications
      const folder = posix.join(parent, name).replace(/^\.$|\/$/, '')
      const application = await readApplication(tree, folder)
      if (application !== null) applications.push(application)
    }
  }
  return applications
}

/** Names and paths are written into commands unescaped, and must not be read as options. */
const PLAIN = /^(?:@\w[\w.-]*\/)?\w[\w.-]*$/
const PLAIN_PATH = /^[\w.@][\w.@-]*(?:\/[\w.@-]+)*$/

/** Builders that make a program (nx.dev, "@nx/node", "@nx/webpack"). */
const SERVER_EXECUTORS = /^@(?:nx|nrwl)\/(?:node|js|esbuild):/

/** Angular's builder for server and browser, whose output has a folder for each (angular.dev, "Build system migration"). */
const ANGULAR_EXECUTORS =
  /^@(?:angular\/build|angular-devkit\/build-angular|nx\/angular|nrwl\/angular):application$/

/** Its output where `outputPath` is a string: a server if there is one that does more than write pages. */
function angularOf(
  { outputPath, ssr, outputMode }: Record<string, unknown>,
  output: string,
): Pick<NxApplication, 'output' | 'start'> {
  const base = typeof outputPath === 'string' ? output : posix.dirname(output)
  const isServer = (ssr === true || isRecord(ssr)) && outputMode !== 'static'
  return {
    output: typeof outputPath === 'string' ? `${output}/browser` : output,
    start: isServer ? `node ${base}/server/server.mjs` : null,
  }
}

async function readApplication(tree: Tree, folder: string): Promise<NxApplication | null> {
  const project = parsedJson((await tree.readText(posix.join(folder, 'project.json'))) ?? '')
  if (!isRecord(project) || project.projectType !== 'application') return null
  const name = typeof project.name === 'string' ? project.name : posix.basename(folder) || 'app'
  const targets = [project.targets, project.architect].find(isRecord)
  const build = isRecord(targets?.build) ? targets.build : {}
  const isTest = /-e2e(?:-|$)/.test(folder === '' ? name : folder)
  const isPlain = PLAIN.test(name) && (folder === '' || plainPath(folder) !== null)
  if (isTest || !isPlain) return null
  const options = isRecord(build.options) ? build.options : {}
  const executor = typeof build.executor === 'string' ? build.executor : ''
  const output = outputOf(options, build.outputs, folder, name)
  const angular = ANGULAR_EXECUTORS.test(executor) && output !== null ? angularOf(options, output) : null
  if (angular !== null) return { name, folder, ...angular }
  const isNext = executor.endsWith('/next:build') || (await hasFileLike(tree, folder, 'next.config'))
  const isServer =
    SERVER_EXECUTORS.test(executor) ||
    options.target === 'node' ||
    options.compiler === 'node' ||
    (await hasServerBundle(tree, folder))
  const start = isNext
    ? `next start ${executor === '' ? folder : (output ?? folder)} -H 0.0.0.0 -p $PORT`
    : isServer && output !== null
      ? `node ${output}/main.js`
      : null
  return { name, folder, output, start }
}

async function hasFileLike(tree: Tree, folder: string, name: string): Promise<boolean> {
  for (const file of variants(name)) if (await tree.hasFile(posix.join(folder, file))) return true
  return false
}

/** Returns `outputPath`, also in the form of Angular's newer builder; else the first of `outputs`. */
function outputOf(
  options: Record<string, unknown>,
  outputs: unknown,
  folder: string,
  name: string,
): string | null {
  const { outputPath } = options
  if (isRecord(outputPath) && typeof outputPath.base === 'string') {
    const below = typeof outputPath.browser === 'string' ? outputPath.browser : 'browser'
    return plainPath(posix.join(outputPath.base, below))
  }
  const first: unknown = Array.isArray(outputs) ? outputs[0] : null
  const path = [outputPath, first].find(
    (each): each is string => typeof each === 'string' && each !== '{options.outputPath}',
  )
  return plainPath(
    (path ?? `dist/${folder}`)
      .replaceAll('{workspaceRoot}/', '')
      .replaceAll('{projectRoot}', folder)
      .replaceAll('{projectName}', name),
  )
}

function plainPath(path: string): string | null {
  const folder = path.replace(/^\.?\//, '').replace(/\/$/, '')
  return PLAIN_PATH.test(folder) && !folder.split('/').includes('..') ? folder : null
}

/** Without a named builder, a plugin handles the project by its files: the configuration of webpack states the platform. */
async function hasServerBundle(tree: Tree, folder: string): Promise<boolean> {
  for (const name of ['webpack.config.js', 'rspack.config.js']) {
    const text = (await tree.readText(posix.join(folder, name))) ?? ''
    if (/\btarget\s*:\s*["']node["']/.test(text)) return true
  }
  return false
}
