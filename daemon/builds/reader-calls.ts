import type { Call } from '../reader/call.ts'
import type { BuildFile } from './context.ts'
import type { Place, Recipe, RecipeChoice } from './recipe.ts'

/** A few dozen small files are read; the largest lock files take a second. */
const CHOICE_SECONDS = 60
/** 500,000 files held against the patterns of `.dockerignore`, and as much as a checkout may weigh through a pipe. */
const PACKING_CPU_SECONDS = 10 * 60

/** Finds out how a source becomes what runs, or what is served. */
export const CHOOSE_RECIPE: Call<{ place: Place; choice: RecipeChoice }, Recipe> = {
  name: 'choose-recipe',
  doing: 'finding out how to build the source',
  limits: { cpuSeconds: CHOICE_SECONDS, seconds: 2 * CHOICE_SECONDS },
}

/** Writes the build context of a tree, a tar archive, to the output; answers what the build's log should say of it. */
export const PACK_CONTEXT: Call<{ root: string; file: BuildFile }, string[]> = {
  name: 'pack-context',
  doing: 'packing the source for the build',
  // The engine may take its time to read it; the build's own time limit holds.
  limits: { cpuSeconds: PACKING_CPU_SECONDS, seconds: null },
}
