import { posix } from 'node:path'
import { BuildFailure } from '../source/failure.ts'
import { hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { INCOMPLETE, MANIFESTS_FOLDER, UNFINISHED } from '../steps.ts'
import { withoutMirrors } from './locks/mirrors.ts'
import type { PackageManager } from './managers.ts'
import { readManifest, type Manifest } from './manifest.ts'
import type { Packages } from './workspace.ts'

/**
 * How the packages of a project are installed: first from the manifests alone, in a layer that changes of the code leave
 * in the engine's cache, then, where the source may matter, once more over the source, as by hand.
 */
export interface Installation {
  /** Every package.json by path, without the scripts that would run at installation; also lock files that are rewritten. */
  manifests: Record<string, string>
  /** The lines that copy what an installation from the manifests reads. */
  copies: string[]
  /** The line that replaces rewritten lock files in the source; none where there are none. */
  corrections: string[]
  /**
   * Whether an installation may read or run more of the source than that: scripts, packages, patches, hooks. Then it may
   * fail without the source, which must do no harm.
   */
  needsSource: boolean
}

/** Scripts that run at installation (npm-scripts, "Life Cycle Operation Order"). */
export const INSTALL_SCRIPTS = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
]

/** Fields of package.json that say what is installed. */
const FIELDS = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'overrides',
  'resolutions',
  'pnpm',
  'patchedDependencies',
]

/** A value that names something of the tree, rather than a version: a path, or a protocol for one. */
const OF_THE_TREE =
  /^(?:(?:file|link|portal|patch|exec|workspace):|~?\/|\.{1,2}\/)|\.(?:patch|diff|tgz|tar\.gz)$/

/** A setting that names a file of the tree, such as `node-options=--require ./hook.cjs`. */
const NAMES_FILE = /(?:^|[\s="',:])\.{1,2}\//

/** All manifests of a workspace together. */
const MAX_MANIFESTS_CHARACTERS = 16 * 1024 * 1024

/** Finds out what an installation needs, in the root of a workspace or a single project. */
export async function readInstallation(
  tree: Tree,
  manifest: Manifest,
  packages: Packages,
  manager: PackageManager,
  notes: string[],
): Promise<Installation> {
  const own = [
    ['', manifest] as const,
    ...packages,
    ...(await localPackages(tree, manifest, packages, notes)),
  ]
  const manifests = Object.fromEntries(
    own.map(([folder, each]) => [posix.join(folder, 'package.json'), withoutScripts(each)]),
  )
  const size = Object.values(manifests).reduce((sum, text) => sum + text.length, 0)
  if (size > MAX_MANIFESTS_CHARACTERS) {
    throw new BuildFailure(
      `the package.json files of the workspace have more than ${MAX_MANIFESTS_CHARACTERS} characters in total: set root_dir to a smaller part, or add a Dockerfile`,
    )
  }
  const locks = await withoutMirrors(tree, manager.files, notes)
  const files = manager.files.filter((name) => !(name in locks))
  const needsSource =
    own.length > 1 ||
    namesSource(manifest) ||
    (await hasAny(tree, manager.hooks)) ||
    (await hasSettingWithFile(tree, manager.settings))
  return {
    manifests: { ...manifests, ...locks },
    copies: await copiesOf(tree, files, manager.folders),
    corrections: Object.keys(locks).map((name) => `COPY ${MANIFESTS_FOLDER}/${name} ./`),
    needsSource,
  }
}

/**
 * Returns the command of an installation from the manifests alone. Where it may need the source, it may fail: then it leaves
 * nothing but a mark, since what it left could not be told from what is complete.
 */
export function fromManifests(install: string, { needsSource }: Installation): string {
  if (!needsSource) return install
  return `${install} || { ${UNFINISHED}; find . -name node_modules -prune -exec rm -rf {} +; touch ${INCOMPLETE}; }`
}

/** Whether a manifest has scripts that run at installation, or names anything of the tree that is installed. */
function namesSource({ scripts, value }: Manifest): boolean {
  return INSTALL_SCRIPTS.some((name) => name in scripts) || FIELDS.some((field) => namesTree(value[field]))
}

/** What is nested deeper than any real field may name anything. */
const MAX_DEPTH = 10

function namesTree(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return OF_THE_TREE.test(value)
  if (typeof value !== 'object' || value === null) return false
  return depth === MAX_DEPTH || Object.values(value).some((each) => namesTree(each, depth + 1))
}

async function hasAny(tree: Tree, names: readonly string[]): Promise<boolean> {
  for (const name of names) if (await tree.has(name)) return true
  return false
}

async function hasSettingWithFile(tree: Tree, names: readonly string[]): Promise<boolean> {
  for (const name of names) if (hasLine((await tree.readText(name)) ?? '', NAMES_FILE)) return true
  return false
}

function withoutScripts({ value, scripts }: Manifest): string {
  const others = Object.entries(scripts).filter(([name]) => !INSTALL_SCRIPTS.includes(name))
  return `${JSON.stringify({ ...value, scripts: Object.fromEntries(others) }, null, 2)}\n`
}

async function copiesOf(
  tree: Tree,
  names: readonly string[],
  folderNames: readonly string[],
): Promise<string[]> {
  const files: string[] = []
  for (const name of names) if (await tree.hasFile(name)) files.push(name)
  const folders: string[] = []
  for (const name of folderNames) if (await tree.hasFolder(name)) folders.push(name)
  return [
    `COPY ${MANIFESTS_FOLDER}/ ./`,
    ...(files.length === 0 ? [] : [`COPY ${files.map((name) => `source/${name}`).join(' ')} ./`]),
    ...folders.map((name) => `COPY source/${name} ./${name}`),
  ]
}

/** A project has a few; without its manifest, a package is installed with the source. */
const MAX_LOCAL = 100
/** A path in a note. */
const MAX_SHOWN = 100

/** Returns the packages in folders of the tree that are dependencies but not part of a workspace. */
async function localPackages(
  tree: Tree,
  root: Manifest,
  packages: Packages,
  notes: string[],
): Promise<Packages> {
  const locals: Packages = new Map()
  const folders = [['', root] as const, ...packages].flatMap(([folder, { dependencies }]) =>
    Object.values(dependencies)
      .map((version) => /^(?:file|link|portal):(?!\/)(.*)/.exec(version)?.[1])
      .filter((path) => path !== undefined)
      .map((path) => posix.join(folder, path).replace(/\/$/, '')),
  )
  for (const folder of [...new Set(folders)].slice(0, MAX_LOCAL)) {
    const path = `${folder}/package.json`
    if (folder.startsWith('..')) {
      notes.push(
        `package.json depends on ${folder.slice(0, MAX_SHOWN)}, which is outside of root_dir and so not part of the build`,
      )
    }
    if (folder === '.' || packages.has(folder) || !(await tree.hasFile(path))) continue
    locals.set(folder, await readManifest(tree, path))
  }
  return locals
}
