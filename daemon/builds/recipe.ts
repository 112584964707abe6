import { posix } from 'node:path'
import { Tree } from '../sources/tree.ts'
import { readContext, type BuildFile } from './context.ts'
import { readDockerfile } from './dockerfile.ts'
import { choosePlan } from './plans/index.ts'
import type { PlanSettings } from './plans/plan.ts'
import { linesOf } from './text.ts'

/** What a service says about how its tree becomes an image. */
export interface RecipeChoice {
  runtime: string
  dockerfilePath: string | null
  /** A site's Dockerfile is most often one that serves it; only one that is asked for builds it. */
  isSite: boolean
  settings: PlanSettings
}

/** How a tree becomes an image. */
export interface Recipe {
  file: BuildFile
  /** Those of the build's variables that the user's own Dockerfile declares with ARG; a plan declares none. */
  declaredArguments: string[]
  /** Where the plan knows that a site's files end up, relative to the image's working directory. */
  publishDirectory: string | null
  /** Lines for the build's log: what was chosen, and why. */
  notes: string[]
}

/** A note may repeat a command of the tree. */
const MAX_NOTE_CHARACTERS = 2_000

const DEFAULT_DOCKERFILE = 'Dockerfile'

/**
 * Chooses the recipe of the tree in `root`, by its files alone: `docker` takes the Dockerfile, a language its plan,
 * `auto` the Dockerfile when there is one, else the first plan that fits. Throws BuildFailure that says what was looked
 * for, or what of it cannot be used.
 */
export async function chooseRecipe({
  root,
  choice,
}: {
  root: string
  choice: RecipeChoice
}): Promise<Recipe> {
  const tree = new Tree(root)
  const recipe = (await dockerfileRecipe(tree, choice)) ?? (await planRecipe(root, choice))
  const { notes } = await readContext(tree, recipe.file)
  return { ...recipe, notes: [...recipe.notes, ...notes].map((note) => note.slice(0, MAX_NOTE_CHARACTERS)) }
}

async function dockerfileRecipe(tree: Tree, choice: RecipeChoice): Promise<Recipe | null> {
  const path = posix.normalize(choice.dockerfilePath ?? DEFAULT_DOCKERFILE)
  const isWanted = choice.runtime === 'docker' || choice.dockerfilePath !== null
  const isTaken = choice.runtime === 'auto' && !choice.isSite && (await tree.hasFile(path))
  if (!isWanted && !isTaken) return null
  const { content } = await readDockerfile(tree, path)
  return {
    file: { kind: 'tree', path },
    declaredArguments: declaredIn(content, choice.settings.secretNames),
    publishDirectory: null,
    notes: [`building with ${path}`],
  }
}

async function planRecipe(root: string, { runtime, settings }: RecipeChoice): Promise<Recipe> {
  const plan = await choosePlan(runtime, root, settings)
  return {
    file: { kind: 'plan', content: plan.dockerfile, ignore: plan.ignore, manifests: plan.manifests },
    declaredArguments: [],
    publishDirectory: plan.publishDirectory,
    notes: [`building with the plan for ${plan.name}`, ...plan.notes],
  }
}

/** Those of `names` that stand after an ARG instruction; more than one may stand on a line. */
function declaredIn(dockerfile: string, names: string[]): string[] {
  const declared = new Set<string>()
  for (const line of linesOf(dockerfile)) {
    const [instruction, ...words] = line.trim().split(/[ \t]+/)
    if (instruction?.toUpperCase() !== 'ARG') continue
    for (const word of words) declared.add(word.split('=', 1)[0]!)
  }
  return names.filter((name) => declared.has(name))
}
