import { isRecord } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'
import type { Start } from '../start.ts'
import { reachedBy, type Import } from './imports.ts'
import type { Manifest } from './manifest.ts'
import type { Project } from './project.ts'
import { callsOf, packageNeeded, wordsOf } from './scripts.ts'

/** How many programs of a start command are followed, all together through as many files as one. */
const MAX_CALLS = 10

/** Whether the program, or what runs before it goes live, needs packages listed as development dependencies. */
export async function keepsDevelopment(
  project: Project,
  start: Start,
  commands: string[],
  notes: string[],
): Promise<boolean> {
  const why = await whyKept(project, commands)
  if (why !== null) {
    notes.push(`keeping the development dependencies: ${why}`)
    return true
  }
  // No production dependencies are listed, although something runs that no framework has bundled.
  const { manifest, rootManifest } = project
  const isAny = [manifest, rootManifest].some(
    ({ devDependencies }) => Object.keys(devDependencies).length > 0,
  )
  const hasOthers = Object.keys(manifest.dependencies).some((name) => !(name in manifest.devDependencies))
  const isBundled = start.isProposed && /^node (?:build|\.output\/)/.test(start.startCommand ?? '')
  return isAny && !hasOthers && !isBundled
}

/** Returns what of them is needed, or why that is not known; null where none is. */
async function whyKept(project: Project, commands: string[]): Promise<string | null> {
  const { tree, manifest, rootManifest, packages } = project
  const all = [rootManifest, manifest, ...packages.values()]
  const development = new Set(all.flatMap(({ devDependencies }) => Object.keys(devDependencies)))
  if (development.size === 0) return null
  const called = namesCalled(project, development)
  for (const command of commands) {
    const needed = packageNeeded(command, manifest.scripts, called)
    if (needed !== null) return `${needed} is one of them, and runs`
  }
  const words = commands.flatMap((command) => wordsOf(command, manifest.scripts))
  const startsNext = words.some((word) => /(?:^|\/)next$/.test(word))
  if (called.has('typescript') && startsNext && (await compilesSettings(tree, manifest)))
    return 'next reads next.config.ts with typescript, which is one of them'
  const calls = commands.flatMap((command) => callsOf(command, manifest.scripts))
  const { imports, unknown } = await reachedBy(project, calls.slice(0, MAX_CALLS))
  return (await wrongImport(project, imports, development)) ?? unknown
}

/** Those among the names that only development lists name, of packages whose programs the start command sees. */
function namesCalled({ manifest, rootManifest }: Project, development: ReadonlySet<string>): Set<string> {
  const own = new Set([manifest, rootManifest].flatMap(({ devDependencies }) => Object.keys(devDependencies)))
  return new Set(
    [...development].filter(
      (name) => own.has(name) || ![manifest, rootManifest].some((each) => lists(each, name)),
    ),
  )
}

/** Returns the first import that production dependencies do not provide, in words; null for none. */
async function wrongImport(
  { root, rootManifest, manifest, packages }: Project,
  imports: readonly Import[],
  development: ReadonlySet<string>,
): Promise<string | null> {
  const all = [rootManifest, manifest, ...packages.values()]
  // On hosts that install everything, programs work with lists that are wrong.
  const listed = new Set(all.flatMap(({ name, dependencies }) => [name, ...Object.keys(dependencies)]))
  for (const { name, folder } of imports) {
    const importing = packages.get(folder) ?? rootManifest
    if (lists(importing, name) || lists(rootManifest, name)) continue
    if (development.has(name)) return `the program imports ${name}, which is one of them`
    const isOther = !listed.has(name) && !(await hasMappedNames(root, folder))
    if (isOther) return `the program imports ${name}, which package.json does not name`
  }
  return null
}

/** Whether a package has a dependency without its development. */
function lists({ value: { dependencies, optionalDependencies } }: Manifest, name: string): boolean {
  return [dependencies, optionalDependencies].some((each) => isRecord(each) && Object.hasOwn(each, name))
}

/** Whether the compiler's settings may map package names to files. */
async function hasMappedNames(root: Tree, folder: string): Promise<boolean> {
  for (const place of new Set(['', folder])) {
    for (const name of ['tsconfig.json', 'jsconfig.json']) {
      if (await root.hasFile(place === '' ? name : `${place}/${name}`)) return true
    }
  }
  return false
}

/**
 * Versions from 15.4 to 16.1, which read their settings with `typescript` at start (next,
 * `next-config-ts/transpile-config.js`).
 */
const COMPILING_NEXT = /^[v=]*(?:\^15\b|~?15(?:\.x|\.[4-9]\b|$)|[~^]?16\.[01]\b)/

async function compilesSettings(tree: Tree, { dependencies }: Manifest): Promise<boolean> {
  return COMPILING_NEXT.test(dependencies.next ?? '') && (await tree.hasFile('next.config.ts'))
}
