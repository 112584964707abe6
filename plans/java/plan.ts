import { choose } from '../choices.ts'
import { ALONE, choosePlace, EVERY_LINE, type Reach } from '../place.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from '../plan.ts'
import { processTypes } from '../procfile.ts'
import { withoutSlashComments, withoutXmlComments } from '../source/comments.ts'
import { pagesIn } from '../source/pages.ts'
import { hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { UNKNOWN_PROGRAM, type Proposal } from '../start.ts'
import { baseImage, buildCommandSteps, buildStage, RENEW_FILES, textOf } from '../steps.ts'
import { wrapperRunsOn } from './gradle.ts'
import { jvmStage, jvmTools, START_JAR, takeJar } from './jvm-image.ts'
import { gradleModules, namesModule, programsAmong } from './modules.ts'
import { moduleIn, toolOf, type Tool } from './tool.ts'
import { chooseJavaMajor } from './version.ts'

/** Programs for the JVM, built by Maven or Gradle into one executable jar, as by the plugins of Spring Boot. */
export const java: LanguagePlan = {
  name: 'java',
  lookedFor: 'pom.xml or build.gradle',
  detect: async (tree) => (await toolOf(tree)) !== null,
  plan: planJava,
}

const CACHES = ['/root/.m2', '/root/.gradle']

async function planJava(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const isOwn = await saysItself(tree, settings)
  const outer = isOwn ? null : await moduleIn(whole)
  if (outer !== null) notes.push(`building ${outer.folder} with what it depends on`)
  const place = outer === null ? await choosePlace(tree, whole, notes, await reachOf(tree, isOwn)) : ALONE
  const root = outer?.root ?? tree
  const tool = outer?.tool ?? (await toolOf(tree))!
  const written = await manifestsOf(root, tool)
  const programs = outer === null ? await programsIn(root, tool, written, notes) : []
  const folder = outer?.folder ?? (programs.length === 1 ? programs[0]! : null)
  const own = folder === null ? undefined : (await tool.modules(root)).get(folder)
  const manifest = own === undefined || written.includes(own) ? written : own
  const wrapper = tool.name === 'gradle' ? await wrapperRunsOn(root) : null
  const compiled = outer === null ? written : `${manifest}\n${written}`
  const major = await chooseJavaMajor(tree, compiled, notes, wrapper, outer?.root)
  const isOwnBuild = settings.buildCommand === null
  const isDistribution = makesDistribution(tool, manifest)
  const made = madeOf(tool, manifest, folder, outer !== null)
  const module = outer === null ? null : outer.folder
  const isStaged = tool.name === 'gradle' && hasLine(outer === null ? written : manifest, STAGE)
  const buildTool = buildOf(tool.build(module), isDistribution, isStaged)
  const rootDirectories = isOwnBuild && programs.length > 1 ? programs.slice(0, SHOWN_PROGRAMS) : []
  const proposal = isOwnBuild ? proposalOf(made.start, manifest, rootDirectories, programs.length) : null
  const choices = await choose(tree, settings, notes, {
    proposal,
    advice: isOwnBuild ? '' : UNKNOWN_PROGRAM,
    build: () => buildTool,
  })
  const { start, facts, buildCommand, aptPackages } = choices
  // A user's own command may start files in the build folder, which then stays in the image.
  const keepsOutput =
    !isOwnBuild || place.needsWhole || !start.isProposed || isQuarkus(manifest) || folder !== null
  const renew = keepsOutput ? '' : `${RENEW_FILES} && `
  const build = isOwnBuild && start.isProposed ? `${renew}${buildTool} && ${made.take}` : buildCommand
  const dockerfile = [
    ...buildStage(baseImage(settings, tool.image(major))),
    ...jvmTools(aptPackages),
    'ENV GRADLE_USER_HOME=/root/.gradle',
    ...place.source,
    ...buildCommandSteps(build, settings, [...CACHES, ...(keepsOutput ? [] : tool.output)]),
    ...jvmStage(settings, major, choices, place),
  ]
  return {
    ...facts,
    version: String(major),
    framework: frameworkOf(`${manifest}\n${written}`),
    packageManager: tool.name,
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: outer !== null || place.needsWhole,
    rootDirectories: facts.obstacle === null ? [] : rootDirectories,
    ignore: ['.git', 'target', 'build', '.gradle'],
    notes: [`java ${major} with ${tool.title}`, ...notes],
  }
}

function buildOf(build: string, isDistribution: boolean, isStaged: boolean): string {
  if (isDistribution) return build.replace('build -x', 'installDist -x')
  return isStaged ? `${build} stage` : build
}

function isQuarkus(manifest: string): boolean {
  return manifest.includes('quarkus')
}

function makesDistribution(tool: Tool, manifest: string): boolean {
  return tool.name === 'gradle' && hasLine(manifest, APPLICATION) && !MAKES_JAR.test(manifest)
}

/** What a build makes: how that is started, and what is taken from the build for it. */
function madeOf(tool: Tool, manifest: string, folder: string | null, isModule: boolean) {
  if (isQuarkus(manifest)) return quarkus(folder)
  if (makesDistribution(tool, manifest)) return distribution(folder)
  return { start: START_JAR, take: jarsTaken(tool, folder, isModule) }
}

/** How the program is started, or why it is not; `folders` are those to choose from. */
function proposalOf(command: string, manifest: string, folders: string[], count: number): Proposal {
  if (folders.length > 0) return { obstacle: severalPrograms(folders, count) }
  return runsInServer(manifest) ? { obstacle: WAR } : { command }
}

/** Whether a program only runs in a server of applications. */
function runsInServer(manifest: string): boolean {
  return (
    ['quarkus', 'spring-boot'].every((name) => !manifest.includes(name)) && manifest.includes(WAR_PACKAGE)
  )
}

const WAR_PACKAGE = '<packaging>war</packaging>'

const SETTINGS = ['settings.gradle', 'settings.gradle.kts']

/**
 * What a build reads above its tree: other builds and scripts that Gradle names, and the parent of a pom.xml. Gradle itself
 * looks for the settings of a subproject there, with which the subprojects are built that need others.
 */
async function reachOf(tree: Tree, isOwn: boolean): Promise<Reach> {
  const manifest = withoutXmlComments((await tree.readText('pom.xml')) ?? '')
  const hasSettings = (await tree.hasFile(SETTINGS[0]!)) || (await tree.hasFile(SETTINGS[1]!))
  const names = [...SETTINGS, 'build.gradle', 'build.gradle.kts', 'pom.xml']
  return {
    manifests: Object.fromEntries(names.map((name) => [name, EVERY_LINE])),
    above: isOwn && !hasSettings && manifest === '' ? SETTINGS : ['pom.xml'],
    isFor: async (text, below, folder) =>
      manifest === ''
        ? (await gradleModules(folder)).has(below)
        : namesModule(manifest, [withoutXmlComments(text)]),
  }
}

/** How many programs a message names. */
const SHOWN_PROGRAMS = 8

function severalPrograms(folders: readonly string[], count: number): string {
  const more = count > folders.length ? ', ...' : ''
  return `this is a project of several programs (${folders.join(', ')}${more}): set root_dir to the folder of one`
}

/** The manifests of a tree, without comments. */
async function manifestsOf(root: Tree, tool: Tool): Promise<string> {
  const texts = await Promise.all([tool.manifest, ...tool.others].map((name) => root.readText(name)))
  const written = texts.filter((text) => text !== null).join('\n')
  return tool.name === 'maven' ? withoutXmlComments(written) : withoutSlashComments(written)
}

/** Whether the program is not chosen by the plan, but by a command or by the folder itself. */
async function saysItself(tree: Tree, settings: PlanSettings): Promise<boolean> {
  const { buildCommand, startCommand, processType } = settings
  const isServing = processType === 'web' || processType === 'worker'
  return buildCommand !== null || startCommand !== null || !isServing || (await processTypes(tree)).size > 0
}

/** Returns the modules that are programs, where the root is not one itself. */
async function programsIn(root: Tree, tool: Tool, written: string, notes: string[]): Promise<string[]> {
  const modules = await tool.modules(root)
  // An obstacle to building the program would let the page next to it be published.
  if (modules.size === 0 || (await root.hasFolder('src/main')) || (await pagesIn(root)) !== null) return []
  const isSettings = tool.manifest.startsWith('settings')
  const found = programsAmong(modules, isSettings ? '' : await manifestsOf(root, { ...tool, others: [] }))
  if (found.length === 0 && modules.size > 1)
    notes.push(
      'no manifest says clearly which module is the program: the largest jar of the build is used; set root_dir to the folder of another',
    )
  return found.includes(STARTER) && tool.name === 'gradle' && hasLine(written, APPLICATION)
    ? [STARTER]
    : found
}

/** Where Gradle's starter puts the program, whatever is next to it. */
const STARTER = 'app'

/** Returns the command that takes the jar of a program; in a project of several modules one is the program. */
function jarsTaken({ jars }: Tool, folder: string | null, isModule: boolean): string {
  const all = [...jars, ...jars.slice(0, 2).map((each) => `*/${each}`)].join(' ')
  if (folder === null) return takeJar(all)
  return takeJar(below(jars, folder).join(' '), isModule ? null : all)
}

function below(paths: readonly string[], folder: string): string[] {
  return paths.map((each) => `${folder}/${each}`)
}

/** How the output of a build is taken and started. */
interface Output {
  start: string
  take: string
}

/** Quarkus produces a folder whose jar finds the others next to it (quarkus.io, "Maven tooling"). */
function quarkus(folder: string | null): Output {
  const folders = ['target/quarkus-app', 'build/quarkus-app']
  const places = folder === null ? folders : below(folders, folder)
  return {
    start: 'java -Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port=$PORT -jar /app/quarkus-app/quarkus-run.jar',
    take: `cp -r $(ls -d ${places.join(' ')} 2>/dev/null) /app/quarkus-app`,
  }
}

const WAR =
  'pom.xml builds a war, which a servlet container runs: add a Dockerfile that copies it into an image of tomcat, or the plugin spring-boot-maven-plugin, or a Procfile that starts it with webapp-runner, or set start_command'

/**
 * The application plugin produces a folder with a script that starts the program, and finds it through a link (Gradle, "The
 * Application Plugin").
 */
function distribution(folder: string | null): Output {
  const places = folder === null ? 'build/install/* */build/install/*' : `${folder}/build/install/*`
  return {
    start: '/app/server',
    take: `rm -rf /app/distribution && cp -r $(ls -d ${places} 2>/dev/null | head -n 1) /app/distribution && ln -sf "$(find /app/distribution/bin -type f ! -name '*.bat' | head -n 1)" /app/server`,
  }
}

const APPLICATION =
  /\bid ?\(?["'](?:io\.micronaut\.)?application["']|\bapply plugin: ?["']application["']|^[\t ]*`?application`?$/
/** The task that Heroku runs instead of `build`; lines of a Procfile start its output (Heroku, "Deploying Gradle Apps"). */
const STAGE = /\btask\(?\s?["']?stage\b|\btasks\.(?:register|create)\(["']stage["']/
/** With these the jar is executable. */
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
