import { programsBelow, listFolders } from './subfolders.ts'
import { cpp } from './cpp.ts'
import { deno } from './deno.ts'
import { dotnet } from './dotnet.ts'
import { elixir } from './elixir.ts'
import { books, generators } from './generators.ts'
import { gleam } from './gleam.ts'
import { go } from './go/plan.ts'
import { clojure } from './java/clojure.ts'
import { java } from './java/plan.ts'
import { scala } from './java/scala.ts'
import { hasNoProgram, missingIn, unplannedIn } from './explain-no-plan.ts'
import { bun, node } from './node/plan.ts'
import { php } from './php/plan.ts'
import { NO_SETTINGS, type LanguagePlan, type PlanSettings } from './plan.ts'
import { python } from './python/plan.ts'
import { ruby } from './ruby/plan.ts'
import { rust } from './rust/plan.ts'
import { shell } from './shell.ts'
import { BuildFailure } from './source/failure.ts'
import type { Tree } from './source/tree.ts'

/**
 * The order in which `auto` asks: a tree of another language often has a package.json for its assets, so node comes late.
 */
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

/**
 * Returns the plan of a runtime, or for `auto` the first that fits; null when none does. Throws BuildFailure for a runtime
 * without a plan, or whose plan does not fit the tree.
 */
export async function detectLanguage(
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
    `the runtime is ${runtime}, but there is no ${plan.lookedFor} in ${await tree.describe()}: add it, or set root_dir or runtime`,
  )
}

/** Explains that no plan fits a tree: what was looked for, what to do, and the folders that a plan fits. */
export async function explainNoPlan(tree: Tree): Promise<{ obstacle: string; rootDirectories: string[] }> {
  const below = await programsBelow(tree, runtimeOf)
  const rootDirectories = below.map(({ folder }) => folder)
  if (below.length > 0) {
    const unplanned = await unplannedIn(tree)
    const nothing =
      unplanned === null
        ? `there is nothing to build in ${await tree.describe()}, but in folders of it:`
        : `${unplanned.advice}, or for what lies in its folders`
    return { obstacle: `${nothing} set root_dir to one of ${listFolders(below)}`, rootDirectories }
  }
  const missing = await missingIn(tree)
  if (missing !== null) {
    const obstacle = `no way to build this source was found in ${await tree.describe()}: ${missing}, or set root_dir to the folder that has it`
    return { obstacle, rootDirectories }
  }
  if (await hasNoProgram(tree)) {
    const obstacle = `no way to build this source was found: there is no program in ${await tree.describe()}: push one, name the branch that has it, or set root_dir to its folder`
    return { obstacle, rootDirectories }
  }
  const wanted = PLANS.map(({ name, lookedFor }) => `${lookedFor} (${name})`).join(', ')
  const obstacle = `no way to build this source was found: there is no Dockerfile, ${wanted} in ${await tree.describe()}: add one, or set root_dir to the folder that has it`
  return { obstacle, rootDirectories }
}

/** Returns the runtime that a tree has by its files alone; null where nothing builds it. */
export async function runtimeOf(tree: Tree): Promise<string | null> {
  try {
    return (
      (await detectLanguage('auto', tree, NO_SETTINGS))?.name ??
      ((await tree.hasFile('index.html')) ? 'static' : null)
    )
  } catch (error) {
    // A file that cannot be read does not rule out the folder that the user asks for.
    if (error instanceof BuildFailure) return null
    throw error
  }
}
