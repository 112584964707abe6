import { posix } from 'node:path'
import { inOrder } from '../choices.ts'
import type { PlanSettings } from '../plan.ts'
import { installBrowser } from '../playwright.ts'
import {
  buildCommandSteps,
  buildStage,
  finalStage,
  HOME,
  inDockerfile,
  installPackages,
  projectCaches,
  siteStage,
  step,
  takeApp,
  takeChanges,
  takePackages,
} from '../steps.ts'
import type { Framework } from './frameworks.ts'
import { fromManifests, type Installation } from './installation.ts'
import type { PackageManager } from './managers.ts'
import type { SystemPackages } from './system-packages.ts'
import { quoted } from './workspace.ts'

/** Everything from which the Dockerfile of a node program is made. */
export interface NodeBuild {
  settings: PlanSettings
  /** The image with compilers, which builds, and the one without, which runs. */
  fullImage: string
  slimImage: string
  /** Lines that bring the runtime into the full image, where that is another runtime's. */
  runtimeLines: string[]
  manager: PackageManager
  installation: Installation
  /** The package's folder in the source; empty for the root. */
  folder: string
  framework: Framework | null
  /** What generates code before the build; null for nothing. */
  generation: string | null
  buildCommand: string | null
  /** Variables that the build needs. */
  buildEnvironment: Record<string, string>
  /** Whether the user wrote the build command, for the package's folder. */
  isGivenBuild: boolean
  isSite: boolean
  startCommand: string | null
  /** Whether the program needs only the framework's own output. */
  isSelfContained: boolean
  keepsDevelopment: boolean
  /** Whether the program drives a browser of Playwright. */
  usesPlaywright: boolean
  /** An npm package whose program starts it, although the project does not name it; null for none. */
  program: string | null
  /** The npm packages of the package managers that the build calls, and those that the program calls. */
  buildManagers: string[]
  runManagers: string[]
  aptPackages: string[]
  /** Packages that the project's dependencies need in addition. */
  system: SystemPackages
}

/**
 * The shell of npm and pnpm for scripts. Debian's own shell stays between them and the program and would die of SIGTERM;
 * bash lets the last program of a script replace it.
 */
const SCRIPT_SHELL = 'npm_config_script_shell=/bin/bash npm_config_update_notifier=false NO_UPDATE_NOTIFIER=1'

/** Caches that tools keep in the project, whatever the framework. */
const PROJECT_CACHES = ['node_modules/.cache', '.turbo', '.nx/cache']

/** The Dockerfile's lines. */
export function nodeDockerfile(build: NodeBuild): string[] {
  const { manager, settings } = build
  const stages = [
    `FROM ${build.fullImage} AS tools`,
    ...installPackages([...build.system.build, ...build.aptPackages]),
    ...build.runtimeLines,
    ...globally(build.buildManagers),
    ...environmentOf({ ...manager.environment, ...build.system.environment }),
    // Creates the home folder, where programs look for what installations have put there, such as a browser.
    `WORKDIR ${HOME}`,
    `ENV HOME=${HOME}`,
    ...packageStages(build),
    ...buildStages(build),
  ]
  if (build.isSite) return [...stages, ...siteStage(workdirOf(build))]
  const browser = build.usesPlaywright ? installBrowser('node_modules/.bin/playwright') : []
  return [
    ...stages,
    ...finalStage({
      image: build.slimImage,
      packages: [...build.system.run, ...build.aptPackages],
      content: [
        ...globally([...build.runManagers, ...(build.program === null ? [] : [build.program])]),
        ...contentOf(build, browser),
        `ENV HOME=${HOME} NODE_ENV=production PATH=${pathOf(build)} ${SCRIPT_SHELL}`,
        ...environmentOf(build.system.environment),
      ],
      startCommand: build.startCommand,
      workdir: workdirOf(build),
    }),
  ]

  function globally(names: readonly string[]): string[] {
    return names.map(
      (name) =>
        `RUN --mount=type=cache,id=${settings.cacheScope}/root/.npm,target=/root/.npm npm install --global --force --no-audit --no-fund --no-update-notifier ${name}`,
    )
  }
}

function environmentOf(environment: Record<string, string>): string[] {
  return Object.entries(environment).map(([key, value]) => `ENV ${key}=${value}`)
}

function workdirOf({ folder }: NodeBuild): string {
  return posix.join('/app', folder)
}

/** Returns the value of PATH with the programs of the project's packages. */
function pathOf({ folder }: NodeBuild): string {
  const places = folder === '' ? ['/app'] : [`/app/${folder}`, '/app']
  return `"${inDockerfile(places.map((place) => `${place}/node_modules/.bin`).join(':'))}:$PATH"`
}

/** Whether anything runs once the source is there: the rest of the installation, or a build. */
function runsOnSource({ installation, generation, buildCommand }: NodeBuild): boolean {
  return installation.needsSource || generation !== null || buildCommand !== null
}

