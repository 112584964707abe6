import type { Call } from '../reader/call.ts'
import type { BuildFile, SeparateFiles } from './context.ts'
import type { Place, Recipe, RecipeChoice } from './recipe.ts'

/** Generous: a few dozen small files are read, and the largest lock files take a second. */
const CHOICE_SECONDS = 60
/** Enough to match 500,000 files against the patterns of `.dockerignore` and to send the largest checkout through a pipe. */
const PACKING_CPU_SECONDS = 10 * 60

/** Finds out how to build a source, and how to run or serve the result. */
export const CHOOSE_RECIPE: Call<{ place: Place; choice: RecipeChoice }, Recipe> = {
  name: 'choose-recipe',
  doing: 'finding out how to build the source',
  limits: { cpuSeconds: CHOICE_SECONDS, seconds: 2 * CHOICE_SECONDS },
}

/** Reads the Dockerfile of a context that is to be sent without it; null for all others. */
export const READ_SEPARATE_FILES: Call<{ root: string; file: BuildFile }, SeparateFiles | null> = {
  name: 'read-separate-files',
  doing: 'reading the Dockerfile',
  limits: { cpuSeconds: CHOICE_SECONDS, seconds: 2 * CHOICE_SECONDS },
}

/** Writes the build context of a tree, a tar archive, to the output; returns notes for the build's log. */
export const PACK_CONTEXT: Call<{ root: string; file: BuildFile; isSeparate: boolean }, string[]> = {
  name: 'pack-context',
  doing: 'packing the source for the build',
  // The engine may read it slowly; the build's own time limit applies.
  limits: { cpuSeconds: PACKING_CPU_SECONDS, seconds: null },
}
