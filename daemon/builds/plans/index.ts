import { Tree } from '../../sources/tree.ts'
import { contents } from '../contents.ts'
import { BuildFailure } from '../failure.ts'
import { appVariables } from './app-json.ts'
import { cpp } from './cpp.ts'
import { deno } from './deno.ts'
import { dotnet } from './dotnet.ts'
import { elixir } from './elixir.ts'
import { generators } from './generators.ts'
import { gleam } from './gleam.ts'
import { go } from './go.ts'
import { clojure } from './java/clojure.ts'
import { java } from './java/plan.ts'
import { scala } from './java/scala.ts'
import { bun, node } from './node/plan.ts'
import { php } from './php/plan.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from './plan.ts'
import { releaseCommand } from './procfile.ts'
import { python } from './python/plan.ts'
import { ruby } from './ruby/plan.ts'
import { rust } from './rust.ts'
import { shell } from './shell.ts'

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
  const planned = await plan.plan(tree, settings, whole)
  const preDeployCommand = planned.preDeployCommand ?? (await releaseCommand(tree))
  const named = new Set(planned.env.map(({ key }) => key))
  const further = (await appVariables(tree)).filter(({ key }) => !named.has(key))
  const { obstacle: found, startCommand } = planned
  const isOfTools = found !== null && startCommand === null && OF_TOOLS.has(plan.name)
  const obstacle = isOfTools ? await withFolders(found, tree) : found
  return { ...planned, name: plan.name, preDeployCommand, env: [...planned.env, ...further], obstacle }
}

/** Languages whose manifest in the root is often that of tools for what lies in its folders. */
const OF_TOOLS = new Set(['node', 'bun', 'python', 'php', 'ruby'])

/** What stands in a program's way may be that it lies in a folder, and the root has the tools of all. */
async function withFolders(obstacle: string, tree: Tree): Promise<string> {
  const below = obstacle.includes('root_dir') ? [] : await programsBelow(tree)
  return below.length === 0 ? obstacle : `${obstacle}; or set root_dir to one of ${below.join(', ')}`
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
  if (plan === null) throw new BuildFailure(await nothingFits(tree))
  return await makePlan(plan, tree, settings, whole)
}

async function named(runtime: string, tree: Tree): Promise<LanguagePlan> {
  const plan = PLANS.find(({ name }) => name === runtime)
  if (!plan) {
    const names = PLANS.map(({ name }) => name).join(', ')
    throw new BuildFailure(
      `there is no plan for the runtime ${runtime}: set runtime to one of ${names}, or add a Dockerfile`,
    )
  }
  if (await plan.detect(tree)) return plan
  throw new BuildFailure(
    `the runtime is ${runtime}, but there is no ${plan.lookedFor} in ${await contents(tree)}: add it, or set root_dir or runtime`,
  )
}

/** What was looked for in a tree that no plan fits, and what to do. */
export async function nothingFits(tree: Tree): Promise<string> {
  const below = await programsBelow(tree)
  if (below.length > 0) {
    return `there is nothing to build in ${await contents(tree)}, but in folders of it: set root_dir to one of ${below.join(', ')}`
  }
  const wanted = PLANS.map(({ name, lookedFor }) => `${lookedFor} (${name})`).join(', ')
  return `no way to build this source was found: there is no Dockerfile, ${wanted} in ${await contents(tree)}: add one, or set root_dir to the folder that has it`
}

/** Folders that are looked into, and as many as a person would choose from. */
const MAX_FOLDERS = 40
const MAX_CHOICES = 10

/** The folders right below the root that can be built, with what by: `backend (python)`. */
async function programsBelow(tree: Tree): Promise<string[]> {
  const folders = (await tree.list('.')).filter((name) => name.endsWith('/') && !name.startsWith('.'))
  const found: string[] = []
  for (const name of folders.slice(0, MAX_FOLDERS)) {
    const folder = tree.folder(name)
    const runtime = (await folder.hasFile('Dockerfile')) ? 'docker' : await runtimeOf(folder)
    if (runtime !== null) found.push(`${name.slice(0, -1)} (${runtime})`)
    if (found.length === MAX_CHOICES) break
  }
  return found
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