/**
 * Returns the stage whose packages come into the image: without development dependencies, unless the program needs them.
 */
function shippedStage(build: NodeBuild): 'packages' | 'production' {
  const { keepsDevelopment, manager } = build
  return keepsDevelopment || manager.installProduction === null || !runsOnSource(build)
    ? 'packages'
    : 'production'
}

/** Whether packages come into the image: neither into a site nor next to a framework's own output. */
function shipsPackages({ isSite, isSelfContained }: NodeBuild): boolean {
  return !isSite && !isSelfContained
}

/**
 * What the image has: the packages and the source with what was built, or only the output; and the home folder. What changes
 * most often comes last, so that the rest is not copied again.
 */
function contentOf(build: NodeBuild, browser: readonly string[]): string[] {
  const runs = runsOnSource(build)
  const home = takeApp(HOME, runs ? 'build' : 'packages')
  if (build.isSelfContained) return [home, takeOutput(build)]
  const stage = shippedStage(build)
  if (!runs) return [takeApp('/app', stage), ...browser, home, takeApp()]
  const { packages, changes } = takePackages(stage)
  return [...packages, ...browser, home, changes]
}

/**
 * The stages in which packages are installed from the manifests alone, which a change of the code does not run again: all
 * packages for the build, and those for the image.
 */
function packageStages(build: NodeBuild): string[] {
  const { manager, installation, settings, keepsDevelopment } = build
  const isForBuild = runsOnSource(build) || keepsDevelopment || manager.installProduction === null
  return [
    ...stage('packages', isForBuild ? manager.install : manager.installProduction!),
    ...(shipsPackages(build) && shippedStage(build) === 'production'
      ? stage('production', manager.installProduction!)
      : []),
  ]

  function stage(name: string, install: string): string[] {
    const command = fromManifests(install, installation)
    return [...buildStage('tools', name), ...installation.copies, step(command, settings, [manager.cache])]
  }
}

/**
 * The stage in which the source is built, over all packages and with the rest of their installation, as by hand. What came
 * since `packages` is taken into the image: the source, what was built, and what scripts changed in the packages.
 */
function buildStages(build: NodeBuild): string[] {
  const { settings, framework, manager, installation } = build
  const runs = runsOnSource(build)
  const source = ['COPY source/ ./', ...installation.corrections]
  if (!runs) return [...buildStage('tools'), ...source]
  const caches = projectCaches(
    // A colon divides them.
    [...PROJECT_CACHES, ...(framework?.caches ?? [])]
      .map((path) => posix.join(build.folder, path))
      .filter((path) => !path.includes(':')),
  )
  const stage = shippedStage(build)
  const isElsewhere = stage === 'production' && manager.movesPackages
  const mayLackPackages = installation.needsSource
  const taking = shipsPackages(build) ? takeChanges(mayLackPackages ? stage : null, isElsewhere) : null
  return [
    ...buildStage('packages', 'build'),
    ...source,
    `ENV PATH=${pathOf(build)}`,
    ...environmentOf(build.buildEnvironment),
    caches.line,
    ...(taking === null ? [] : [taking.line]),
    ...buildCommandSteps(commandOf(build), settings, [
      manager.cache,
      ...caches.mounts,
      ...(taking?.mounts ?? []),
    ]),
  ]
}

/** Joins the commands of the build. A user's own is written for the package's folder, and may be any list. */
function commandOf(build: NodeBuild): string | null {
  const { installation, manager, generation, buildCommand, folder, isGivenBuild } = build
  const isElsewhere = isGivenBuild && folder !== ''
  const before = [
    installation.needsSource ? manager.reinstall : null,
    generation,
    isElsewhere ? `cd ${quoted(folder)}` : null,
  ].filter((command) => command !== null)
  const after = standaloneFiles(build)
  const isAlone = before.length === 0 && after === null
  const isList = buildCommand !== null && isGivenBuild && /[|;\n#]/.test(buildCommand)
  const own = isList && !isAlone ? `(${buildCommand}\n)` : buildCommand
  return inOrder([...before, own, after].filter((command) => command !== null))
}

/**
 * Next's standalone server serves only files next to it, and keeps the folder structure of a workspace (Next.js, "output").
 */
function standaloneFiles({ framework, folder, isSite }: NodeBuild): string | null {
  if (framework?.output !== '.next/standalone' || isSite) return null
  const place = quoted(posix.join('/app', folder))
  const target = quoted(posix.join('/app', folder, '.next/standalone', folder))
  return `cp -r ${place}/.next/static ${target}/.next/ && if [ -d ${place}/public ]; then cp -r ${place}/public ${target}/; fi`
}

function takeOutput(build: NodeBuild): string {
  const output = build.framework!.output!
  const place = posix.join(workdirOf(build), output)
  return takeApp(place, 'build', output === '.next/standalone' ? '/app' : place)
}
