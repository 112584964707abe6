import { Tree } from '../../sources/tree.ts'
import { contents } from '../contents.ts'
import { BuildFailure } from '../failure.ts'
import { appVariables } from './app-json.ts'
import { programsBelow, toldOf } from './below.ts'
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
import { hasNoProgram, lackingIn, misnamedIn, unplannedIn } from './lacking.ts'
import {
  NO_SETTINGS,
  type LanguagePlan,
  type PlannedBuild,
  type PlanSettings,
  type WholeSource,
} from './plan.ts'
import { releaseCommand } from './procfile.ts'
import { python } from './python/plan.ts'
import { registryVariables } from './registries.ts'
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
export async function findPlan(
  runtime: string,
  tree: Tree,
  settings: Pick<PlanSettings, 'buildCommand'>,
): Promise<LanguagePlan | null> {
  if (runtime !== 'auto') return await named(runtime, tree)
  let yielding: LanguagePlan | null = null
  for (const plan of PLANS) {
    if (!(await plan.detect(tree))) continue
    if (!(await plan.yields?.(tree, settings))) return plan
    yielding ??= plan
  }
  return yielding
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
  const all = [
    ...planned.env,
    ...(await appVariables(tree)),
    ...(await registryVariables(tree)),
    ...hosted.env,
  ]
  const env = all.filter(({ key }, index) => all.findIndex((each) => each.key === key) === index)
  // A job says itself what it runs, wherever it lies.
  const isProgram = settings.processType !== 'job' && OF_TOOLS.has(plan.name)
  const unplanned = OF_ASSETS.has(plan.name) ? await unplannedProgram(planned, settings, tree) : null
  const obstacle = unplanned ?? planned.obstacle
  const isOfTools = obstacle !== null && (planned.startCommand === null || unplanned !== null) && isProgram
  return {
    ...planned,
    ...(isOfTools ? await withFolders(obstacle, planned.rootDirectories, tree) : {}),
    name: plan.name,
    isWorker: planned.isWorker || (planned.framework === null && !planned.isSite && (await seemsBot(tree))),
    preDeployCommand,
    healthCheckPath: hosted.healthCheckPath ?? planned.healthCheckPath,
    port: planned.port ?? hosted.port,
    dockerfile: withVariables(planned.dockerfile, hosted.variables),
    env,
    notes: [...planned.notes, ...hosted.notes, ...(await misnamedIn(tree))],
  }
}

/** Languages whose manifest lies beside programs of any other for their assets. */
const OF_ASSETS = new Set(['node', 'bun'])

/** A program that a build of another language leaves in the tree, or the tool of one. */
const OF_UNPLANNED =
  /^(?:exec )?(?:\.\/(?!\S*\.sh\b)|bin\/|(?:dart|swift|crystal|Rscript|R|perl|plackup|stack|zig)\s)/
const NAMES_NODE = /\b(?:node|npm|npx|pnpm|yarn|bunx?|tsx|pm2)\b|\.[cm]?[jt]s\b|node_modules/

/** What a package.json that starts nothing itself lies beside, where no plan is for that. */
async function unplannedProgram(
  { framework, isSite, startCommand }: PlannedBuild,
  settings: PlanSettings,
  tree: Tree,
): Promise<string | null> {
  const isOwn =
    settings.startCommand !== null ||
    (startCommand !== null && (!OF_UNPLANNED.test(startCommand) || NAMES_NODE.test(startCommand)))
  if (isOwn || framework !== null || isSite || (await hasStartScript(tree))) return null
  const unplanned = await unplannedIn(tree)
  return unplanned === null ? null : `${unplanned.advice}, or a script "start", or set start_command`
}

/** Languages whose manifest in the root is often that of tools for what lies in its folders. */
const OF_TOOLS = new Set(['node', 'bun', 'python', 'php', 'ruby'])

/** What stands in a program's way may be that it lies in a folder, and the root has the tools of all. */
async function withFolders(
  obstacle: string,
  known: string[],
  tree: Tree,
): Promise<Pick<PlannedBuild, 'obstacle' | 'rootDirectories'>> {
  const below = known.length > 0 ? [] : await programsBelow(tree, runtimeOf)
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
  const plan = await findPlan(runtime, tree, settings)
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
  const below = await programsBelow(tree, runtimeOf)
  const rootDirectories = below.map(({ folder }) => folder)
  if (below.length > 0) {
    const unplanned = await unplannedIn(tree)
    const nothing =
      unplanned === null
        ? `there is nothing to build in ${await contents(tree)}, but in folders of it:`
        : `${unplanned.advice}, or for what lies in its folders`
    return { obstacle: `${nothing} set root_dir to one of ${toldOf(below)}`, rootDirectories }
  }
  const lacking = await lackingIn(tree)
  if (lacking !== null) {
    const obstacle = `no way to build this source was found in ${await contents(tree)}: ${lacking}, or set root_dir to the folder that has it`
    return { obstacle, rootDirectories }
  }
  if (await hasNoProgram(tree)) {
    const obstacle = `no way to build this source was found: there is no program in ${await contents(tree)}: push one, name the branch that has it, or set root_dir to its folder`
    return { obstacle, rootDirectories }
  }
  const wanted = PLANS.map(({ name, lookedFor }) => `${lookedFor} (${name})`).join(', ')
  const obstacle = `no way to build this source was found: there is no Dockerfile, ${wanted} in ${await contents(tree)}: add one, or set root_dir to the folder that has it`
  return { obstacle, rootDirectories }
}

async function runtimeOf(tree: Tree): Promise<string | null> {
  try {
    return (
      (await findPlan('auto', tree, NO_SETTINGS))?.name ??
      ((await tree.hasFile('index.html')) ? 'static' : null)
    )
  } catch (error) {
    // A file of it that cannot be read is no reason against the folder that is asked for.
    if (error instanceof BuildFailure) return null
    throw error
  }
}
