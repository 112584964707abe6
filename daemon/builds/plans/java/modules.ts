import { posix } from 'node:path'
import type { Tree } from '../../../sources/tree.ts'
import { withoutSlashComments, withoutXmlComments } from '../../comments.ts'
import { linesOf } from '../../text.ts'

/** Builds with more modules are none that a person pasted to see them run. */
const MAX_MODULES = 200
/** Modules of Maven have modules of their own. */
const MAX_DEPTH = 4

/** Folders go into commands as they are. */
const PLAIN_PATH = /^[\w@.+-]+(?:\/[\w@.+-]+)*$/

/** The manifests of the modules of a build by their folders, without comments. */
export type Modules = ReadonlyMap<string, string>

/** Reads the modules that a pom.xml names, and those that these name (Maven, "Aggregation"). */
export async function mavenModules(tree: Tree): Promise<Modules> {
  const found = new Map<string, string>()
  await add('', 0)
  found.delete('')
  return found

  async function add(folder: string, depth: number): Promise<void> {
    if (found.has(folder) || found.size > MAX_MODULES) return
    const path = posix.join(folder, 'pom.xml')
    // The root's is long in large projects; there may be many others.
    const text = folder === '' ? await tree.readText(path) : await tree.readHead(path)
    if (text === null) return
    const manifest = withoutXmlComments(text)
    found.set(folder, manifest)
    if (depth === MAX_DEPTH) return
    for (const [, name] of manifest.matchAll(/<module>([^<]{1,200})<\/module>/g)) {
      const below = posix.join(folder, name!.trim())
      if (PLAIN_PATH.test(below) && !below.startsWith('..')) await add(below, depth + 1)
    }
  }
}

const SETTINGS = ['settings.gradle', 'settings.gradle.kts']
const BUILDS = ['build.gradle', 'build.gradle.kts']

/** Reads the subprojects that `include` names, where their folders are not moved (Gradle, "Multi-Project Builds"). */
export async function gradleModules(tree: Tree): Promise<Modules> {
  const found = new Map<string, string>()
  for (const file of SETTINGS) {
    for (const path of includedIn(withoutSlashComments((await tree.readText(file)) ?? ''))) {
      const folder = path.replace(/^:/, '').replaceAll(':', '/')
      if (!PLAIN_PATH.test(folder) || folder.includes('..') || found.size === MAX_MODULES) continue
      for (const name of BUILDS) {
        const manifest = await tree.readHead(`${folder}/${name}`)
        if (manifest !== null) found.set(folder, withoutSlashComments(manifest))
      }
    }
  }
  return found
}

/** The names in a statement `include`, which goes on after a comma. */
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

/** Plugins that make a program of a module, which others only use. */
const PLUGINS =
  /spring-boot-maven-plugin|quarkus-maven-plugin|micronaut-maven-plugin|org\.springframework\.boot["'](?!.{0,80}\bapply false)|io\.quarkus["'](?!.{0,80}\bapply false)|io\.micronaut\.application|["']application["']|io\.ktor\.plugin/
/** A library whose parent has the plugin switches it off. */
const SWITCHED_OFF = /<skip>true<\/skip>|\bbootJar\b[\s{.]{0,20}enabled\s{0,5}[=(]?\s{0,5}false/
const CONFIGURATIONS = ['application.yml', 'application.yaml', 'application.properties', 'bootstrap.yml']

/** The folders of the modules that are programs. */
export async function programsAmong(tree: Tree, modules: Modules, root: string): Promise<string[]> {
  const isInherited = PLUGINS.test(withoutManagement(root))
  const programs: string[] = []
  for (const [folder, manifest] of modules) {
    if (SWITCHED_OFF.test(manifest)) continue
    const isProgram = PLUGINS.test(manifest) || (isInherited && (await isConfigured(tree.folder(folder))))
    if (isProgram) programs.push(folder)
  }
  return programs
}

/** What a parent only manages, its modules name themselves where they want it. */
function withoutManagement(manifest: string): string {
  const start = manifest.indexOf('<pluginManagement>')
  const end = manifest.lastIndexOf('</pluginManagement>')
  return start === -1 || end < start ? manifest : manifest.slice(0, start) + manifest.slice(end)
}

async function isConfigured(tree: Tree): Promise<boolean> {
  for (const name of CONFIGURATIONS) if (await tree.hasFile(`src/main/resources/${name}`)) return true
  return false
}
