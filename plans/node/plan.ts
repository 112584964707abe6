import { posix } from 'node:path'
import { aptPackagesOf } from '../apt.ts'
import { inOrder } from '../choices.ts'
import {
  NOTHING_KNOWN,
  type LanguagePlan,
  type PlannedBuild,
  type PlannedVariable,
  type PlanSettings,
  type WholeSource,
} from '../plan.ts'
import { releaseCommand } from '../procfile.ts'
import type { Tree } from '../source/tree.ts'
import { chooseStart, type Start } from '../start.ts'
import { baseImage, textOf } from '../steps.ts'
import { chooseBuildCommand } from './build-command.ts'
import { keepsDevelopment } from './development.ts'
import { nodeDockerfile, type NodeBuild } from './dockerfile.ts'
import { frameworkOf } from './framework.ts'
import type { Framework } from './frameworks.ts'
import { readInstallation } from './installation.ts'
import { chooseBun, choosePackageManager, managersCalled, managersOfBuild } from './manager.ts'
import type { PackageManager } from './managers.ts'
import type { Manifest, Manifests } from './manifest.ts'
import { nestedInstallation, type NestedInstallation } from './nested.ts'
import { isNxApplication, nxFramework } from './nx.ts'
import { oldWebpackEnvironment } from './old-webpack.ts'
import { isBot } from './packages.ts'
import { prismaGeneration } from './prisma.ts'
import { findProject, type Project } from './project.ts'
import { chooseRuntime, type Runtime } from './runtime.ts'
import { proposeStart } from './start.ts'
import { systemPackages } from './system-packages.ts'

/** Node programs, with npm, pnpm or yarn. */
export const node: LanguagePlan = {
  name: 'node',
  lookedFor: 'package.json',
  detect: async (tree) => (await tree.hasFile('package.json')) || (await isNxApplication(tree)),
  plan: (tree, settings, whole) => planNode('node', tree, settings, whole),
  buildsElsewhere,
}

const OTHER_LOCKS = ['package-lock.json', 'yarn.lock', 'pnpm-lock.yaml']

/** Programs for Bun, identified by its lock file or the field `packageManager`. */
export const bun: LanguagePlan = {
  name: 'bun',
  lookedFor: 'bun.lock with a package.json',
  detect: async (tree) => {
    const manifest = await tree.readText('package.json')
    if (manifest === null) return false
    if (/"packageManager"\s*:\s*"bun@|"start"\s*:\s*"bunx? /.test(manifest)) return true
    for (const name of ['bun.lock', 'bun.lockb']) if (await tree.hasFile(name)) return true
    // Its starters come without a lock file.
    if (!/"(?:@types\/bun|bun-types)"\s*:/.test(manifest)) return false
    for (const name of OTHER_LOCKS) if (await tree.hasFile(name)) return false
    return true
  },
  plan: (tree, settings, whole) => planNode('bun', tree, settings, whole),
  buildsElsewhere,
}

/**
 * Whether a package of a workspace, or an Nx application, is built: commands written for the root would miss the folder, and
 * the reverse.
 */
