import { posix } from 'node:path'
import { choosePackageManager } from './manager.ts'
import type { PackageManager } from './managers.ts'
import { readManifest, type Manifest } from './manifest.ts'
import type { Project } from './project.ts'
import { commandsOf, MANAGERS, withoutRunners } from './scripts.ts'

/** How many scripts are followed; each may call all others. */
const MAX_FOLLOWED = 100
/** How many folders are installed for a project whose root is not a workspace. */
const MAX_FOLDERS = 5

/** Folder names are written into commands unescaped. */
const PLAIN_PATH = /^[\w@.-]+(?:\/[\w@.-]+)*$/

/** What scripts do in folders with a package.json of their own. */
interface Nested {
  runs: Set<string>
  installs: Set<string>
  /** Commands that were already followed; scripts may call each other in a cycle. */
  seen: Set<string>
}

/** What is installed for folders that nothing else installs. */
export interface NestedInstallation {
  /** Commands before the build, and after it. */
  before: string[]
  after: string[]
  /** The manifests of the folders that are built. */
  built: Manifest[]
  /** All folders with a package.json in which a script runs. */
  folders: string[]
}

/** Scripts that run before the build. */
const BEFORE = ['preinstall', 'install', 'postinstall', 'prepare']

/**
 * Returns commands that install the packages of folders in which the build runs a script although nothing installs them: on
 * the machine of the developer who wrote `cd client && npm run build` they were installed by hand. Packages that only the
 * build needs are removed again.
 */
export async function nestedInstallation(
  { tree, manifest, packages, folder: own, application }: Project,
  manager: PackageManager,
  build: string | null,
  start: string | null,
  notes: string[],
): Promise<NestedInstallation> {
  const before: string[] = []
  const after: string[] = []
  const built: Manifest[] = []
  const folders: string[] = []
  if (own !== '' || application !== null) return { before, after, built, folders }
  const nested: Nested = { runs: new Set(), installs: new Set(), seen: new Set() }
  for (const name of BEFORE) follow(manifest.scripts[name] ?? '', manifest.scripts, nested)
  // Anything they run other than an npm script may install too, and for more than the build.
  const mayInstall = BEFORE.some((name) => name in manifest.scripts)
  nested.runs.clear()
  nested.seen.clear()
  follow(build ?? '', manifest.scripts, nested)
  const ofBuild = new Set(nested.runs)
  follow(start ?? '', manifest.scripts, nested)
  for (const folder of [...nested.runs].slice(0, MAX_FOLDERS)) {
    const isOther = folder.startsWith('..') || !PLAIN_PATH.test(folder)
    if (isOther || !(await tree.hasFile(`${folder}/package.json`))) continue
    const place = tree.folder(folder)
    const its = await readManifest(place)
    folders.push(folder)
    if (ofBuild.has(folder)) built.push(its)
    if (nested.installs.has(folder) || packages.has(folder)) continue
    const theirs = await choosePackageManager(place, new Map([['', its]]), [])
    // Bun may be among the packages of the root.
    const isBrought = theirs.globalPackage !== null && theirs.name !== 'bun'
    if (theirs.name !== manager.name && isBrought) continue
    notes.push(`installing the packages of ${folder}, where a script runs and nothing installs them`)
    before.push(`(cd ${folder} && ${theirs.install})`)
    const isBuilt = ofBuild.has(folder) && !isNamed(start, folder, manifest)
    if (isBuilt && !mayInstall) after.push(`rm -rf ${folder}/node_modules`)
  }
  return { before, after, built, folders }
}

/** Whether the start command, or the script that it runs, is in a folder. */
function isNamed(start: string | null, folder: string, { scripts }: Manifest): boolean {
  return [start ?? '', scripts.start ?? ''].some((text) => text.includes(folder))
}

function follow(command: string, scripts: Record<string, string>, nested: Nested): void {
  if (nested.seen.has(command) || nested.seen.size === MAX_FOLLOWED) return
  nested.seen.add(command)
  let folder = ''
  // After its closing bracket a subshell is back in the previous folder.
  const outer: string[] = []
  let ended = 0
  for (const all of commandsOf(command.replaceAll(/[()]/g, ' $& '))) {
    for (; ended > 0; ended -= 1) folder = outer.pop() ?? folder
    for (const word of all) if (word === '(') outer.push(folder)
    ended = all.filter((word) => word === ')').length
    const words = withoutRunners(all.filter((word) => word !== '(' && word !== ')'))
    const [program = '', ...rest] = words
    if (program === 'cd') folder = posix.join(folder, rest[0] ?? '.').replace(/\/$/, '')
    if (!MANAGERS.has(program)) continue
    const option = rest.findIndex((word) => /^(?:--prefix|--cwd|--dir|-C)(?:=|$)/.test(word))
    const named = option === -1 ? null : (rest[option]!.split('=')[1] ?? rest[option + 1] ?? null)
    const place = named === null ? folder : posix.join(folder, named).replace(/\/$/, '')
    const [first, second] = rest.filter(
      (word, index) => !word.startsWith('-') && (option === -1 || index !== option + 1),
    )
    if (first === undefined || ['install', 'i', 'ci', 'add'].includes(first)) nested.installs.add(place)
    else if (place !== '' && place !== '.') nested.runs.add(place)
    else {
      const name = first === 'run' || first === 'run-script' ? second : first
      const script = name !== undefined && Object.hasOwn(scripts, name) ? scripts[name]! : null
      if (script !== null) follow(script, scripts, nested)
    }
  }
}
