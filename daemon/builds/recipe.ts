import type { ServiceType } from '#server/services/types.ts'
import type { PlanFacts, PlanSettings } from '#plans/index.ts'
import type { BuildFile } from './context.ts'

/** Where a source lies, and which of its folders is meant. */
export interface Place {
  directory: string
  /** A folder in it, without a link on the way; empty for all of it. */
  folder: string
}

/** What is said about how a tree becomes what runs. */
export interface RecipeChoice {
  /** Null lets the files say. */
  type: ServiceType | null
  runtime: string
  dockerfilePath: string | null
  /** What a static site publishes, relative to the tree. */
  publishDirectory: string | null
  settings: Omit<PlanSettings, 'processType'>
  /** The minor version of the engine's own Dockerfile frontend; absent where it is not known. */
  frontend?: number | undefined
}

/** How a tree becomes what runs, or what is served. */
export interface Recipe extends PlanFacts {
  type: ServiceType
  /** `docker`, `static` for files as they are, else the plan's; null when nothing was found. */
  runtime: string | null
  /** What the image is built by; null when nothing is built. */
  file: BuildFile | null
  /** The build context is the whole source rather than its folder. */
  needsWhole: boolean
  /** Those of the build's variables that the user's own Dockerfile declares with ARG; a plan declares none. */
  declaredArguments: string[]
}
