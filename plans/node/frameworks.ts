import { withoutSlashComments } from '../source/comments.ts'
import type { Tree } from '../source/tree.ts'
import type { Manifest } from './manifest.ts'

/** How a web framework builds and starts, by its own documentation. */
export interface Framework {
  /** One lower-case word. */
  name: string
  /** The packages that identify it, in order of preference. */
  packages: string[]
  /** The build command where package.json has no script for it. */
  build: string | null
  /** The script with which a project fetches what its build needs; null for none. */
  fetching: string | null
  /** The build command for a static site, where the usual build makes a server. */
  siteBuild: string | null
  /** The command that starts the built server; null where the build makes a site. */
  start: string | null
  /** The package with the program of `start`, where the project does not name it. */
  program: string | null
  /** The folder with all that `start` needs, including its packages; null for none. */
  output: string | null
  /** The output folder of a site; null when it is not known. */
  publishDirectory: string | null
  /** Whether it routes in the browser: index.html answers paths without a file. */
  singlePage: boolean
  /** Folders that speed up the next build. */
  caches: string[]
  /** Whether it may be a leftover of a template or tool: a server of the project next to it is what runs then. */
  isLeftBehind: boolean
  /** Variables of the build. */
  environment: Record<string, string>
  /** Why its output cannot be run or served, and what to change; null when it can. */
  obstacle: string | null
}

/** What is known about a project when its framework is examined. */
export interface Project {
  tree: Tree
  manifest: Manifest
  /** The texts of the framework's configuration files, joined. */
  configuration: string
  notes: string[]
}

/** A row of the table of frameworks. */
export interface KnownFramework extends Framework {
  configuration: string[]
  /**
   * The file that an application starts with, such as index.html. A project without it, and without a setting or a script,
   * has the package for another purpose. Null where there is no such file.
   */
  page: string | null
  /** Folders of which every project has at least one, or else a script "build"; none where there is no such sign. */
  folders: string[]
  /** Applies the settings of a project; null where the package has another purpose in it. */
  refine?(project: Project): Partial<Framework> | null | Promise<Partial<Framework>>
}

/** Returns the names of a configuration file in every language in which it may be written. */
export function variants(name: string): string[] {
  return ['js', 'mjs', 'ts', 'mts', 'cjs', 'cts'].map((ending) => `${name}.${ending}`)
}

/** Returns the texts of those files that exist, joined, without comments. */
export async function readConfiguration(tree: Tree, names: readonly string[]): Promise<string> {
  const texts = await Promise.all(names.map((name) => tree.readText(name)))
  return texts
    .filter((text) => text !== null)
    .map(withoutSlashComments)
    .join('\n')
}

const NOTHING: Omit<KnownFramework, 'name' | 'packages'> = {
  build: null,
  fetching: null,
  siteBuild: null,
  start: null,
  program: null,
  output: null,
  publishDirectory: null,
  singlePage: false,
  caches: [],
  isLeftBehind: false,
  environment: {},
  obstacle: null,
  configuration: [],
  page: null,
  folders: [],
}

/** A framework whose build is a server. */
export function server(
  name: string,
  packages: string[],
  build: string | null,
  start: string,
  more: Partial<KnownFramework> = {},
): KnownFramework {
  return { ...NOTHING, name, packages, build, start, ...more }
}

/** A framework whose build is a site. */
export function site(
  name: string,
  packages: string[],
  build: string | null,
  publishDirectory: string | null,
  more: Partial<KnownFramework> = {},
): KnownFramework {
  return { ...NOTHING, name, packages, build, publishDirectory, ...more }
}

/** Returns the quoted value of a configuration key: `outDir: 'public'`; null when it is missing or computed. */
export function settingOf(configuration: string, pattern: RegExp): string | null {
  return pattern.exec(configuration)?.[1] ?? null
}

/** Returns a folder inside the project that a setting names; null for one outside, which cannot be published. */
export function folderOf(path: string | null, otherwise: string | null): string | null {
  if (path === null) return otherwise
  const folder = path.replace(/^(?:\.\/)+/, '').replace(/\/$/, '')
  return folder === '' || folder.startsWith('/') || folder.split('/').includes('..') ? null : folder
}

/** Whether a range begins with one of these major versions: `^2.17.0` begins with 2. */
export function isOfMajor(range: string | undefined, ...majors: string[]): boolean {
  return majors.includes(/^[~^=v>]*(\d+)/.exec(range ?? '')?.[1] ?? '')
}