async function buildsElsewhere(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<boolean> {
  const { folder, application } = await findProject(tree, settings, whole, [])
  return folder !== '' || application !== null
}

async function planNode(
  name: Runtime['name'],
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const project = await findProject(tree, settings, whole, notes)
  const choices = await choose(name, project, settings, notes)
  const { runtime, manager, framework, start, buildCommand, nested } = choices
  const build = await buildOf(choices, project, tree, settings, notes)
  return {
    ...NOTHING_KNOWN,
    isSite: start.isSite,
    startCommand: build.startCommand,
    version: runtime.version,
    framework: framework?.name ?? null,
    packageManager: manager.name,
    installCommand: manager.install,
    buildCommand,
    // None of several programs was chosen.
    publishDirectory: project.obstacle === null ? (framework?.publishDirectory ?? null) : null,
    singlePage: framework?.singlePage ?? false,
    isWorker: framework === null && isBot(project.manifest),
    env: framework?.name === 'adonis' ? [ADONIS_KEY] : [],
    aptPackages: build.aptPackages,
    obstacle: project.obstacle ?? obstacleOf(start, framework, settings),
    isRefused: project.obstacle === null && start.isRefused,
    rootDirectories: project.rootDirectories,
    dockerfile: textOf(nodeDockerfile(build)),
    manifests: build.installation.manifests,
    needsWhole: project.needsWhole,
    ignore: ['.git', ...new Set(['', ...project.packages.keys(), ...nested.folders].map(packagesBelow))],
    notes: [`${name} ${runtime.version ?? ''} with ${manager.name}`.replace('  ', ' '), ...notes],
  }
}

/** With what a project is installed, built and started. */
interface Choices {
  runtime: Runtime
  manager: PackageManager
  framework: Framework | null
  start: Start
  buildCommand: string | null
  nested: NestedInstallation
}

async function choose(
  name: Runtime['name'],
  project: Project,
  settings: PlanSettings,
  notes: string[],
): Promise<Choices> {
  const { root, rootManifest, tree, manifest, packages, application } = project
  const runtime = await chooseRuntime(name, project, notes)
  const all: Manifests = new Map([['', rootManifest], ...packages])
  const manager = await (name === 'bun' ? chooseBun : choosePackageManager)(root, all, notes)
  const outer = project.folder === '' ? null : rootManifest
  const framework =
    application === null ? await frameworkOf(tree, manifest, notes, outer) : nxFramework(application)
  const search = { tree, manifest, packages, manager, framework, major: runtime.nodeMajor, notes }
  const proposal = settings.processType === 'static' ? null : await proposeStart(search)
  const start = await chooseStart(tree, settings, notes, proposal, ADVICE)
  const chosen = await chooseBuildCommand(project, manager, framework, settings)
  const nested = await nestedInstallation(project, manager, chosen, start.startCommand, notes)
  const buildCommand = inOrder([...nested.before, ...(chosen === null ? [] : [chosen]), ...nested.after])
  if (buildCommand !== null) notes.push(`building with: ${buildCommand}`)
  if (start.isSite && framework !== null && framework.start !== null && framework.siteBuild === null) {
    const advice = framework.name === 'next' ? ": set output: 'export' in next.config for files alone" : ''
    notes.push(`${framework.name} builds a server here, not a site${advice}`)
  }
  return { runtime, manager, framework, start, buildCommand, nested }
}

async function buildOf(
  { runtime, manager, framework, start, buildCommand, nested }: Choices,
  project: Project,
  tree: Tree,
  settings: PlanSettings,
  notes: string[],
): Promise<NodeBuild> {
  const { root, rootManifest, manifest, folder, packages, needed } = project
  const preDeploy = settings.preDeployCommand ?? (await releaseCommand(tree))
  const isSelfContained =
    start.isProposed && preDeploy === null && framework !== null && runsOutput(start, framework)
  const startCommand = standaloneStart(start, framework, isSelfContained, folder)
  const commands = [startCommand, preDeploy].filter((command) => command !== null)
  return {
    settings,
    fullImage: baseImage(settings, runtime.fullImage),
    slimImage: baseImage(settings, runtime.slimImage),
    runtimeLines: runtime.lines(settings),
    manager,
    installation: await readInstallation(root, rootManifest, packages, manager, notes),
    folder,
    framework,
    generation: await prismaGeneration(project, manager),
    buildCommand,
    buildEnvironment: {
      ...framework?.environment,
      ...oldWebpackEnvironment([manifest, ...nested.built], runtime.nodeMajor, notes),
    },
    isGivenBuild: settings.buildCommand !== null,
    isSite: start.isSite,
    startCommand,
    isSelfContained,
    keepsDevelopment: await keepsDevelopment(project, start, commands, notes),
    usesPlaywright: runsPackage(manifest, 'playwright'),
    program: startCommand !== null && startCommand === framework?.start ? framework.program : null,
    buildManagers: managersOfBuild(manager, [rootManifest, manifest], buildCommand),
    runManagers: managersCalled(commands, manifest.scripts, manager),
    aptPackages: await aptPackagesOf(tree, settings, notes),
    system: systemPackages([manifest, ...needed.map((path) => packages.get(path)!)]),
  }
}

/**
 * Returns the pattern for the installed packages of a folder, which the build installs itself: the tree's may be another
 * platform's. Neighbours share one, since each pattern is compared with each file.
 */
function packagesBelow(folder: string): string {
  const escaped = (path: string): string => path.replaceAll(/[\\*?[\]!#]/g, '\\$&')
  const parent = posix.dirname(folder)
  return parent === '.' ? posix.join(escaped(folder), 'node_modules') : `${escaped(parent)}/*/node_modules`
}

const ADONIS_KEY: PlannedVariable = {
  key: 'APP_KEY',
  generate: 'hex',
  why: 'AdonisJS encrypts its cookies with it',
}

const ADVICE = 'add a script "start" to package.json, or a Procfile with a line "web:"'

/** Whether the start command is the one for the framework's output. */
function runsOutput({ startCommand }: Start, framework: Framework): boolean {
  return framework.output !== null && startCommand?.replace('node ./', 'node ') === framework.start
}

/** Next's standalone server is at the root of its output, or below it where the whole project is kept. */
function standaloneStart(
  { startCommand }: Start,
  framework: Framework | null,
  isSelfContained: boolean,
  folder: string,
): string | null {
  const isStandalone = framework?.output === '.next/standalone' && startCommand === framework.start
  if (!isStandalone || isSelfContained) return startCommand
  return `node .next/standalone/${folder === '' ? '' : `${folder}/`}server.js`
}

/** Whether a package is for the program rather than for its developers. */
function runsPackage({ dependencies, devDependencies }: Manifest, name: string): boolean {
  return name in dependencies && !(name in devDependencies)
}

/** The caller knows a static site's own folder, so an obstacle of the framework does not apply. */
function obstacleOf(start: Start, framework: Framework | null, { processType }: PlanSettings): string | null {
  const isOwn = start.isProposed && (start.startCommand === null || start.startCommand === framework?.start)
  const obstacle = isOwn && processType !== 'static' ? (framework?.obstacle ?? null) : null
  return obstacle ?? start.obstacle
}
