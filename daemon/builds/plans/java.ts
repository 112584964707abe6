import type { Tree } from '../../sources/tree.ts'
import { findInLines } from '../text.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { chooseCommand, runOf } from './start.ts'
import { baseImage, buildCommandSteps, buildStage, finalStage, takeApp } from './steps.ts'

/** Programs of the Java platform, built by Maven or Gradle into one jar that runs, as Spring Boot's plugins do. */
export const java: LanguagePlan = {
  name: 'java',
  lookedFor: 'pom.xml or build.gradle',
  detect: async (tree) => (await toolOf(tree)) !== null,
  plan: makePlan,
}

/** The line in long-term support that most projects are tested with. */
const DEFAULT_VERSION = '21'
const CACHES = ['/root/.m2', '/root/.gradle']
const JAR = '/app/server.jar'

interface Tool {
  name: string
  manifest: string
  /** The image that brings the tool; null where the tree's wrapper does. */
  image(version: string): string
  command: string
  jars: string
}

async function toolOf(tree: Tree): Promise<Tool | null> {
  if (await tree.hasFile('pom.xml')) {
    const hasWrapper = await tree.hasFile('mvnw')
    return {
      name: hasWrapper ? 'the Maven wrapper' : 'Maven',
      manifest: 'pom.xml',
      image: (version) =>
        hasWrapper ? `eclipse-temurin:${version}-jdk` : `maven:3-eclipse-temurin-${version}`,
      command: `${hasWrapper ? 'sh ./mvnw' : 'mvn'} -B -DskipTests package`,
      jars: 'target/*.jar',
    }
  }
  for (const manifest of ['build.gradle', 'build.gradle.kts']) {
    if (!(await tree.hasFile(manifest))) continue
    const hasWrapper = await tree.hasFile('gradlew')
    return {
      name: hasWrapper ? 'the Gradle wrapper' : 'Gradle',
      manifest,
      image: (version) => (hasWrapper ? `eclipse-temurin:${version}-jdk` : `gradle:8-jdk${version}`),
      command: `${hasWrapper ? 'sh ./gradlew' : 'gradle'} --no-daemon build -x test`,
      jars: 'build/libs/*.jar',
    }
  }
  return null
}

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const tool = (await toolOf(tree))!
  const version = versionOf(
    (await tree.readText('.java-version')) ?? '',
    (await tree.readText('system.properties')) ?? '',
    (await tree.readText(tool.manifest)) ?? '',
  )
  const isOwnBuild = settings.buildCommand === null
  const startCommand = await chooseCommand(
    tree,
    settings,
    notes,
    isOwnBuild ? `java -Dserver.port=$PORT -jar ${JAR}` : null,
    'build_command is set, so nothing says what it makes: add a Procfile with a line "web:"',
  )
  // Beside the jar that runs the tools leave plain ones, and those with sources and documentation.
  const take = `jar=$(ls -S ${tool.jars} | grep -Ev -- "-(plain|sources|javadoc)[.]jar$" | head -n 1) && cp "$jar" ${JAR}`
  const build = settings.buildCommand ?? `${tool.command} && ${take}`
  const dockerfile = [
    ...buildStage(baseImage(settings, tool.image(version))),
    'ENV GRADLE_USER_HOME=/root/.gradle',
    'COPY source/ ./',
    ...buildCommandSteps(build, settings, CACHES),
    ...finalStage(baseImage(settings, `eclipse-temurin:${version}-jre`), [takeApp()], startCommand),
  ]
  return {
    ...NOTHING_KNOWN,
    ...runOf(settings, startCommand),
    version,
    packageManager: tool.manifest === 'pom.xml' ? 'maven' : 'gradle',
    buildCommand: settings.buildCommand ?? tool.command,
    dockerfile: `${dockerfile.join('\n')}\n`,
    needsWhole: false,
    publishDirectory: null,
    ignore: ['.git', 'target', 'build', '.gradle'],
    notes: [`java ${version} with ${tool.name}`, ...notes],
  }
}

function versionOf(file: string, properties: string, manifest: string): string {
  const found =
    /^(?:\w+-)?(\d+)/.exec(file.trim())?.[1] ??
    findInLines(properties, /^java\.runtime\.version\s*=\s*(\d+)/) ??
    /<(?:java\.version|maven\.compiler\.release|maven\.compiler\.target)>\s*(\d+)\s*</.exec(manifest)?.[1] ??
    /JavaLanguageVersion\.of\((\d+)\)|JavaVersion\.VERSION_(\d+)\b/.exec(manifest)?.slice(1).find(Boolean)
  // There are images from 8 on; `1.8` is how 8 was written.
  return found === undefined || Number(found) < 8 ? DEFAULT_VERSION : found
}
