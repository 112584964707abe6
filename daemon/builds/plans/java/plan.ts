import type { Tree } from '../../../sources/tree.ts'
import { withoutSlashComments, withoutXmlComments } from '../../comments.ts'
import { hasLine } from '../../text.ts'
import { choose } from '../choices.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings } from '../plan.ts'
import { UNKNOWN_PROGRAM } from '../start.ts'
import { baseImage, buildCommandSteps, buildStage, RENEW_FILES, textOf } from '../steps.ts'
import { wrapperRunsOn } from './gradle.ts'
import { jvmStage, jvmTools, START_JAR, takeJar } from './jvm-image.ts'
import { chooseJavaMajor } from './version.ts'

/** Programs of the Java platform, built by Maven or Gradle into one jar that runs, as Spring Boot's plugins do. */
export const java: LanguagePlan = {
  name: 'java',
  lookedFor: 'pom.xml or build.gradle',
  detect: async (tree) => (await toolOf(tree)) !== null,
  plan: makePlan,
}

const CACHES = ['/root/.m2', '/root/.gradle']

interface Tool {
  name: 'maven' | 'gradle'
  title: string
  manifest: string
  /** Further manifests that may say what it is compiled for. */
  others: string[]
  /** The image that brings the tool; null where the tree's wrapper does. */
  image(major: number): string
  command: string
  jars: string
  /** Folders of the tree that hold what was built. */
  output: string[]
}

async function toolOf(tree: Tree): Promise<Tool | null> {
  if (await tree.hasFile('pom.xml')) {
    const hasWrapper = await tree.hasFile('mvnw')
    return {
      name: 'maven',
      title: hasWrapper ? 'the Maven wrapper' : 'Maven',
      manifest: 'pom.xml',
      others: [],
      image: (major) => (hasWrapper ? `eclipse-temurin:${major}-jdk` : `maven:3-eclipse-temurin-${major}`),
      command: `${hasWrapper ? 'sh ./mvnw' : 'mvn'} -B -ntp -DskipTests package`,
      // Of a project of several modules one is the program.
      jars: 'target/*.jar target/*.war target/quarkus-app/*.jar */target/*.jar */target/*.war',
      output: ['/app/target'],
    }
  }
  for (const manifest of ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts']) {
    if (!(await tree.hasFile(manifest))) continue
    const hasWrapper = await tree.hasFile('gradlew')
    return {
      name: 'gradle',
      title: hasWrapper ? 'the Gradle wrapper' : 'Gradle',
      manifest,
      others: ['app/build.gradle', 'app/build.gradle.kts'],
      image: (major) => (hasWrapper ? `eclipse-temurin:${major}-jdk` : `gradle:8-jdk${major}`),
      command: `${hasWrapper ? 'sh ./gradlew' : 'gradle'} --no-daemon build -x test`,
      jars: 'build/libs/*.jar build/libs/*.war */build/libs/*.jar */build/libs/*.war',
      output: ['/app/build', '/app/.gradle'],
    }
  }
  return null
}

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const tool = (await toolOf(tree))!
  // The starter of Gradle has the program in a folder of its own.
  const texts = await Promise.all([tool.manifest, ...tool.others].map((name) => tree.readText(name)))
  const written = texts.filter((text) => text !== null).join('\n')
  const manifest = tool.name === 'maven' ? withoutXmlComments(written) : withoutSlashComments(written)
  const wrapper = tool.name === 'gradle' ? await wrapperRunsOn(tree) : null
  const major = await chooseJavaMajor(tree, manifest, notes, wrapper)
  const isOwnBuild = settings.buildCommand === null
  const isQuarkus = manifest.includes('quarkus')
  const isDistribution = tool.name === 'gradle' && hasLine(manifest, APPLICATION) && !MAKES_JAR.test(manifest)
  const own = isQuarkus
    ? QUARKUS
    : isDistribution
      ? DISTRIBUTION
      : { start: START_JAR, take: takeJar(tool.jars) }
  const buildTool = isDistribution
    ? tool.command.replace('build -x', 'installDist -x')
    : tool.name === 'gradle' && hasLine(manifest, STAGE)
      ? `${tool.command} stage`
      : tool.command
  const proposal = !isOwnBuild
    ? null
    : manifest.includes('<packaging>war</packaging>') && !isQuarkus && !manifest.includes('spring-boot')
      ? { obstacle: WAR }
      : { command: own.start }
  const choices = await choose(tree, settings, notes, {
    proposal,
    advice: isOwnBuild ? '' : UNKNOWN_PROGRAM,
    build: () => buildTool,
  })
  const { start, facts, buildCommand, aptPackages } = choices
  // A command of the user's may start what lies in the folder of the build, which then stays in the image.
  const keepsOutput = !isOwnBuild || !start.isProposed || isQuarkus
  const renew = keepsOutput ? '' : `${RENEW_FILES} && `
  const build = isOwnBuild && start.isProposed ? `${renew}${buildTool} && ${own.take}` : buildCommand
  const dockerfile = [
    ...buildStage(baseImage(settings, tool.image(major))),
    ...jvmTools(aptPackages),
    'ENV GRADLE_USER_HOME=/root/.gradle',
    'COPY source/ ./',
    ...buildCommandSteps(build, settings, [...CACHES, ...(keepsOutput ? [] : tool.output)]),
    ...jvmStage(settings, major, choices),
  ]
  return {
    ...facts,
    version: String(major),
    framework: frameworkOf(manifest),
    packageManager: tool.name,
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: false,
    ignore: ['.git', 'target', 'build', '.gradle'],
    notes: [`java ${major} with ${tool.title}`, ...notes],
  }
}

