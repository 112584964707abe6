import { choose } from '../choices.ts'
import { choosePlace, EVERY_LINE } from '../place.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from '../plan.ts'
import { withoutSlashComments } from '../source/comments.ts'
import { findInLines } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { UNKNOWN_PROGRAM, type Proposal } from '../start.ts'
import { baseImage, buildCommandSteps, buildStage, textOf } from '../steps.ts'
import { jvmStage, jvmTools, START_JAR, takeJar } from './jvm-image.ts'
import { chooseJavaMajor } from './version.ts'

/** Programs built by sbt. */
export const scala: LanguagePlan = {
  name: 'scala',
  lookedFor: 'build.sbt',
  detect: async (tree) =>
    (await tree.hasFile('build.sbt')) || (await tree.hasFile('project/build.properties')),
  plan: planScala,
}

const CACHES = ['/root/.sbt', '/root/.cache', '/root/.ivy2']
/** The first Java with an image for sbt on which its current launcher runs (sbtscala/scala-sbt, "light" images). */
const OLDEST_MAJOR = 17

/** The output of a build, by the plugin that packs it. */
interface Packing {
  command: string
  proposal: Proposal
}

async function planScala(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const place = await choosePlace(tree, whole, notes, { manifests: { 'build.sbt': EVERY_LINE } })
  const definition = withoutSlashComments((await tree.readText('build.sbt')) ?? '')
  const plugins = withoutSlashComments((await tree.readText('project/plugins.sbt')) ?? '')
  const properties = (await tree.readText('project/build.properties')) ?? ''
  const major = Math.max(OLDEST_MAJOR, await chooseJavaMajor(tree, definition, notes))
  const packing = packingOf(definition, plugins)
  const proposal = settings.buildCommand === null ? packing.proposal : null
  const choices = await choose(tree, settings, notes, {
    proposal,
    advice: settings.buildCommand === null ? ADVICE : UNKNOWN_PROGRAM,
    build: () => packing.command,
  })
  const { start, facts, buildCommand, aptPackages } = choices
  const takes = start.isProposed && start.startCommand === START_JAR
  const build = takes ? `${buildCommand} && ${takeJar('target/scala-*/*-assembly-*.jar')}` : buildCommand
  const line = findInLines(properties, /^sbt\.version\s*=\s*(\d)\b/) === '2' ? '2.x' : '1.x'
  const image = `sbtscala/scala-sbt:eclipse-temurin-${major}_${line}`
  const dockerfile = [
    ...buildStage(baseImage(settings, image)),
    'USER root',
    ...jvmTools(aptPackages),
    ...place.source,
    ...buildCommandSteps(build, settings, CACHES),
    ...jvmStage(settings, major, choices, place),
  ]
  return {
    ...facts,
    version: String(major),
    framework: isPlay(plugins) ? 'play' : null,
    packageManager: 'sbt',
    env: isPlay(plugins)
      ? [{ key: 'APPLICATION_SECRET', generate: 'hex', why: 'Play signs its cookies with it' }]
      : [],
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: place.needsWhole,
    ignore: ['.git', '**/target', 'project/project', '.bloop', '.metals'],
    notes: [`scala on java ${major} with sbt ${line}`, ...notes],
  }
}

const ADVICE =
  'build.sbt names no program: add the plugin sbt-native-packager or sbt-assembly, or a Procfile with a line "web:"'

function isPlay(plugins: string): boolean {
  return /\bsbt-plugin\b/.test(plugins) && /playframework|typesafe\.play/.test(plugins)
}

/**
 * sbt-native-packager, which Play includes, produces a script; sbt-assembly one jar; otherwise sbt itself starts the
 * program.
 */
function packingOf(definition: string, plugins: string): Packing {
  const script = scriptName(definition)
  if ((isPlay(plugins) || plugins.includes('sbt-native-packager')) && script !== undefined) {
    const options = isPlay(plugins)
      ? ' -Dhttp.port=$PORT -Dhttp.address=0.0.0.0 -Dplay.http.secret.key=$APPLICATION_SECRET -Dpidfile.path=/dev/null'
      : ''
    return {
      command: 'sbt stage',
      proposal: { command: `target/universal/stage/bin/${script}${options}` },
    }
  }
  if (plugins.includes('sbt-assembly')) return { command: 'sbt assembly', proposal: { command: START_JAR } }
  return { command: 'sbt compile stage', proposal: null }
}

/**
 * Returns the name of the script that sbt-native-packager makes: its setting, else the name of the project, else that of its
 * value (sbt-native-packager, "Java Application").
 */
function scriptName(definition: string): string | undefined {
  const set = findInLines(definition, /\bexecutableScriptName\s*:=\s*"{1,3}([\w.-]{1,100})"/)
  const name =
    findInLines(definition, /^\s*(?:ThisBuild \/ )?name\s*:=\s*"{1,3}([\w .-]{1,100})"/) ??
    findInLines(
      definition,
      /^\s*lazy val (\w{1,100})\s*=\s*\(?project\s*(?:in file\("\."\)|\.in\(file\("\."\)\))/,
    )
  return set ?? name?.toLowerCase().replaceAll(/[^a-z\d]+/g, '-')
}
