import { inOrder } from '../choices.ts'
import { withoutInstallationBy } from '../installation.ts'
import type { PlanSettings } from '../plan.ts'
import type { Framework } from './frameworks.ts'
import type { PackageManager } from './managers.ts'
import type { Project } from './project.ts'
import { neededBy, plainName, quoted, runInMember } from './workspace.ts'

/** Scripts that build, in order of preference; the first is for hosts that build before they start. */
const BUILD_SCRIPTS = ['heroku-postbuild', 'build']

/** Returns the command that builds a project: the service's own, else that of its tools; null for none. */
export async function chooseBuildCommand(
  project: Project,
  manager: PackageManager,
  framework: Framework | null,
  settings: PlanSettings,
): Promise<string | null> {
  if (settings.buildCommand !== null) {
    // A workspace that Bun installs may still call npm, which does not understand `workspace:`.
    const isBrought = manager.name === 'bun' && manager.globalPackage !== null
    return withoutInstallationBy(isBrought ? ['bun', 'npm'] : [manager.name], settings.buildCommand)
  }
  const siteBuild = framework === null || framework.start === null ? null : framework.siteBuild
  if (settings.processType === 'static' && siteBuild !== null) return siteBuild
  const { folder, manifest, application } = project
  if (application !== null) return framework?.build ?? null
  const script = BUILD_SCRIPTS.find((name) => name in manifest.scripts)
  if (folder !== '') return await workspaceBuild(project, manager, framework, script)
  if (script !== undefined) {
    const fetching = framework?.fetching ?? ''
    const isFetched = !(fetching in manifest.scripts) || manifest.scripts[script]!.includes(fetching)
    return inOrder([...(isFetched ? [] : [manager.run(fetching)]), manager.run(script)])
  }
  return framework?.build ?? null
}

/** Builds the dependencies of a package before the package: by the workspace's own tool, else one after another. */
async function workspaceBuild(
  project: Project,
  manager: PackageManager,
  framework: Framework | null,
  script: string | undefined,
): Promise<string | null> {
  const { folder, packages, needed } = project
  const commands = needsRoot(project) ? [manager.run('build')] : []
  if (script === 'build') {
    const built = await toolBuild(project)
    if (built !== null) return inOrder([...commands, built])
  }
  for (const path of needed) {
    const each = packages.get(path)!
    const isOwn = path === folder
    const wanted = isOwn ? script : 'build' in each.scripts ? 'build' : undefined
    if (wanted !== undefined) commands.push(runInMember(manager, path, each, wanted))
    else if (isOwn && framework !== null && framework.build !== null) {
      commands.push(`cd ${quoted(folder)} && ${framework.build}`)
    }
  }
  return commands.length === 0 ? null : commands.join(' && ')
}

/** A range that means a package of the tree, as the root's own can only be named. */
const OF_ROOT = /^(?:workspace:|(?:file|link|portal):\.\.(?:\/\.\.)*\/?$)/

/** Whether a package is built with the root's own, such as the documentation of a library. */
function needsRoot({ rootManifest: { name, scripts }, packages, needed }: Project): boolean {
  if (name === null || !('build' in scripts)) return false
  return needed.some((path) => {
    const { dependencies } = packages.get(path)!
    return Object.hasOwn(dependencies, name) && OF_ROOT.test(dependencies[name]!)
  })
}

/** Returns the command of a workspace's own tool, which builds the dependencies of a package by itself, but not the root's. */
async function toolBuild({ root, rootManifest, folder, packages, needed }: Project): Promise<string | null> {
  const own = new Set(neededBy(folder, packages, null))
  const ofRoot = needed.filter((path) => !own.has(path) && 'build' in packages.get(path)!.scripts)
  const names = [...ofRoot, folder].map((path) => plainName(packages.get(path)!))
  if (names.includes(null)) return null
  const has = async (tool: string, files: readonly string[]): Promise<boolean> => {
    if (!(tool in rootManifest.dependencies)) return false
    for (const file of files) if (await root.hasFile(file)) return true
    return false
  }
  if (await has('turbo', ['turbo.json', 'turbo.jsonc']))
    return inOrder(names.map((name) => `turbo run build --filter=${name}`))
  if (await has('nx', ['nx.json'])) return inOrder(names.map((name) => `nx build ${name}`))
  return null
}
