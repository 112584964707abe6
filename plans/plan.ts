import type { Tree } from './tree.ts'

/** What an image is for: which line of a Procfile is meant, and whether a program runs at all. */
export type ProcessType = 'web' | 'worker' | 'job' | 'static'

/** What a service says about its build. */
export interface PlanSettings {
  /** Replaces the plan's own build command. */
  buildCommand: string | null
  /** Replaces the plan's own start command. */
  startCommand: string | null
  /** What the service runs before a new version goes live; what it needs stays in the image. */
  preDeployCommand: string | null
  /** Debian packages for the build and the program, beside those of the tree's Aptfile. */
  aptPackages: string[]
  processType: ProcessType
  /** Stands before the names of base images, such as `mirror.example.com/hub`. */
  baseImageRegistry: string | null
  /** Goes into the names of cache mounts, which are a service's own; another scope finds them empty. */
  cacheScope: string
  /** Variables that the build may read; each is mounted as the secret of its name. */
  secretNames: string[]
  /**
   * Changes when a value of `secretNames` does, and tells nothing of the values: the engine's cache does not look at
   * secrets, so a build command would not run again for a new value.
   */
  secretsDigest: string | null
}

/** Of a service that says nothing. */
export const NO_SETTINGS: PlanSettings = {
  buildCommand: null,
  startCommand: null,
  preDeployCommand: null,
  aptPackages: [],
  processType: 'web',
  baseImageRegistry: null,
  cacheScope: '',
  secretNames: [],
  secretsDigest: null,
}

/** A source whose `root_dir` is the folder that a plan is asked for: a package of a workspace is built from the whole. */
export interface WholeSource {
  tree: Tree
  /** The folder in it, such as `apps/web`. */
  folder: string
}

/** A variable that a program wants. */
export interface PlannedVariable {
  key: string
  /** How its value is made when the service has none: 64 random bytes in hex, Laravel's 32 in Base64; null: the user knows it. */
  generate: 'hex' | 'laravel' | null
  /** For people: `Rails signs its cookies with it`. */
  why: string
}

/** What a plan found out of a tree; strings are null where there is none. All that a deploy does for one is told here. */
export interface PlanFacts {
  /** The language's, as the base image has it: `22`, `3.13`. */
  version: string | null
  /** One lower-case word: `next`, `django`. */
  framework: string | null
  packageManager: string | null
  installCommand: string | null
  /** The service's own, or the plan's. */
  buildCommand: string | null
  /** The service's own, or the plan's; null where nothing runs: for a site, and where `obstacle` says that none was found. */
  startCommand: string | null
  /** What runs once in a new image before it goes live, such as the line `release:` of a Procfile. */
  preDeployCommand: string | null
  /**
   * Where a site's files end up, relative to the image's working directory; null when that is not known. No obstacle of
   * the plan's: whoever asks knows the service's own folder, and refuses where there is none either.
   */
  publishDirectory: string | null
  /**
   * What the build makes are files for browsers, which the data plane serves: always so for the process type `static`,
   * for `web` where neither the service nor the tree names a program to start.
   */
  isSite: boolean
  /** The site routes in the browser: its index.html answers paths that have no file. */
  singlePage: boolean
  /** It asks a service of others for its work, as bots do, and listens on no port. */
  isWorker: boolean
  /** The only port that the program can listen on, whatever `PORT` says. */
  port: number | null
  healthCheckPath: string | null
  env: PlannedVariable[]
  /** All that are installed: the service's, and the Aptfile's. */
  aptPackages: string[]
  /** Lines for the build's log: what was chosen, and why. */
  notes: string[]
  /** Why this cannot go live as it is, and what to set; null when it can. Facts are told all the same, and nothing is built. */
  obstacle: string | null
  /** `obstacle` tells why the program that was found cannot be started, rather than that none was found. */
  isRefused: boolean
  /** The folders of the tree that could be its `root_dir`, where `obstacle` asks for one. */
  rootDirectories: string[]
}

/** What a plan starts from that knows nothing yet. */
export const NOTHING_KNOWN: PlanFacts = {
  version: null,
  framework: null,
  packageManager: null,
  installCommand: null,
  buildCommand: null,
  startCommand: null,
  preDeployCommand: null,
  publishDirectory: null,
  isSite: false,
  singlePage: false,
  isWorker: false,
  port: null,
  healthCheckPath: null,
  env: [],
  aptPackages: [],
  notes: [],
  obstacle: null,
  isRefused: false,
  rootDirectories: [],
}

/** An image that a plan makes. */
export interface PlannedBuild extends PlanFacts {
  /** For a context with the tree below `source/`, the script `build-step` at its root and `manifests` below `manifests/`. */
  dockerfile: string
  /** Manifests by their paths, without what no installation looks at: a change of the code leaves them as they are. */
  manifests: Record<string, string>
  /** The context's `source/` is the whole source, of which the tree is one folder. */
  needsWhole: boolean
  /** Patterns in the form of `.dockerignore` for what the build makes anew. */
  ignore: string[]
}

/** How the trees of one language become images. */
export interface LanguagePlan {
  /** The runtime's name. */
  name: string
  /** What makes a tree one of this language, for the message to one whose tree is not. */
  lookedFor: string
  detect(tree: Tree): Promise<boolean>
  /** Whether a tree that it detects is rather that of a later plan which detects it as well; it never is without this. */
  yields?(tree: Tree, settings: Pick<PlanSettings, 'buildCommand'>): Promise<boolean>
  /** Whether it builds another folder than the tree's own, or by another tool than the package's; it does not without this. */
  buildsElsewhere?(tree: Tree, settings: PlanSettings, whole: WholeSource | null): Promise<boolean>
  /**
   * Throws BuildFailure for files that cannot be read as what they are, naming the file. `whole` is null where the tree
   * is all of the source.
   */
  plan(tree: Tree, settings: PlanSettings, whole: WholeSource | null): Promise<PlannedBuild>
}
