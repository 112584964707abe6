import { posix } from 'node:path'
import { choose } from './choices.ts'
import { frameworkOf } from './node/framework.ts'
import { readConfiguration, variants } from './node/frameworks.ts'
import { readManifest } from './node/manifest.ts'
import { viteFolder } from './node/site-frameworks.ts'
import { firstPin, inFiles, inToolFiles } from './pins.ts'
import { choosePlace, EVERY_LINE, type Place, type Reach } from './place.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from './plan.ts'
import { hasLine } from './source/text.ts'
import type { Tree } from './source/tree.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  installPackages,
  lastStage,
  step,
  takeApp,
  textOf,
  UNFINISHED,
} from './steps.ts'

const CONFIGURATIONS = ['deno.json', 'deno.jsonc']
const LOCK = 'deno.lock'
const NODE_LOCKS = ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb']
const ENTRY_FILES = [
  'main.ts',
  'server.ts',
  'mod.ts',
  'index.ts',
  'src/main.ts',
  'src/index.ts',
  'src/server.ts',
  'main.js',
  'server.js',
  'main.tsx',
]

/** What only programs for Deno import and call. */
const SIGNS = /\bDeno\.\w|from\s+["'](?:jsr:|npm:|https:\/\/deno\.land\/)/

/** Programs for Deno; such a tree may have a package.json next to its deno.json. */
export const deno: LanguagePlan = {
  name: 'deno',
  lookedFor: 'deno.json',
  detect: async (tree) => {
    for (const name of CONFIGURATIONS) if (await tree.hasFile(name)) return true
    const hasNode = await tree.hasFile('package.json')
    // Trying Deno out, or testing with it, leaves its lock file next to that of another tool.
    if (await tree.hasFile(LOCK)) return !hasNode || !(await hasNodeLock(tree))
    const entry = hasNode ? null : await entryOf(tree)
    return entry !== null && hasLine((await tree.readText(entry)) ?? '', SIGNS)
  },
  plan: planDeno,
}

async function planDeno(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const place = await choosePlace(tree, whole, notes, REACH)
  const pin = await firstPin([inFiles(tree, ['.dvmrc', '.deno-version']), inToolFiles(tree, ['deno'])])
  const version = /^v?(\d+\.\d+\.\d+)$/.exec(pin?.text ?? '')?.[1] ?? null
  if (pin !== null && version === null) {
    notes.push(`${pin.where} is not an exact version of Deno such as 2.4.0: using the newest`)
  }
  // JSONC allows trailing commas, so task names are searched for as text.
  const text = await readConfiguration(tree, CONFIGURATIONS)
  const tasks = /"tasks"\s*:\s*\{([^}]*)/.exec(text)?.[1] ?? ''
  const entry = await entryOf(tree)
  const own = /"start"\s*:/.test(tasks)
    ? 'deno task start'
    : entry === null
      ? null
      : `deno run --allow-all ${entry}`
  const site = own === null ? await siteOf(tree, tasks) : null
  const { facts, aptPackages } = await choose(tree, settings, notes, {
    proposal: own !== null ? { command: own } : site?.isBuilt === true ? { site: true } : null,
    advice: 'add a task "start" to deno.json, or a main.ts',
    build: () => (/"build"\s*:/.test(tasks) ? 'deno task build' : null),
  })
  const image = baseImage(settings, `denoland/deno:debian${version === null ? '' : `-${version}`}`)
  const install = entry === null ? 'deno install' : `deno cache ${entry}`
  const dockerfile = [
    ...buildStage(image),
    ...installPackages(aptPackages),
    // No cache mount: the program reads its packages from this folder at run time.
    'ENV DENO_DIR=/app/.deno DENO_NO_UPDATE_CHECK=1',
    ...(await earlySteps(tree, settings, place)),
    ...place.source,
    step(install, settings),
    ...buildCommandSteps(facts.buildCommand, settings),
    ...lastStage(facts, {
      image,
      packages: aptPackages,
      workdir: place.directory,
      content: [takeApp(), 'ENV DENO_DIR=/app/.deno DENO_NO_UPDATE_CHECK=1'],
    }),
  ]
  return {
    ...facts,
    version,
    framework: /@fresh\/core|\$fresh\//.test(text) ? 'fresh' : (site?.framework ?? null),
    publishDirectory: site?.publishDirectory ?? null,
    singlePage: site?.singlePage ?? false,
    packageManager: 'deno',
    installCommand: install,
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: place.needsWhole,
    ignore: ['.git', '**/node_modules', '.deno'],
    notes: [`deno ${version ?? 'in its newest version'}`, ...notes],
  }
}

const VITE_CONFIGURATIONS = variants('vite.config')

/**
 * Returns the framework whose pages a tree is the source of; `isBuilt` where the task "build" of its configuration makes a
 * site of them.
 */
async function siteOf(
  tree: Tree,
  tasks: string,
): Promise<
  (Pick<PlannedBuild, 'framework' | 'publishDirectory' | 'singlePage'> & { isBuilt: boolean }) | null
> {
  const build = /"build"\s*:\s*"([^"]*)"/.exec(tasks)?.[1] ?? ''
  // As Vite's template for Deno writes it, with or without a version.
  if (/\bvite(?:@[\w.^~-]+)? build\b/.test(build) && (await tree.hasFile('index.html'))) {
    const publishDirectory = viteFolder(await readConfiguration(tree, VITE_CONFIGURATIONS), build)
    return { framework: 'vite', publishDirectory, singlePage: true, isBuilt: true }
  }
  const known = (await tree.hasFile('package.json'))
    ? await frameworkOf(tree, await readManifest(tree))
    : null
  if (known === null) return null
  return { framework: known.name, publishDirectory: null, singlePage: false, isBuilt: false }
}

async function hasNodeLock(tree: Tree): Promise<boolean> {
  for (const name of NODE_LOCKS) if (await tree.hasFile(name)) return true
  return false
}

async function entryOf(tree: Tree): Promise<string | null> {
  for (const file of ENTRY_FILES) if (await tree.hasFile(file)) return file
  return null
}

/** Fetches what the configuration and its lock file name before the code is copied; what it cannot find comes with that. */
async function earlySteps(tree: Tree, settings: PlanSettings, { needsWhole }: Place): Promise<string[]> {
  if (needsWhole || !(await tree.hasFile(LOCK))) return []
  const files: string[] = []
  for (const name of [...CONFIGURATIONS, LOCK, 'package.json']) if (await tree.hasFile(name)) files.push(name)
  if (files.length < 2) return []
  return [
    `COPY ${files.map((name) => `source/${name}`).join(' ')} ./`,
    step(`deno install --frozen || ${UNFINISHED}`, settings),
  ]
}

/** The configuration of a workspace is above its members (docs.deno.com, "Workspaces"). */
const REACH: Reach = {
  manifests: Object.fromEntries(CONFIGURATIONS.map((name) => [name, EVERY_LINE])),
  above: CONFIGURATIONS,
  isFor: (text, below) =>
    text.includes('"workspace"') && [below, `${posix.dirname(below)}/*`].some((each) => text.includes(each)),
}
