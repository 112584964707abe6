import { Tree } from '../../sources/tree.ts'
import { contents } from '../contents.ts'
import { BuildFailure } from '../failure.ts'
import { appVariables } from './app-json.ts'
import { seemsBot } from './bots.ts'
import { cpp } from './cpp.ts'
import { deno } from './deno.ts'
import { dotnet } from './dotnet.ts'
import { elixir } from './elixir.ts'
import { books, generators } from './generators.ts'
import { gleam } from './gleam.ts'
import { go } from './go.ts'
import { readHosted } from './hosts/hosted.ts'
import { clojure } from './java/clojure.ts'
import { java } from './java/plan.ts'
import { scala } from './java/scala.ts'
import { hasStartScript } from './node/manifest.ts'
import { bun, node } from './node/plan.ts'
import { php } from './php/plan.ts'
import { lackingIn } from './lacking.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from './plan.ts'
import { releaseCommand } from './procfile.ts'
import { python } from './python/plan.ts'
import { ruby } from './ruby/plan.ts'
import { rust } from './rust.ts'
import { shell } from './shell.ts'
import { withVariables } from './steps.ts'

/** In the order in which `auto` asks them: a tree of another language often has a package.json for its assets. */
const PLANS: LanguagePlan[] = [
  go,
  elixir,
  gleam,
  scala,
  java,
  clojure,
  dotnet,
  ruby,
  php,
  rust,
  deno,
  bun,
  python,
  generators,
  node,
  cpp,
  shell,
  books,
]

/** A plan that fits a tree, with the name of its language. */
export interface ChosenPlan extends PlannedBuild {
  name: string
}

/**
 * The plan of a runtime, or with `auto` the first that fits; null when none does. Throws BuildFailure for a runtime that
 * there is no plan for, or whose plan does not fit the tree.
 */
export async function findPlan(runtime: string, tree: Tree): Promise<LanguagePlan | null> {
  if (runtime !== 'auto') return await named(runtime, tree)
  for (const plan of PLANS) {
    if (await plan.detect(tree)) return plan
  }
  return null
}

