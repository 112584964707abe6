import { posix } from 'node:path'
import type { PlanSettings, WholeSource } from '../plan.ts'
import { textsOf } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'
import { isDevelopmentServer, isPreview } from './development-servers.ts'
import { frameworkOf } from './framework.ts'
import { readManifest, type Manifest } from './manifest.ts'
import { nxApplications, type NxApplication } from './nx.ts'
import { callsOf, MANAGERS, START_SCRIPTS, type Call } from './scripts.ts'
import { memberCalled, neededBy, orderedFolders, readWorkspace, type Packages } from './workspace.ts'

/** The package that is built, alone or in its workspace. */
export interface Project {
  /** What is installed: the root of the workspace, or the package itself. */
  root: Tree
  rootManifest: Manifest
  /** The package's folder below the root; empty for the root itself. */
  folder: string
  tree: Tree
  manifest: Manifest
  /** The packages of the workspace; empty for none. */
  packages: Packages
  /** The folders of the packages that it is built from, itself last, without the root. */
  needed: string[]
  /** Whether the root is the whole source, of which the tree is one folder. */
  needsWhole: boolean
  /** Why no package was chosen. */
  obstacle: string | null
  /** The folders to choose from. */
  rootDirectories: string[]
  /** The application that the root builds, which has all packages; null for none. */
  application: NxApplication | null
}

/** Finds the package that a tree stands for: itself, or one of the workspace of which it is the root or a part. */
export async function findProject(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
  notes: string[],
): Promise<Project> {
  const application = whole === null ? null : await applicationIn(whole)
  if (application !== null) {
    notes.push(`building the application ${application.application!.name} of the Nx workspace`)
    return application
  }
  const manifest = await readManifest(tree)
  const alone: Project = {
    root: tree,
    rootManifest: manifest,
    folder: '',
    tree,
    manifest,
    packages: new Map(),
    needed: [],
    needsWhole: false,
    obstacle: null,
    rootDirectories: [],
    application: null,
  }
  const outer = whole === null ? null : await inWorkspace(tree, manifest, whole)
  if (outer !== null) {
    notes.push(`building ${outer.folder} with what it depends on in the workspace`)
    return outer
  }
  const packages = await readWorkspace(tree, manifest)
  const root = packages === null ? alone : { ...alone, packages, needed: orderedFolders(packages) }
  const project = packages === null ? root : await chooseInRoot(root, settings, notes)
  const isChosen = project.folder !== '' || project.obstacle !== null
  return isChosen || settings.startCommand !== null || startsItself(manifest, packages ?? new Map())
    ? project
    : await chooseApplication(project, notes)
}

/** Returns the application of an Nx workspace in a folder of a source, unless it has a package.json that says more. */
async function applicationIn({ tree: root, folder }: WholeSource): Promise<Project | null> {
  if (!(await root.hasFile('nx.json')) || !(await root.hasFile('package.json'))) return null
  const manifest = await readManifest(root)
  const application = (await nxApplications(root, manifest)).find((each) => each.folder === folder)
  if (application === undefined || (await hasOwnScripts(root, folder))) return null
  const packages: Packages = (await readWorkspace(root, manifest)) ?? new Map()
  return {
    root,
    rootManifest: manifest,
    folder: '',
    tree: root,
    manifest,
    packages,
    needed: orderedFolders(packages),
    needsWhole: true,
    obstacle: null,
    rootDirectories: [],
    application,
  }
}

/** Returns a package of the workspace that builds itself. */
async function hasOwnScripts(root: Tree, folder: string): Promise<boolean> {
  const path = `${folder}/package.json`
  return (await root.hasFile(path)) && 'build' in (await readManifest(root, path)).scripts
}

/** Returns the only application of an Nx workspace whose root starts nothing. */
async function chooseApplication(project: Project, notes: string[]): Promise<Project> {
  const applications = await nxApplications(project.tree, project.manifest)
  const [application, ...others] = applications
  if (application === undefined) return project
  if (others.length > 0) {
    const folders = applications.slice(0, SHOWN_FOLDERS).map(({ folder }) => folder)
    return {
      ...project,
      rootDirectories: folders,
      obstacle: `this is an Nx workspace with several applications (${folders.join(', ')}): set root_dir to the folder of one`,
    }
  }
  notes.push(`building the application ${application.name} of the Nx workspace`)
  return { ...project, application }
}

