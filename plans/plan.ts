import type { Tree } from './source/tree.ts'

/** What an image is for: which line of a Procfile is meant, and whether a program runs at all. */
export type ProcessType = 'web' | 'worker' | 'job' | 'static'

/** The settings of a service that concern its build. */
export interface PlanSettings {
  /** Replaces the plan's own build command. */
  buildCommand: string | null
  /** Replaces the plan's own start command. */
  startCommand: string | null
  /** What the service runs before a new version goes live; what it needs stays in the image. */
  preDeployCommand: string | null
  /** Debian packages for the build and the program, in addition to those of the tree's Aptfile. */
  aptPackages: string[]
  processType: ProcessType
  /** Prefix for the names of base images, such as `mirror.example.com/hub`. */
  baseImageRegistry: string | null
  /** Part of the names of cache mounts, which belong to one service; another scope finds them empty. */
  cacheScope: string
  /** Variables that the build may read; each is mounted as a secret of its name. */
  secretNames: string[]
  /** Files that the build may read; each is a secret of its name, and mounted under that name in /etc/secrets. */
  secretFiles: string[]
  /**
   * Changes with the values of these secrets and reveals nothing of them. The engine's cache ignores secrets, so without it
   * a build command would not run again for a new value.
   */
  secretsDigest: string | null
}

/** The settings of a service that has none. */
export const NO_SETTINGS: PlanSettings = {
  buildCommand: null,
  startCommand: null,
  preDeployCommand: null,
  aptPackages: [],
  processType: 'web',
  baseImageRegistry: null,
  cacheScope: '',
  secretNames: [],
  secretFiles: [],
  secretsDigest: null,
}

/** A source of which `root_dir` is one folder: a package of a workspace is built from the whole source. */
export interface WholeSource {
  tree: Tree
  /** The folder in the source, such as `apps/web`. */
  folder: string
}

/** A variable that a program needs. */
export interface PlannedVariable {
  key: string
  /**
   * How the value is generated when the service has none: 64 random bytes in hex, or Laravel's 32 in Base64; null where only
   * the user knows it.
   */
  generate: 'hex' | 'laravel' | null
  /** The reason, for people: `Rails signs its cookies with it`. */
  why: string
}

/** What a plan found out about a tree, which is all that a deploy does for it; strings are null where there is no value. */
export interface PlanFacts {
  /** The version of the language, as the base image names it: `22`, `3.13`. */
  version: string | null
  /** One lower-case word: `next`, `django`. */
  framework: string | null
  packageManager: string | null
  installCommand: string | null
  /** The service's own, or the plan's. */
  buildCommand: string | null
  /**
   * The service's own, or the plan's; null where nothing runs: for a site, and where `obstacle` says that no command was
   * found.
   */
  startCommand: string | null
  /** What runs once in a new image before it goes live, such as the `release:` line of a Procfile. */
  preDeployCommand: string | null
  /**
   * The output folder of a site, relative to the image's working directory; null when it is not known. That is not an
   * obstacle for the plan: the caller knows the service's own folder, and refuses if there is none either.
   */
  publishDirectory: string | null
  /**
   * Whether the build makes files for browsers, which the data plane serves: always for the process type `static`, and for
   * `web` where neither the service nor the tree names a program to start.
   */
  isSite: boolean
  /** Whether the site routes in the browser: its index.html answers paths that have no file. */
  singlePage: boolean
  /** Whether the program opens its connections itself, as bots do, and listens on no port. */
  isWorker: boolean
  /** The only port on which the program can listen, whatever `PORT` says. */
  port: number | null
  healthCheckPath: string | null
  env: PlannedVariable[]
  /** All Debian packages that are installed: the service's and the Aptfile's. */
  aptPackages: string[]
  /** Lines for the build's log: what was chosen, and why. */
  notes: string[]
  /**
   * Why this cannot go live as it is, and what to set; null when it can. The facts are given all the same, and nothing is
   * built.
   */
  obstacle: string | null
  /** Whether `obstacle` says that the program that was found cannot be started, rather than that none was found. */
  isRefused: boolean
  /** The folders of the tree that could be the `root_dir`, where `obstacle` asks for one. */
  rootDirectories: string[]
}

/** The facts of a plan that knows nothing yet. */
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

/** The build of an image by a plan. */
export interface PlannedBuild extends PlanFacts {
  /**
   * For a context with the tree below `source/`, the script `build-step` at its root, and `manifests` below `manifests/`.
   */
  dockerfile: string
  /** Manifests by path, reduced to what an installation reads, so that a change of the code leaves them unchanged. */
  manifests: Record<string, string>
  /** The `source/` of the context is the whole source, of which the tree is one folder. */
  needsWhole: boolean
  /** Patterns in the form of `.dockerignore` for files that the build creates again. */
  ignore: string[]
}

/** Plans the images for trees of one language. */
export interface LanguagePlan {
  /** The runtime's name. */
  name: string
  /** What identifies a tree of this language, for the error about a tree that lacks it. */
  lookedFor: string
  detect(tree: Tree): Promise<boolean>
  /** Whether a tree that it detects rather belongs to a later plan that detects it as well; never, if absent. */
  yields?(tree: Tree, settings: Pick<PlanSettings, 'buildCommand'>): Promise<boolean>
  /** Whether it builds another folder than the tree's own, or with another tool than the package's; never, if absent. */
  buildsElsewhere?(tree: Tree, settings: PlanSettings, whole: WholeSource | null): Promise<boolean>
  /**
   * Throws BuildFailure for files that cannot be read as what they are, naming the file. `whole` is null where the tree is
   * the whole source.
   */
  plan(tree: Tree, settings: PlanSettings, whole: WholeSource | null): Promise<PlannedBuild>
}
