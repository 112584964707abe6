import { posix } from 'node:path'
import { withoutSlashComments, withoutXmlComments } from '../source/comments.ts'
import { hasLine, linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { PLAIN_PATH } from '../steps.ts'

/** A build with more modules is too large to be read. */
const MAX_MODULES = 200
/** How deep modules of Maven are nested. */
const MAX_DEPTH = 4

/** The manifests of a build's modules by folder, without comments. */
export type Modules = ReadonlyMap<string, string>

/** Reads the modules that a pom.xml names, and their own modules (Maven, "Aggregation"). */
export async function mavenModules(tree: Tree): Promise<Modules> {
  const found = new Map<string, string>()
  const tried = new Set<string>()
  await add('', 0)
  found.delete('')
  return found

  async function add(folder: string, depth: number): Promise<void> {
    if (tried.has(folder) || tried.size > MAX_MODULES) return
    tried.add(folder)
    const path = posix.join(folder, 'pom.xml')
    // The root's is long in large projects; there may be many others.
    const text = folder === '' ? await tree.readText(path) : await tree.readHead(path)
    if (text === null) return
    const manifest = withoutXmlComments(text)
    found.set(folder, manifest)
    if (depth === MAX_DEPTH) return
    for (const [, name] of manifest.matchAll(/<module>([^<]{1,200})<\/module>/g)) {
      const below = posix.join(folder, name!.trim())
      if (tried.size > MAX_MODULES) return
      if (PLAIN_PATH.test(below) && !below.startsWith('..')) await add(below, depth + 1)
    }
  }
}

const SETTINGS = ['settings.gradle', 'settings.gradle.kts']
const BUILDS = ['build.gradle', 'build.gradle.kts']

/** Reads the subprojects that `include` names, unless their folders are moved (Gradle, "Multi-Project Builds"). */
export async function gradleModules(tree: Tree): Promise<Modules> {
  const found = new Map<string, string>()
  for (const file of SETTINGS) {
    const paths = includedIn(withoutSlashComments((await tree.readText(file)) ?? ''))
    for (const path of paths.slice(0, MAX_MODULES)) {
      const folder = path.replace(/^:/, '').replaceAll(':', '/')
      if (!PLAIN_PATH.test(folder) || folder.includes('..')) continue
      for (const name of BUILDS) {
        const manifest = await tree.readHead(`${folder}/${name}`)
        if (manifest !== null) found.set(folder, withoutSlashComments(manifest))
      }
    }
  }
  return found
}

/** Returns the names in an `include` statement, which continues after a comma. */
function includedIn(settings: string): string[] {
  const names: string[] = []
  let isList = false
  for (const line of linesOf(settings)) {
    const text = line.trim()
    isList ||= /^include\b/.test(text)
    if (!isList) continue
    for (const [, name] of text.matchAll(/["']([^"']{1,200})["']/g)) names.push(name!)
    isList = /[,(]$/.test(text)
  }
  return names
}

/** Whether a Maven module refers to another one, such as its parent, without which it cannot be built. */
export function namesModule(manifest: string, others: Iterable<string>): boolean {
  for (const other of others) {
    const own = elementText(without(other, '<parent>', '</parent>'), '<artifactId>', '</artifactId>')
    if (own !== null && manifest.includes(`<artifactId>${own}</artifactId>`)) return true
  }
  return false
}

/** A reference to another project of the build, or to what only the root defines, such as a plugin without a version. */
const OF_THE_BUILD =
  /\bproject ?\(|\bprojects\.|\brootProject\b|\blibs\.|\bid ?\(?["'][\w-]+(?:\.[\w-]+)+["']\)?\s*(?:[};]|$)|\bkotlin\(["'][\w.-]+["']\)\s*(?:[};]|$)/

/**
 * Whether a Gradle subproject needs its root: it can be built alone only if it states itself where its packages come from.
 */
export function wantsRoot(manifest: string): boolean {
  return !hasLine(manifest, /\brepositories\b/) || hasLine(manifest, OF_THE_BUILD)
}

const MAVEN_PLUGINS = /spring-boot-maven-plugin|quarkus-maven-plugin/
const GRADLE_PLUGINS =
  /(?:org\.springframework\.boot|io\.quarkus)["'](?!.{0,80}\bapply false)|io\.micronaut\.application["']|io\.ktor\.plugin["']|\bid ?\(?["']application["']|\bapply plugin: ?["']application["']|^\s*`?application`?\s*$/
/** How a library switches off what its parent, or a convention plugin, applies to it. */
const ELEMENT_OFF = /<skip>true<\/skip>|<phase>none<\/phase>/
const PROPERTY_OFF = '<spring-boot.repackage.skip>true<'
const TASK_OFF = /\b[Bb]ootJar\b[^{}\n]{0,60}(?:\{[^{}]{0,300})?\b(?:isE|e)nabled\s{0,5}[=(]?\s{0,5}false\b/
/** With these a module may or may not be a program. */
const UNCLEAR =
  /maven-(?:shade|assembly)-plugin|[Mm]ain-?Class\b|\balias ?\(|\bid ?\(?["'](?!java|groovy|maven-publish|signing|jacoco|idea|eclipse|checkstyle|org\.jetbrains\.kotlin|io\.spring\.dependency-management|org\.springframework\.boot)/
/** Folders of programs that only demonstrate the others. */
const ACCOMPANYING = /(?:^|[/-])(?:tests?|e2e|examples?|samples?|demos?|benchmarks?)$/

/**
 * Returns the folders of the modules that are programs by their own manifests; none where that is not clear, as where a
 * parent turns its modules into programs.
 */
export function programsAmong(modules: Modules, root: string): string[] {
  const programs: string[] = []
  if (makesProgram(root)) return []
  for (const [folder, manifest] of modules) {
    const isProgram = makesProgram(manifest)
    const isParent = manifest.includes('<packaging>pom</packaging>')
    if (isProgram ? isParent : hasLine(manifest, UNCLEAR)) return []
    if (isProgram) programs.push(folder)
  }
  const plain = programs.filter((folder) => !ACCOMPANYING.test(folder))
  return plain.length === 0 ? programs : plain
}

function makesProgram(manifest: string): boolean {
  // What a parent only manages, its modules name themselves where they use it.
  const [, ...plugins] = without(manifest, '<pluginManagement>', '</pluginManagement>').split('<plugin>')
  for (const plugin of plugins) {
    const element = plugin.split('</plugin>', 1)[0]!
    if (MAVEN_PLUGINS.test(element) && !ELEMENT_OFF.test(element)) return !manifest.includes(PROPERTY_OFF)
  }
  return hasLine(manifest, GRADLE_PLUGINS) && !TASK_OFF.test(manifest)
}

/** Removes all elements of a name. */
function without(text: string, open: string, close: string): string {
  const kept: string[] = []
  let start = 0
  for (;;) {
    const from = text.indexOf(open, start)
    const end = from === -1 ? -1 : text.indexOf(close, from)
    kept.push(text.slice(start, end === -1 ? undefined : from))
    if (end === -1) return kept.join('')
    start = end + close.length
  }
}

/** Returns the text of the first element of a name; null for none. */
function elementText(text: string, open: string, close: string): string | null {
  const from = text.indexOf(open)
  const end = from === -1 ? -1 : text.indexOf(close, from)
  return end === -1 ? null : text.slice(from + open.length, end).trim()
}
