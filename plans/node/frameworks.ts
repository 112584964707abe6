import { withoutSlashComments } from '../comments.ts'
import type { Tree } from '../tree.ts'
import type { Manifest } from './manifest.ts'

/** What a web framework's build leaves behind, by its own documentation. */
export interface Framework {
  /** One lower-case word. */
  name: string
  /** The package that tells of it; the first of several in the order of preference. */
  packages: string[]
  /** Builds it where package.json has no script for that. */
  build: string | null
  /** The script with which a project fetches what its build wants; null for none. */
  fetching: string | null
  /** Builds it as files alone, where the usual build makes a server. */
  siteBuild: string | null
  /** Starts the server that was built; null where the build makes files for browsers. */
  start: string | null
  /** The package that brings the program of `start`, where the project does not name it. */
  program: string | null
  /** The folder that holds all that `start` needs, its packages too; null for none. */
  output: string | null
  /** Where files for browsers end up; null when that is not known. */
  publishDirectory: string | null
  /** It routes in the browser: index.html answers paths without a file. */
  singlePage: boolean
  /** Folders that make the next build faster. */
  caches: string[]
  /** A template or a tool left it behind: a server of the project's own beside it is what runs. */
  isLeftBehind: boolean
  /** Variables of the build. */
  environment: Record<string, string>
  /** Why what it builds cannot be run or served, and what to change; null when it can. */
  obstacle: string | null
}

/** What is known of a project when its framework is looked at closer. */
export interface Project {
  tree: Tree
  manifest: Manifest
  /** The texts of the framework's files of configuration, one after another. */
  configuration: string
  notes: string[]
}

/** A row of the table. */
export interface KnownFramework extends Framework {
  configuration: string[]
  /** What it begins with, without which, and without a setting or a script, its package is there for something else; or null. */
  page: string | null
  /** Folders of which one is there in every project of it, or a script "build"; none for no such sign. */
  folders: string[]
  /** What a project's own settings change; null where the package stands for something else in it. */
  refine?(project: Project): Partial<Framework> | null | Promise<Partial<Framework>>
}

/** The names of a file of configuration in all the languages that it may be written in. */
export function variants(name: string): string[] {
  return ['js', 'mjs', 'ts', 'mts', 'cjs', 'cts'].map((ending) => `${name}.${ending}`)
}

/** The texts of those of the files that are there, one after another, without comments. */
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

/** A framework whose build is a program that serves. */
export function server(
  name: string,
  packages: string[],
  build: string | null,
  start: string,
  more: Partial<KnownFramework> = {},
): KnownFramework {
  return { ...NOTHING, name, packages, build, start, ...more }
}

/** A framework whose build is files for browsers. */
export function site(
  name: string,
  packages: string[],
  build: string | null,
  publishDirectory: string | null,
  more: Partial<KnownFramework> = {},
): KnownFramework {
  return { ...NOTHING, name, packages, build, publishDirectory, ...more }
}

/** The text in quotes behind a key of a configuration: `outDir: 'public'`; null when it is not there or is computed. */
export function settingOf(configuration: string, pattern: RegExp): string | null {
  return pattern.exec(configuration)?.[1] ?? null
}

/** A folder below the project that a setting names; null for one outside, which cannot be published. */
export function folderOf(path: string | null, otherwise: string | null): string | null {
  if (path === null) return otherwise
  const folder = path.replace(/^(?:\.\/)+/, '').replace(/\/$/, '')
  return folder === '' || folder.startsWith('/') || folder.split('/').includes('..') ? null : folder
}

/** Whether the major version that a range begins with is one of `majors`: `^2.17.0` is of 2. */
export function isOfMajor(range: string | undefined, ...majors: string[]): boolean {
  return majors.includes(/^[~^=v>]*(\d+)/.exec(range ?? '')?.[1] ?? '')
}
