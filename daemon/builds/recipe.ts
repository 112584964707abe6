import type { ServiceType } from '#server/services/types.ts'
import type { PlanFacts, PlanSettings } from '#plans/index.ts'
import type { BuildFile } from './context.ts'

/** Where a source is, and which of its folders is meant. */
export interface Place {
  directory: string
  /** A folder in it, whose path has no links; empty for all of it. */
  folder: string
}

/** The settings that decide how a tree is built and run. */
export interface RecipeChoice {
  /** Null lets the files decide. */
  type: ServiceType | null
  runtime: string
  dockerfilePath: string | null
  /** What a static site publishes, relative to the tree. */
  publishDirectory: string | null
  settings: Omit<PlanSettings, 'processType'>
  /** The minor version of the engine's own Dockerfile frontend; absent if it is not known. */
  frontend?: number | undefined
}

/** How a tree is built, and how the result is run or served. */
export interface Recipe extends PlanFacts {
  type: ServiceType
  /** `docker`, `static` for files as they are, else the plan's; null when nothing was found. */
  runtime: string | null
  /** What the image is built with; null when nothing is built. */
  file: BuildFile | null
  /** Whether the build context is the whole source rather than its folder. */
  needsWhole: boolean
  /** The build's variables that the user's own Dockerfile declares with ARG; a plan declares none. */
  declaredArguments: string[]
  /** The images that its Dockerfile names, as far as they have no variables. */
  images: string[]
}
