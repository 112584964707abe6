import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { frameworkOf, frameworkSteps, wordOf, type Framework } from './node-frameworks.ts'
import { choosePackageManager, type PackageManager } from './node-managers.ts'
import { readManifest, type Manifest } from './node-manifest.ts'
import { chooseNodeMajor } from './node-version.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { runOf } from './start.ts'
import { procfileCommand } from './procfile.ts'
import { baseImage, buildCommandSteps, buildStage, finalStage, step, takeApp } from './steps.ts'

/** Node programs, with npm, pnpm or yarn. */
export const node: LanguagePlan = {
  name: 'node',
  lookedFor: 'package.json',
  detect: (tree) => tree.hasFile('package.json'),
  plan: makePlan,
}

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const manifest = await readManifest(tree)
  const major = await chooseNodeMajor(tree, manifest, notes)
  const manager = await choosePackageManager(tree, manifest, notes)
  const framework = await frameworkOf(tree, manifest)
  const start = await chooseStart(tree, manifest, manager, framework, settings, notes)
  const build = settings.buildCommand ?? (manifest.scripts.build === undefined ? null : manager.run('build'))
  if (build !== null) notes.push(`building with: ${build}`)
  const image = baseImage(settings, `node:${major}-bookworm-slim`)
  const toolImage = manager.globalPackage === null ? image : 'tools'
  const tools =
    manager.globalPackage === null
      ? []
      : [
          `FROM ${image} AS tools`,
          `RUN --mount=type=cache,target=/root/.npm npm install --global --force --no-audit --no-fund --no-update-notifier ${manager.globalPackage}`,
        ]
  const dockerfile = [
    ...tools,
    ...buildStage(toolImage),
    ...Object.entries(manager.environment).map(([key, value]) => `ENV ${key}=${value}`),
    ...(await installSteps(tree, manifest, manager, settings)),
    ...buildSteps(build, manifest, manager, framework, settings),
    ...finalStage(
      start.needsManager ? toolImage : image,
      [takeApp(), `ENV NODE_ENV=production PATH=/app/node_modules/.bin:$PATH ${SCRIPT_SHELL}`],
      start.command,
    ),
  ]
  return {
    ...NOTHING_KNOWN,
    ...runOf(settings, start.command),
    version: String(major),
    framework: wordOf(framework),
    packageManager: manager.name,
    installCommand: manager.install,
    buildCommand: build,
    dockerfile: `${dockerfile.join('\n')}\n`,
    needsWhole: false,
    publishDirectory: framework?.publishDirectory ?? null,
    ignore: ['.git', '**/node_modules'],
    notes: [`node ${major} with ${manager.name}`, ...notes],
  }
}

/**
 * The shell of npm and pnpm for scripts. Under Debian's own, SIGTERM would end the shell between them and the program;
 * bash lets the last program of a script take its place.
 */
const SCRIPT_SHELL = 'npm_config_script_shell=/bin/bash npm_config_update_notifier=false'

/** Scripts that npm runs at install (npm-scripts, "Life Cycle Operation Order"); they may read any file of the tree. */
const INSTALL_SCRIPTS = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
]

/** The manifests first, alone, so that a change of the code leaves the installed packages in the engine's cache. */
async function installSteps(
  tree: Tree,
  manifest: Manifest,
  manager: PackageManager,
  settings: PlanSettings,
): Promise<string[]> {
  const install = step(manager.install, settings, [manager.cache])
  const isLocal = Object.values(manifest.dependencies).some((version) =>
    /^(file|link|portal|workspace):/.test(version),
  )
  const needsAll = manifest.isWorkspace || isLocal || INSTALL_SCRIPTS.some((name) => name in manifest.scripts)
  if (needsAll || (await tree.hasFile('pnpm-workspace.yaml'))) return ['COPY source/ ./', install]
  const files = ['package.json']
  for (const name of manager.files) if (await tree.hasFile(name)) files.push(name)
  const folders: string[] = []
  for (const name of manager.folders) if (await tree.hasFolder(name)) folders.push(name)
  return [
    `COPY ${files.map((name) => `source/${name}`).join(' ')} ./`,
    ...folders.map((name) => `COPY source/${name} ./${name}`),
    install,
    'COPY source/ ./',
  ]
}

