import { posix } from 'node:path'
import type { PlanSettings } from '../plan.ts'
import { installBrowser } from '../playwright.ts'
import {
  buildCommandSteps,
  buildStage,
  finalStage,
  installPackages,
  siteStage,
  step,
  takeApp,
  type Mount,
} from '../steps.ts'
import type { Framework } from './frameworks.ts'
import type { Installation } from './installation.ts'
import type { PackageManager } from './managers.ts'
import type { SystemPackages } from './system-packages.ts'

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
  /** Folders with packages of their own, except the root. */
  needed: string[]
  framework: Framework | null
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
  /** Whether the package manager runs in the image. */
  needsManager: boolean
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
  const { installation, manager, settings } = build
  const tools = [
    `FROM ${build.fullImage} AS tools`,
    ...installPackages([...build.system.build, ...build.aptPackages]),
    ...build.runtimeLines,
    ...managerSteps(manager),
    ...environmentOf({ ...manager.environment, ...build.system.environment }),
  ]
  const stages = installation.changesPackages ? wholeStages(build) : partedStages(build)
  if (build.isSite) return [...tools, ...stages, ...siteStage(workdirOf(build))]
  const browser = build.usesPlaywright ? installBrowser('node_modules/.bin/playwright') : []
  const content = build.isSelfContained
    ? [takeOutput(build)]
    : installation.changesPackages
      ? [takeApp(), ...browser]
      : [takeApp('/app', productionStage(build)), ...browser, takeApp()]
  return [
    ...tools,
    ...stages,
    ...finalStage({
      image: build.slimImage,
      packages: [...build.system.run, ...build.aptPackages],
      content: [
        ...(build.needsManager ? managerSteps(manager) : []),
        ...globally(build.program),
        ...content,
        `ENV NODE_ENV=production PATH=${pathOf(build)}:$PATH ${SCRIPT_SHELL}`,
        ...environmentOf(build.system.environment),
      ],
      startCommand: build.startCommand,
      workdir: workdirOf(build),
    }),
  ]

  function managerSteps({ globalPackage }: PackageManager): string[] {
    return globally(globalPackage)
  }

  function globally(name: string | null): string[] {
    if (name === null) return []
    return [
      `RUN --mount=type=cache,id=${settings.cacheScope}/root/.npm,target=/root/.npm npm install --global --force --no-audit --no-fund --no-update-notifier ${name}`,
    ]
  }
}

function environmentOf(environment: Record<string, string>): string[] {
  return Object.entries(environment).map(([key, value]) => `ENV ${key}=${value}`)
}

function workdirOf({ folder }: NodeBuild): string {
  return posix.join('/app', folder)
}

function pathOf({ folder }: NodeBuild): string {
  const places = folder === '' ? ['/app'] : [`/app/${folder}`, '/app']
  return places.map((place) => `${place}/node_modules/.bin`).join(':')
}

/** Returns the folders of installed packages, which the build can see. */
function packageFolders({ needed }: NodeBuild): string[] {
  return ['', ...needed].map((folder) => posix.join('/app', folder, 'node_modules'))
}

/**
 * Packages for the build and packages for the image are installed in separate stages: the build only mounts the first, so
 * its stage contains only code, and a change of the code affects neither.
 */
function partedStages(build: NodeBuild): string[] {
  const { manager, settings } = build
  const folders = packageFolders(build)
  const hasBuild = commandsOf(build).length > 0
  const stages: string[] = []
  const usesDevelopment = hasBuild || productionStage(build) === 'packages'
  if (usesDevelopment) stages.push(...installStage('packages', manager.install))
  if (!build.isSite && !build.isSelfContained && productionStage(build) === 'production') {
    stages.push(...installStage('production', manager.installProduction!))
  }
  const mounts = folders.map((folder): Mount => ({ stage: 'packages', folder }))
  return [
    ...stages,
    ...buildStage('tools'),
    'COPY source/ ./',
    ...(hasBuild ? buildLines(build, mounts) : []),
  ]

  function installStage(name: string, install: string): string[] {
    // The build mounts each of these folders, and not every package has one.
    const all = `${install} && mkdir -p ${folders.join(' ')}`
    return [...buildStage('tools', name), ...build.installation.copies, step(all, settings, [manager.cache])]
  }
}

/**
 * Returns the stage that the image's packages come from: without development dependencies, unless the program needs them.
 */
function productionStage({ keepsDevelopment, manager }: NodeBuild): 'packages' | 'production' {
  return keepsDevelopment || manager.installProduction === null ? 'packages' : 'production'
}

/**
 * Scripts of the project change its packages: everything happens in one stage, and what only the build needs is removed
 * afterwards.
 */
function wholeStages(build: NodeBuild): string[] {
  const { manager, settings } = build
  const prune = build.keepsDevelopment || build.isSite || build.needed.length > 0 ? null : manager.prune
  return [
    ...buildStage('tools'),
    ...build.installation.copies,
    step(manager.install, settings, [manager.cache]),
    'COPY source/ ./',
    ...buildLines(build, []),
    ...(prune === null ? [] : [step(prune, settings, [manager.cache])]),
  ]
}

/** Returns what the build runs: the project's installation scripts, and the build command. */
function commandsOf({ installation, buildCommand }: NodeBuild): string[] {
  return [...installation.scripts, ...(buildCommand === null ? [] : [buildCommand])]
}

function buildLines(build: NodeBuild, mounts: Mount[]): string[] {
  const { settings, framework, manager, folder, installation } = build
  const caches = [...PROJECT_CACHES, ...(framework?.caches ?? [])].map((path) =>
    posix.join('/app', folder, path),
  )
  const all = [manager.cache, ...new Set(caches), ...mounts]
  const run = (commands: string[]): string[] =>
    commands.length === 0 ? [] : buildCommandSteps(commands.join(' && '), settings, all)
  const completion = completionOf(build)
  // A user's own command is written for the package's own folder.
  const isElsewhere = folder !== '' && build.isGivenBuild
  return [
    `ENV NODE_ENV=production PATH=${pathOf(build)}:$PATH`,
    ...environmentOf(build.buildEnvironment),
    ...(isElsewhere
      ? [...run(installation.scripts), `WORKDIR ${workdirOf(build)}`, ...run([build.buildCommand!])]
      : run(commandsOf(build))),
    ...(completion === null ? [] : [step(completion, settings)]),
  ]
}

/**
 * Next's standalone server serves only files next to it, and keeps the folder structure of a workspace (Next.js, "output").
 */
function completionOf({ framework, folder, isSite }: NodeBuild): string | null {
  if (framework?.output !== '.next/standalone' || isSite) return null
  const place = posix.join('/app', folder)
  const target = posix.join(place, '.next/standalone', folder)
  return `cp -r ${place}/.next/static ${target}/.next/ && if [ -d ${place}/public ]; then cp -r ${place}/public ${target}/; fi`
}

function takeOutput(build: NodeBuild): string {
  const output = build.framework!.output!
  const place = posix.join(workdirOf(build), output)
  return takeApp(place, 'build', output === '.next/standalone' ? '/app' : place)
}
