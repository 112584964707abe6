import { posix } from 'node:path'
import { BuildFailure } from '../source/failure.ts'
import type { Tree } from '../source/tree.ts'
import { MANIFESTS_FOLDER } from '../steps.ts'
import { withoutMirrors } from './locks/mirrors.ts'
import type { PackageManager } from './managers.ts'
import type { Manifest } from './manifest.ts'
import { callsOf } from './scripts.ts'
import { plainName, type Packages } from './workspace.ts'

/** What is needed to install the packages of a project. */
export interface Installation {
  /** Every package.json by path, without the scripts that would run at installation; also lock files that are rewritten. */
  manifests: Record<string, string>
  /**
   * The lines that copy what an installation reads, so that a change of the code leaves the installed packages in the
   * engine's cache.
   */
  copies: string[]
  /** The project's own scripts that run at installation; they may read any file of the tree. */
  scripts: string[]
  /** Whether those scripts change the installed packages, which then can only be installed in the build's own stage. */
  changesPackages: boolean
}

/** Scripts that run at installation, in their order (npm-scripts, "Life Cycle Operation Order"). */
const INSTALL_SCRIPTS = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
]

/** Programs that set up a developer's checkout, or reject other package managers. */
const CHECKOUT_TOOLS = new Set(
  'husky simple-git-hooks lefthook only-allow git is-ci pinst yorkie skip-ci echo true exit :'.split(' '),
)

/** Programs that only write next to the code. */
const CODE_TOOLS = new Set(
  'nuxt nuxi svelte-kit astro react-router panda fumadocs-mdx contentlayer tsc vite next turbo nx tsup esbuild'.split(
    ' ',
  ),
)

/** All manifests of a workspace together. */
const MAX_MANIFESTS_CHARACTERS = 16 * 1024 * 1024

/** Finds out what an installation needs, in the root of a workspace or a single project. */
export async function readInstallation(
  tree: Tree,
  manifest: Manifest,
  packages: Packages,
  needed: readonly string[],
  manager: PackageManager,
  notes: string[],
): Promise<Installation> {
  const manifests = Object.fromEntries(
    [['', manifest] as const, ...packages].map(([folder, each]) => [
      posix.join(folder, 'package.json'),
      withoutScripts(each),
    ]),
  )
  const size = Object.values(manifests).reduce((sum, text) => sum + text.length, 0)
  if (size > MAX_MANIFESTS_CHARACTERS) {
    throw new BuildFailure(
      `the package.json files of the workspace have more than ${MAX_MANIFESTS_CHARACTERS} characters in total: set root_dir to a smaller part, or add a Dockerfile`,
    )
  }
  const { scripts, changesPackages } = readScripts(manifest, packages, needed, manager)
  const locks = await withoutMirrors(tree, manager.files, notes)
  const files = manager.files.filter((name) => !(name in locks))
  const copies = await copiesOf(tree, manifest, packages, { ...manager, files })
  return { manifests: { ...manifests, ...locks }, copies, scripts, changesPackages }
}

function withoutScripts({ value, scripts }: Manifest): string {
  const others = Object.entries(scripts).filter(([name]) => !INSTALL_SCRIPTS.includes(name))
  return `${JSON.stringify({ ...value, scripts: Object.fromEntries(others) }, null, 2)}\n`
}

function readScripts(
  root: Manifest,
  packages: Packages,
  needed: readonly string[],
  manager: PackageManager,
): Pick<Installation, 'scripts' | 'changesPackages'> {
  const commands: string[] = []
  let changesPackages = false
  for (const folder of ['', ...needed]) {
    const manifest = folder === '' ? root : packages.get(folder)
    const name = folder === '' || manifest === undefined ? null : plainName(manifest)
    if (manifest === undefined || (folder !== '' && name === null)) continue
    for (const script of INSTALL_SCRIPTS) {
      const programs = callsOf(manifest.scripts[script] ?? '', manifest.scripts)
      const isOf = (tools: ReadonlySet<string>, call: string[]): boolean =>
        tools.has(call[0]!) || call.some((word) => word.includes('husky'))
      if (programs.every((call) => isOf(CHECKOUT_TOOLS, call))) continue
      commands.push(name === null ? manager.run(script) : manager.runIn(name, script))
      changesPackages ||= !programs.every((call) => isOf(CHECKOUT_TOOLS, call) || CODE_TOOLS.has(call[0]!))
    }
  }
  return { scripts: commands, changesPackages }
}

/** Paths that a COPY line accepts as they are. */
const PLAIN_PATH = /^[\w@.+-]+(?:\/[\w@.+-]+)*$/

/** Each is a layer, of which an image has about a hundred at most. */
const MAX_LOCAL = 20

async function copiesOf(
  tree: Tree,
  manifest: Manifest,
  packages: Packages,
  manager: PackageManager,
): Promise<string[]> {
  const files: string[] = []
  for (const name of manager.files) if (await tree.hasFile(name)) files.push(name)
  const folders: string[] = []
  for (const name of manager.folders) if (await tree.hasFolder(name)) folders.push(name)
  const locals = localDependencies(manifest, packages)
  for (const local of locals) {
    if (locals.length > MAX_LOCAL || !PLAIN_PATH.test(local))
      return ['COPY source/ ./', `COPY ${MANIFESTS_FOLDER}/ ./`]
    if (await tree.hasFolder(local)) folders.push(local)
    else if (await tree.hasFile(local)) folders.push(local)
  }
  return [
    `COPY ${MANIFESTS_FOLDER}/ ./`,
    ...(files.length === 0 ? [] : [`COPY ${files.map((name) => `source/${name}`).join(' ')} ./`]),
    ...[...new Set(folders)].map((name) => `COPY source/${name} ./${name}`),
  ]
}

/** Packages inside the tree, as a folder or an archive; those of the workspace have their manifests already. */
function localDependencies(root: Manifest, packages: Packages): string[] {
  const paths = [['', root] as const, ...packages].flatMap(([folder, { dependencies }]) =>
    Object.values(dependencies)
      .filter((version) => /^(?:file|link|portal):/.test(version))
      .map((version) => posix.join(folder, version.slice(version.indexOf(':') + 1)).replace(/\/$/, '')),
  )
  return paths.filter((path) => !packages.has(path) && path !== '.')
}