function buildSteps(
  command: string | null,
  manifest: Manifest,
  manager: PackageManager,
  framework: Framework | null,
  settings: PlanSettings,
): string[] {
  const build = command === null ? [] : buildCommandSteps(command, settings, [manager.cache])
  const completion = settings.processType === 'static' ? null : frameworkSteps(framework)
  const complete = completion === null ? [] : [step(completion, settings)]
  const canPrune =
    manifest.hasDevDependencies &&
    settings.processType !== 'static' &&
    !manifest.isWorkspace &&
    manager.prune !== null
  const prune = canPrune ? [step(manager.prune!, settings, [manager.cache])] : []
  return ['ENV NODE_ENV=production', ...build, ...complete, ...prune]
}

interface Start {
  command: string
  /** The command runs the package manager, so the image must have it. */
  needsManager: boolean
}

/** Files that are started when nothing says what to start, in this order. */
const ENTRY_FILES = [
  'server.js',
  'index.js',
  'app.js',
  'main.js',
  'server.mjs',
  'index.mjs',
  'src/index.js',
  'src/server.js',
]

async function chooseStart(
  tree: Tree,
  manifest: Manifest,
  manager: PackageManager,
  framework: Framework | null,
  settings: PlanSettings,
  notes: string[],
): Promise<Start> {
  // A site's image is only copied from.
  if (settings.processType === 'static') return { command: 'true', needsManager: false }
  const given = settings.startCommand ?? (await procfileCommand(tree, settings, notes))
  if (given !== null) return { command: given, needsManager: /\b(pnpm|yarn)\b/.test(given) }
  if (settings.processType === 'job' && manifest.scripts.start === undefined) {
    throw new BuildFailure('nothing says what this job runs: set start_command')
  }
  // The server that the standalone build made; `next start` does not serve it (Next.js, "output").
  if (framework?.start?.includes('.next/standalone') === true) {
    return { command: framework.start, needsManager: false }
  }
  const script = manifest.scripts.start
  if (script !== undefined) return startScript(script, manifest, manager, notes)
  if (framework !== null && framework.start !== null) {
    notes.push(`starting ${framework.name} with: ${framework.start}`)
    return { command: framework.start, needsManager: false }
  }
  const candidates =
    manifest.main === null ? ENTRY_FILES : [manifest.main, `${manifest.main}.js`, ...ENTRY_FILES]
  for (const file of candidates) {
    if (!/^[\w./@-]+\.(js|mjs|cjs)$/.test(file) || !(await tree.hasFile(file))) continue
    notes.push(`starting with: node ${file} (package.json has no script "start")`)
    return { command: `node ${file}`, needsManager: false }
  }
  throw new BuildFailure(
    'nothing says how to start this service: add a script "start" to package.json, or a Procfile with a line "web:", or set start_command',
  )
}

/**
 * A plain start script is run itself: without the package manager before it the program starts sooner, takes less
 * memory and gets its signals directly. Whatever the manager adds to it is kept by running the manager.
 */
function startScript(script: string, manifest: Manifest, manager: PackageManager, notes: string[]): Start {
  const isPlain =
    !('prestart' in manifest.scripts) &&
    !('poststart' in manifest.scripts) &&
    !/[\n]|\$?npm_|\b(npm|npx|pnpm|pnpx|yarn)\b/.test(script)
  const command = isPlain ? script : manager.run('start')
  notes.push(`starting with: ${command}`)
  return { command, needsManager: !isPlain || /\b(pnpm|yarn)\b/.test(script) }
}
