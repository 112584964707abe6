import { choose } from '../choices.ts'
import { choosePlace, EVERY_LINE } from '../place.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from '../plan.ts'
import type { Tree } from '../source/tree.ts'
import { UNKNOWN_PROGRAM } from '../start.ts'
import { baseImage, buildCommandSteps, buildStage, installPackages, step, textOf } from '../steps.ts'
import { jvmStage, START_JAR, takeJar } from './jvm-image.ts'
import { chooseJavaMajor } from './version.ts'

/** Clojure programs, built by Leiningen or by tools.build into one jar. */
export const clojure: LanguagePlan = {
  name: 'clojure',
  lookedFor: 'project.clj or deps.edn',
  detect: async (tree) => (await toolOf(tree)) !== null,
  plan: planClojure,
}

const CACHES = ['/root/.m2', '/root/.gitlibs', '/root/.lein']
/** Versions of Java with an image for both tools (clojure, official images). */
const MAJORS = [11, 17, 21, 25, 26]

interface Tool {
  name: 'leiningen' | 'tools-deps'
  manifest: string
  tag: 'lein' | 'tools-deps'
  install: string
  /** The task that packs one jar; null where the project does not say how. */
  build: string | null
  jars: string
}

async function toolOf(tree: Tree): Promise<Tool | null> {
  if (await tree.hasFile('project.clj')) {
    return {
      name: 'leiningen',
      manifest: 'project.clj',
      tag: 'lein',
      install: 'lein deps',
      build: 'lein uberjar',
      jars: 'target/*-standalone.jar target/uberjar/*-standalone.jar target/*.jar',
    }
  }
  if (!(await tree.hasFile('deps.edn'))) return null
  const aliases = (await tree.readText('deps.edn')) ?? ''
  const hasBuild = (await tree.hasFile('build.clj')) && /:build\b/.test(aliases)
  return {
    name: 'tools-deps',
    manifest: 'deps.edn',
    tag: 'tools-deps',
    install: 'clojure -P',
    build: hasBuild ? 'clojure -T:build uber' : null,
    jars: 'target/*.jar',
  }
}

async function planClojure(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const tool = (await toolOf(tree))!
  const place = await choosePlace(tree, whole, notes, { manifests: { [tool.manifest]: EVERY_LINE } })
  const wanted = await chooseJavaMajor(tree, '', notes)
  const major = MAJORS.findLast((each) => each <= wanted) ?? MAJORS[0]!
  const isOwnBuild = settings.buildCommand === null && tool.build !== null
  const advice =
    tool.build === null ? 'add a build.clj with a function "uber" and an alias :build' : UNKNOWN_PROGRAM
  const proposal = isOwnBuild ? { command: START_JAR } : null
  const choices = await choose(tree, settings, notes, { proposal, advice, build: () => tool.build })
  const { start, facts, buildCommand, aptPackages } = choices
  const build = isOwnBuild && start.isProposed ? `${tool.build!} && ${takeJar(tool.jars)}` : buildCommand
  const dockerfile = [
    ...buildStage(baseImage(settings, `clojure:temurin-${major}-${tool.tag}-bookworm`)),
    ...installPackages(['git', ...aptPackages]),
    ...place.source,
    step(tool.install, settings, CACHES),
    ...buildCommandSteps(build, settings, CACHES),
    ...jvmStage(settings, major, choices, place),
  ]
  return {
    ...facts,
    version: String(major),
    packageManager: tool.name,
    installCommand: tool.install,
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: place.needsWhole,
    ignore: ['.git', 'target', '.cpcache'],
    notes: [`clojure on java ${major} with ${tool.name}`, ...notes],
  }
}
