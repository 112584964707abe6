import type { Tree } from '../../sources/tree.ts'

/** What a service says about its build. */
export interface PlanSettings {
  /** Replaces the plan's own build command. */
  buildCommand: string | null
  /** Replaces the plan's own start command. */
  startCommand: string | null
  /** Stands before the names of base images, such as `mirror.example.com/hub`. */
  baseImageRegistry: string | null
  /** Variables that the build may read; each is mounted as the secret of its name. */
  secretNames: string[]
  /**
   * Changes when a value of `secretNames` does, and tells nothing of the values: the engine's cache does not look at
   * secrets, so a build command would not run again for a new value.
   */
  secretsDigest?: string | null
  /** What the image is for: which line of a Procfile is meant, and whether a program runs at all. */
  processType?: 'web' | 'worker' | 'job' | 'static'
}

/** An image that a plan makes. */
export interface PlannedBuild {
  /** For a context with the tree below `source/` and the script `build-step` at its root. */
  dockerfile: string
  startCommand: string
  /** Where a site's files end up, relative to the image's working directory; null when that is not known. */
  publishDirectory: string | null
  /** Patterns in the form of `.dockerignore` for what the build makes anew. */
  ignore: string[]
  /** Lines for the build's log: what was chosen, and why. */
  notes: string[]
}

/** How the trees of one language become images. */
export interface LanguagePlan {
  /** The runtime's name. */
  name: string
  /** What makes a tree one of this language, for the message to one whose tree is not. */
  lookedFor: string
  detect(tree: Tree): Promise<boolean>
  /** Throws BuildFailure that says what the tree lacks. */
  plan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild>
}