/** Makes a plan for the tree that it fits. Throws BuildFailure as the plan does. */
export async function makePlan(
  plan: LanguagePlan,
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<ChosenPlan> {
  const hosted = await readHosted(tree, settings, async () => ({
    language: plan.name,
    own: await plan.plan(tree, settings, whole),
    isElsewhere: (await plan.buildsElsewhere?.(tree, settings, whole)) ?? false,
  }))
  const planned = await plan.plan(tree, hosted.settings, whole)
  const preDeployCommand = planned.preDeployCommand ?? hosted.preDeployCommand ?? (await releaseCommand(tree))
  const all = [...planned.env, ...(await appVariables(tree)), ...hosted.env]
  const env = all.filter(({ key }, index) => all.findIndex((each) => each.key === key) === index)
  // A job says itself what it runs, wherever it lies.
  const isProgram = settings.processType !== 'job' && OF_TOOLS.has(plan.name)
  const isOfTools = planned.obstacle !== null && planned.startCommand === null && isProgram
  return {
    ...planned,
    ...(isOfTools ? await withFolders(planned.obstacle!, planned.rootDirectories, tree) : {}),
    name: plan.name,
    isWorker: planned.isWorker || (planned.framework === null && !planned.isSite && (await seemsBot(tree))),
    preDeployCommand,
    healthCheckPath: hosted.healthCheckPath ?? planned.healthCheckPath,
    port: planned.port ?? hosted.port,
    dockerfile: withVariables(planned.dockerfile, hosted.variables),
    env,
    notes: [...planned.notes, ...hosted.notes],
  }
}

/** Languages whose manifest in the root is often that of tools for what lies in its folders. */
const OF_TOOLS = new Set(['node', 'bun', 'python', 'php', 'ruby'])

/** What stands in a program's way may be that it lies in a folder, and the root has the tools of all. */
async function withFolders(
  obstacle: string,
  known: string[],
  tree: Tree,
): Promise<Pick<PlannedBuild, 'obstacle' | 'rootDirectories'>> {
  const below = known.length > 0 ? [] : await programsBelow(tree)
  if (below.length === 0) return { obstacle, rootDirectories: known }
  return {
    obstacle: `${obstacle}; or set root_dir to one of ${toldOf(below)}`,
    rootDirectories: below.map(({ folder }) => folder),
  }
}

/** Finds the plan for the tree in `directory` and makes it. Throws BuildFailure, also where none fits. */
export async function choosePlan(
  runtime: string,
  directory: string,
  settings: PlanSettings,
  whole: WholeSource | null = null,
): Promise<ChosenPlan> {
  const tree = new Tree(directory)
  const plan = await findPlan(runtime, tree)
  if (plan === null) throw new BuildFailure((await nothingFits(tree)).obstacle)
  return await makePlan(plan, tree, settings, whole)
}

async function named(runtime: string, tree: Tree): Promise<LanguagePlan> {
  const [plan, ...others] = PLANS.filter(({ name }) => name === runtime)
  if (!plan) {
    const names = [...new Set(PLANS.map(({ name }) => name))].join(', ')
    throw new BuildFailure(
      `there is no plan for the runtime ${runtime}: set runtime to one of ${names}, or add a Dockerfile`,
    )
  }
  for (const each of [plan, ...others]) if (await each.detect(tree)) return each
  throw new BuildFailure(
    `the runtime is ${runtime}, but there is no ${plan.lookedFor} in ${await contents(tree)}: add it, or set root_dir or runtime`,
  )
}

/** What was looked for in a tree that no plan fits, and what to do; with the folders that one fits. */
export async function nothingFits(tree: Tree): Promise<{ obstacle: string; rootDirectories: string[] }> {
  const below = await programsBelow(tree)
  const rootDirectories = below.map(({ folder }) => folder)
  if (below.length > 0) {
    const obstacle = `there is nothing to build in ${await contents(tree)}, but in folders of it: set root_dir to one of ${toldOf(below)}`
    return { obstacle, rootDirectories }
  }
  const lacking = await lackingIn(tree)
  if (lacking !== null) {
    const obstacle = `no way to build this source was found in ${await contents(tree)}: ${lacking}, or set root_dir to the folder that has it`
    return { obstacle, rootDirectories }
  }
  const wanted = PLANS.map(({ name, lookedFor }) => `${lookedFor} (${name})`).join(', ')
  const obstacle = `no way to build this source was found: there is no Dockerfile, ${wanted} in ${await contents(tree)}: add one, or set root_dir to the folder that has it`
  return { obstacle, rootDirectories }
}

/** Folders that are looked into, and as many as a person would choose from. */
const MAX_FOLDERS = 40
const MAX_CHOICES = 10

/** Folders that hold nothing but programs' own, by habit; and those that hold libraries as well. */
const OF_PROGRAMS = new Set(['apps', 'services', 'projects'])
const OF_LIBRARIES = new Set(['packages', 'libs'])

function isOfMany(name: string): boolean {
  return OF_PROGRAMS.has(name) || OF_LIBRARIES.has(name)
}

/** Folders of others' packages, which are nobody's programs. */
const OF_OTHERS = new Set(['node_modules', 'vendor'])

/** Folders that go with a program, and are offered where there is nothing else. */
const BESIDE = /(?:^|\/)(?:docs?|tests?|e2e|examples?|samples?)$/

/** A folder that can be built, with what by. */
interface Below {
  folder: string
  runtime: string
}

/** As a person reads it: `backend (python), frontend (node)`. */
function toldOf(below: readonly Below[]): string {
  return below.map(({ folder, runtime }) => `${folder} (${runtime})`).join(', ')
}

/**
 * The folders right below the root that can be built, those below a folder for programs, and those a level below that lie
 * beside them, in folders that are none themselves; else any a level below.
 */
async function programsBelow(tree: Tree): Promise<Below[]> {
  const first = await foldersIn(tree, '.')
  const second = await Promise.all(
    first.slice(0, MAX_FOLDERS).map(async (name) => [name, await foldersIn(tree, name)] as const),
  )
  const inside = (names: readonly (readonly [string, string[]])[]): string[] =>
    names.flatMap(([name, folders]) => folders.map((each) => `${name}/${each}`))
  const among = (isOf: (name: string) => boolean): string[] => inside(second.filter(([name]) => isOf(name)))
  const usual = [
    ...among((name) => OF_PROGRAMS.has(name)),
    ...first,
    ...among((name) => OF_LIBRARIES.has(name)),
  ]
  for (const folders of [usual.filter((each) => !BESIDE.test(each)), usual]) {
    const found = await buildable(tree, folders)
    if (found.length === 0) continue
    const names = new Set(found.map(({ folder }) => folder))
    const isPlain = (name: string): boolean => !names.has(name) && !BESIDE.test(name) && !isOfMany(name)
    const beside = among(isPlain).filter((each) => !BESIDE.test(each))
    return [...found, ...(await buildable(tree, beside))].slice(0, MAX_CHOICES)
  }
  return await buildable(tree, inside(second))
}

async function buildable(tree: Tree, folders: readonly string[]): Promise<Below[]> {
  const found: Below[] = []
  for (const folder of folders.slice(0, MAX_FOLDERS)) {
    const below = tree.folder(folder)
    const runtime = (await below.hasFile('Dockerfile')) ? 'docker' : await runtimeOf(below)
    const isLibrary =
      folder.includes('/') &&
      OF_LIBRARIES.has(folder.split('/', 1)[0]!) &&
      runtime === 'node' &&
      !(await hasStartScript(below))
    if (runtime !== null && !isLibrary) found.push({ folder, runtime })
    if (found.length === MAX_CHOICES) break
  }
  return found
}

async function foldersIn(tree: Tree, path: string): Promise<string[]> {
  const names = await tree.list(path)
  const folders = names.flatMap((name) =>
    name.endsWith('/') && !name.startsWith('.') ? [name.slice(0, -1)] : [],
  )
  return folders.filter((name) => !OF_OTHERS.has(name))
}

async function runtimeOf(tree: Tree): Promise<string | null> {
  try {
    return (await findPlan('auto', tree))?.name ?? ((await tree.hasFile('index.html')) ? 'static' : null)
  } catch (error) {
    // A file of it that cannot be read is no reason against the folder that is asked for.
    if (error instanceof BuildFailure) return null
    throw error
  }
}
