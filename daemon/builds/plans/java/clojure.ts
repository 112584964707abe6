import type { Tree } from '../../../sources/tree.ts'
import { aptPackagesOf } from '../apt.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from '../plan.ts'
import { chooseStart, UNKNOWN_PROGRAM } from '../start.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  installPackages,
  siteStage,
  step,
  textOf,
} from '../steps.ts'
import { jvmStage, START_JAR, takeJar } from './jvm-image.ts'
import { chooseJavaMajor } from './version.ts'

/** Clojure programs, built by Leiningen or by tools.build into one jar. */
export const clojure: LanguagePlan = {
  name: 'clojure',
  lookedFor: 'project.clj or deps.edn',
  detect: async (tree) => (await toolOf(tree)) !== null,
  plan: makePlan,
}

const CACHES = ['/root/.m2', '/root/.gitlibs', '/root/.lein']
/** Lines of Java with an image for both tools (clojure, official images). */
const MAJORS = [11, 17, 21, 25, 26]

interface Tool {
  name: 'leiningen' | 'tools-deps'
  manifest: string
  tag: 'lein' | 'tools-deps'
  install: string
  /** Makes one jar; null where the project does not say how. */
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

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const tool = (await toolOf(tree))!
  const wanted = await chooseJavaMajor(tree, '', notes)
  const major = MAJORS.findLast((each) => each <= wanted) ?? MAJORS[0]!
  const isOwnBuild = settings.buildCommand === null && tool.build !== null
  const advice =
    tool.build === null ? 'add a build.clj with a function "uber" and an alias :build' : UNKNOWN_PROGRAM
  const start = await chooseStart(tree, settings, notes, isOwnBuild ? { command: START_JAR } : null, advice)
  const buildCommand = settings.buildCommand ?? tool.build
  if (buildCommand !== null) notes.push(`building with: ${buildCommand}`)
  const build = isOwnBuild && start.isProposed ? `${tool.build!} && ${takeJar(tool.jars)}` : buildCommand
  const aptPackages = await aptPackagesOf(tree, settings, notes)
  const dockerfile = [
    ...buildStage(baseImage(settings, `clojure:temurin-${major}-${tool.tag}-bookworm`)),
    ...installPackages(['git', ...aptPackages]),
    `COPY source/${tool.manifest} ./`,
    step(tool.install, settings, CACHES),
    'COPY source/ ./',
    ...(build === null ? [] : buildCommandSteps(build, settings, CACHES)),
    ...(start.isSite ? siteStage() : jvmStage(settings, major, aptPackages, start.startCommand)),
  ]
  return {
    ...NOTHING_KNOWN,
    isSite: start.isSite,
    startCommand: start.startCommand,
    obstacle: start.obstacle,
    version: String(major),
    packageManager: tool.name,
    installCommand: tool.install,
    buildCommand,
    aptPackages,
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: false,
    ignore: ['.git', 'target', '.cpcache'],
    notes: [`clojure on java ${major} with ${tool.name}`, ...notes],
  }
}