async function inWorkspace(tree: Tree, manifest: Manifest, whole: WholeSource): Promise<Project | null> {
  const { tree: root, folder } = whole
  if (!(await root.hasFile('package.json'))) return null
  const rootManifest = await readManifest(root)
  const packages = await readWorkspace(root, rootManifest)
  if (packages === null || !packages.has(folder)) return null
  const needed = neededBy(folder, packages, rootManifest)
  return {
    root,
    rootManifest,
    folder,
    tree,
    manifest,
    packages,
    needed,
    needsWhole: true,
    obstacle: null,
    rootDirectories: [],
    application: null,
  }
}

/** How many names fit into a message. */
const SHOWN_FOLDERS = 8

/** The root of a workspace is built itself if it says how to start, else its only program. */
async function chooseInRoot(project: Project, settings: PlanSettings, notes: string[]): Promise<Project> {
  const { manifest, packages, tree } = project
  if (settings.startCommand !== null || (await tree.hasFile('Procfile'))) return project
  if (startsItself(manifest, packages)) return project
  const programs: string[] = []
  for (const [folder, each] of packages) {
    if (await isProgram(tree.folder(folder), each, manifest)) programs.push(folder)
  }
  const [folder] = programs
  if (folder === undefined) return project
  if (programs.length > 1) {
    const rootDirectories = programs.slice(0, SHOWN_FOLDERS)
    const more = programs.length > SHOWN_FOLDERS ? ', ...' : ''
    return {
      ...project,
      rootDirectories,
      obstacle: `this is a workspace with several programs (${rootDirectories.join(', ')}${more}): set root_dir to the folder of one`,
    }
  }
  notes.push(`building ${folder}, the only program of the workspace`)
  return {
    ...project,
    folder,
    tree: tree.folder(folder),
    manifest: packages.get(folder)!,
    needed: neededBy(folder, packages, manifest),
  }
}

/** Whether a project says how to start for users, and not only how to develop it or one of its packages. */
function startsItself({ scripts }: Manifest, packages: Packages): boolean {
  return START_SCRIPTS.some((name) => {
    const calls = callsOf(scripts[name] ?? '', scripts)
    return name in scripts && !calls.some(isDevelopmentServer) && !callsDevelopment(calls, packages)
  })
}

/** Whether a script of the root starts the dev server of one of its packages: `cd website && npm start`. */
function callsDevelopment(calls: readonly Call[], packages: Packages): boolean {
  let folder = ''
  for (const [program, ...words] of calls) {
    if (program === 'cd') folder = posix.join(folder, words[0] ?? '').replace(/\/$/, '')
    if (!MANAGERS.has(program!)) continue
    const scripts = (packages.get(folder) ?? memberCalled(words, packages))?.scripts ?? {}
    const script = words.find((word) => Object.hasOwn(scripts, word))
    const its = script === undefined ? [] : callsOf(scripts[script]!, scripts)
    if (its.some((call) => isDevelopmentServer(call) || isPreview(call))) return true
  }
  return false
}

/** Whether a package is a program: libraries have no start script, and no page for the tools that build them. */
async function isProgram(tree: Tree, manifest: Manifest, root: Manifest): Promise<boolean> {
  if (startsItself(manifest, new Map())) return true
  const framework = await frameworkOf(tree, manifest, [], root)
  // What extends a framework leaves it to the program, and has it only for its own tests.
  const peers = textsOf(manifest.value.peerDependencies)
  if (framework === null || framework.packages.some((name) => name in peers)) return false
  return framework.start !== null || !framework.singlePage || (await hasPage(tree))
}

async function hasPage(tree: Tree): Promise<boolean> {
  for (const file of ['index.html', 'public/index.html', 'src/index.html', 'angular.json']) {
    if (await tree.hasFile(file)) return true
  }
  return false
}
