import type { WholeSource } from '../plan.ts'
import type { Tree } from '../tree.ts'
import { gradleModules, mavenModules, namesModule, wantsRoot, type Modules } from './modules.ts'

/** What builds a tree of the Java platform. */
export interface Tool {
  name: 'maven' | 'gradle'
  title: string
  manifest: string
  /** Further manifests that may say what it is compiled for. */
  others: string[]
  /** The image that brings the tool; null where the tree's wrapper does. */
  image(major: number): string
  /** Builds all, or a module with what it depends on. */
  build(module: string | null): string
  jars: string[]
  /** Folders of the tree that hold what was built. */
  output: string[]
  modules(tree: Tree): Promise<Modules>
}

/** The tool of a tree; null for none. */
export async function toolOf(tree: Tree): Promise<Tool | null> {
  if (await tree.hasFile('pom.xml')) {
    const hasWrapper = await tree.hasFile('mvnw')
    const command = `${hasWrapper ? 'sh ./mvnw' : 'mvn'} -B -ntp -DskipTests`
    return {
      name: 'maven',
      title: hasWrapper ? 'the Maven wrapper' : 'Maven',
      manifest: 'pom.xml',
      others: [],
      image: (major) => (hasWrapper ? `eclipse-temurin:${major}-jdk` : `maven:3-eclipse-temurin-${major}`),
      build: (module) => `${command} ${module === null ? '' : `-pl ${module} -am `}package`,
      jars: ['target/*.jar', 'target/*.war', 'target/quarkus-app/*.jar'],
      output: ['/app/target'],
      modules: mavenModules,
    }
  }
  for (const manifest of ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts']) {
    if (!(await tree.hasFile(manifest))) continue
    const hasWrapper = await tree.hasFile('gradlew')
    const command = `${hasWrapper ? 'sh ./gradlew' : 'gradle'} --no-daemon`
    return {
      name: 'gradle',
      title: hasWrapper ? 'the Gradle wrapper' : 'Gradle',
      manifest,
      others: ['app/build.gradle', 'app/build.gradle.kts'],
      image: (major) => (hasWrapper ? `eclipse-temurin:${major}-jdk` : `gradle:8-jdk${major}`),
      build: (module) =>
        `${command} ${module === null ? '' : `:${module.replaceAll('/', ':')}:`}build -x test`,
      jars: ['build/libs/*.jar', 'build/libs/*.war'],
      output: ['/app/build', '/app/.gradle'],
      modules: gradleModules,
    }
  }
  return null
}

/** A module of a build, which is built by the root with what it depends on. */
export interface Module {
  root: Tree
  tool: Tool
  folder: string
}

/** Files with which a folder is a build of its own, whatever lies above it. */
const OWN_BUILD = ['settings.gradle', 'settings.gradle.kts', 'gradlew']

/** The module that a folder of a source is, and that is not built without the others; null where it stands for itself. */
export async function moduleIn(whole: WholeSource | null): Promise<Module | null> {
  if (whole === null) return null
  const { tree: root, folder } = whole
  const own = root.folder(folder)
  const tool = await toolOf(root)
  if (tool === null || tool.name !== (await toolOf(own))?.name) return null
  for (const name of OWN_BUILD) if (await own.hasFile(name)) return null
  const modules = new Map(await tool.modules(root))
  const manifest = modules.get(folder)
  if (manifest === undefined) return null
  modules.delete(folder)
  const others = [...modules.values(), (await root.readText(tool.manifest)) ?? '']
  const wantsOthers = tool.name === 'maven' ? namesModule(manifest, others) : wantsRoot(manifest)
  return wantsOthers ? { root, tool, folder } : null
}
