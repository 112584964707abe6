import type { WholeSource } from '../plan.ts'
import type { Tree } from '../source/tree.ts'
import { gradleModules, mavenModules, namesModule, wantsRoot, type Modules } from './modules.ts'

/** A build tool of a tree for the JVM. */
export interface Tool {
  name: 'maven' | 'gradle'
  title: string
  manifest: string
  /** Further manifests that may state what it is compiled for. */
  others: string[]
  /** The image that has the tool; null where the tree has a wrapper. */
  image(major: number): string
  /** Builds everything, or a module with its dependencies. */
  build(module: string | null): string
  jars: string[]
  /** Folders of the tree with the output of a build. */
  output: string[]
  modules(tree: Tree): Promise<Modules>
}

/** Returns the tool of a tree; null for none. */
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

/** A module of a build, which the root builds with its dependencies. */
export interface Module {
  root: Tree
  tool: Tool
  folder: string
}

/** Files that make a folder a build of its own, whatever is above it. */
const OWN_BUILD = ['settings.gradle', 'settings.gradle.kts', 'gradlew']

/** Returns the module that a folder of a source is, if it cannot be built without the others; null where it can. */
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
