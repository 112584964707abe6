import { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { bun } from './bun.ts'
import { deno } from './deno.ts'
import { elixir } from './elixir.ts'
import { go } from './go.ts'
import { java } from './java.ts'
import { node } from './node.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from './plan.ts'
import { php } from './php.ts'
import { releaseCommand } from './procfile.ts'
import { python } from './python.ts'
import { ruby } from './ruby.ts'
import { rust } from './rust.ts'

/** In the order in which `auto` asks them: a tree of another language often has a package.json for its assets. */
const PLANS: LanguagePlan[] = [go, elixir, java, ruby, php, rust, deno, bun, python, node]

/** A plan that fits a tree, with the name of its language. */
export interface ChosenPlan extends PlannedBuild {
  name: string
}

/**
 * Chooses the plan of a runtime, or with `auto` the first that fits, and makes it for the tree in `directory`, which is
 * a folder of `whole` where that is given.
 * Throws BuildFailure that says what was looked for and what to add.
 */
export async function choosePlan(
  runtime: string,
  directory: string,
  settings: PlanSettings,
  whole: WholeSource | null = null,
): Promise<ChosenPlan> {
  const tree = new Tree(directory)
  const plan = runtime === 'auto' ? await firstFit(tree) : await named(runtime, tree)
  const planned = await plan.plan(tree, settings, whole)
  const preDeployCommand = planned.preDeployCommand ?? (await releaseCommand(tree))
  return { ...planned, name: plan.name, preDeployCommand }
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

async function firstFit(tree: Tree): Promise<LanguagePlan> {
  for (const plan of PLANS) {
    if (await plan.detect(tree)) return plan
  }
  const wanted = PLANS.map(({ name, lookedFor }) => `${lookedFor} (${name})`).join(', ')
  throw new BuildFailure(
    `no way to build this source was found: there is no Dockerfile, ${wanted} in ${await contents(tree)}: add one, or set root_dir to the folder that has it`,
  )
}

/** As many names as help to see that this is the wrong folder. */
const SHOWN_NAMES = 12

async function contents(tree: Tree): Promise<string> {
  const names = await tree.list('.')
  if (names.length === 0) return 'the empty folder'
  const more = names.length > SHOWN_NAMES ? ', ...' : ''
  return `the folder with ${names.slice(0, SHOWN_NAMES).join(', ')}${more}`
}