/** Quarkus leaves a folder, whose jar finds the others beside itself (quarkus.io, "Maven tooling"). */
const QUARKUS = {
  start: 'java -Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port=$PORT -jar /app/quarkus-app/quarkus-run.jar',
  take: 'cp -r $(ls -d target/quarkus-app build/quarkus-app 2>/dev/null) /app/quarkus-app',
}

const WAR =
  'pom.xml builds a war, which a servlet container runs: add a Dockerfile that copies it into an image of tomcat, or the plugin spring-boot-maven-plugin, or a Procfile that starts it with webapp-runner, or set start_command'

/** Gradle's plugin leaves a folder with a script that starts the program, and finds it through a link (Gradle, "The Application Plugin"). */
const DISTRIBUTION = {
  start: '/app/server',
  take: `rm -rf distribution && cp -r $(ls -d build/install/* */build/install/* 2>/dev/null | head -n 1) distribution && ln -sf "$(find /app/distribution/bin -type f ! -name '*.bat' | head -n 1)" server`,
}

const APPLICATION =
  /\bid ?\(?["'](?:io\.micronaut\.)?application["']|\bapply plugin: ?["']application["']|^[\t ]*`?application`?$/
/** A task that Heroku runs in place of `build`; lines of a Procfile start what it leaves (Heroku, "Deploying Gradle Apps"). */
const STAGE = /\btask\(?\s?["']?stage\b|\btasks\.(?:register|create)\(["']stage["']/
/** With these the jar runs by itself. */
const MAKES_JAR = /shadow|springframework\.boot|ktor\.plugin|plugins\.ktor|Main-Class/

const FRAMEWORKS: [sign: string, framework: string][] = [
  ['spring-boot', 'spring-boot'],
  ['springframework.boot', 'spring-boot'],
  ['quarkus', 'quarkus'],
  ['micronaut', 'micronaut'],
  ['io.ktor', 'ktor'],
  ['dropwizard', 'dropwizard'],
  ['vertx', 'vertx'],
]

function frameworkOf(manifest: string): string | null {
  return FRAMEWORKS.find(([sign]) => manifest.includes(sign))?.[1] ?? null
}
