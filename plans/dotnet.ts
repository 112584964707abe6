import { posix } from 'node:path'
import { DOTNET_MAJORS, nearestImage } from './base-images.ts'
import { choose } from './choices.ts'
import { firstPin, inManifest, inToolFiles } from './pins.ts'
import { choosePlace, EVERY_LINE, type Reach } from './place.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from './plan.ts'
import { withoutXmlComments } from './source/comments.ts'
import { mayListen } from './source/listening.ts'
import { findInLines } from './source/text.ts'
import type { Tree } from './source/tree.ts'
import { UNKNOWN_PROGRAM, type Proposal } from './start.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  installPackages,
  lastStage,
  takeApp,
  textOf,
} from './steps.ts'

/** Programs of .NET: ASP.NET, Blazor, workers. */
export const dotnet: LanguagePlan = {
  name: 'dotnet',
  lookedFor: '*.csproj',
  detect: async (tree) => (await projectsOf(tree)).length > 0,
  plan: planDotnet,
}

const DEFAULT_MAJOR = 9
const CACHES = ['/root/.nuget/packages']
/**
 * The output is below the project's folder, as on Heroku, so that the lines of a Procfile find it (Heroku, ".NET Behavior").
 */
const OUTPUT = 'bin/publish'

/** How many names fit into a note. */
const SHOWN_PROJECTS = 5

/** How many folders are searched for projects, below the root and below `src/`. */
const MAX_FOLDERS = 50

const PROJECT_FILE = /^[\w.-]+\.(?:csproj|fsproj|vbproj)$/

interface DotnetProject {
  path: string
  text: string
  kind: 'web' | 'browser' | 'worker' | 'program' | 'desktop' | 'library'
}

async function planDotnet(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const projects = await projectsOf(tree)
  const project = projects[0]!
  const others = projects.filter(({ kind }) => kind === project.kind).slice(1, 1 + SHOWN_PROJECTS)
  if (others.length > 0) {
    notes.push(
      `building ${project.path} rather than ${others.map(({ path }) => path).join(', ')}: set build_command and start_command for another`,
    )
  }
  const place = await choosePlace(tree, whole, notes, reachOf(projects))
  const above = place.above === null ? null : whole!.tree.folder(place.above)
  const major = await chooseMajor(tree, above, project, notes)
  const isBrowser = project.kind === 'browser'
  const output = posix.join(posix.dirname(project.path), OUTPUT)
  const isOwnBuild = settings.buildCommand === null
  const { start, facts, aptPackages } = await choose(tree, settings, notes, {
    proposal: isOwnBuild ? proposalOf(project, output) : null,
    advice: UNKNOWN_PROGRAM,
    build: () => `dotnet publish ${project.path} -c Release -p:PublishDir=${OUTPUT}/`,
  })
  const needsWebRuntime = project.kind === 'web' || project.kind === 'browser'
  const dockerfile = [
    ...buildStage(baseImage(settings, `mcr.microsoft.com/dotnet/sdk:${major}.0`)),
    ...installPackages(aptPackages),
    'ENV DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1',
    ...place.source,
    ...buildCommandSteps(facts.buildCommand, settings, CACHES),
    ...lastStage(facts, {
      image: baseImage(
        settings,
        `mcr.microsoft.com/dotnet/${needsWebRuntime ? 'aspnet' : 'runtime'}:${major}.0`,
      ),
      packages: aptPackages,
      workdir: place.directory,
      content: [isOwnBuild && start.isProposed ? takeApp(posix.join(place.directory, output)) : takeApp()],
    }),
  ]
  return {
    ...facts,
    version: `${major}.0`,
    framework: isBrowser ? 'blazor' : project.kind === 'web' ? 'aspnet' : null,
    packageManager: 'nuget',
    publishDirectory: isBrowser ? `${output}/wwwroot` : null,
    singlePage: isBrowser,
    isWorker: await isWorker(tree, project),
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: place.needsWhole,
    ignore: ['.git', '**/bin', '**/obj'],
    notes: [`.NET ${major}.0`, ...notes],
  }
}

/** How a project is started, or why it is not. */
function proposalOf(project: DotnetProject, output: string): Proposal {
  const { path, kind, text } = project
  if (kind === 'browser') return { site: true }
  if (text.includes('<AzureFunctionsVersion>')) {
    return {
      obstacle: `${path} is for Azure Functions, whose host starts it: add a Dockerfile on an image of that host, or set root_dir to a program that serves`,
    }
  }
  if (kind === 'desktop') {
    return {
      obstacle: `${path} is a program for desktops (OutputType WinExe): set root_dir to one that serves`,
    }
  }
  // ASP.NET looks for settings and files for browsers in the working directory (ASP.NET Core, "Content root").
  const address = kind === 'web' ? 'ASPNETCORE_URLS=http://0.0.0.0:$PORT ' : ''
  return { command: `cd ${output} && ${address}dotnet ${assemblyOf(project)}.dll` }
}

/** Returns the projects of a tree that can be run, servers first; libraries and tests are left out. */
async function projectsOf(tree: Tree): Promise<DotnetProject[]> {
  const projects: DotnetProject[] = []
  for (const folder of await foldersOf(tree)) {
    for (const name of await tree.list(folder === '' ? '.' : folder)) {
      if (!PROJECT_FILE.test(name)) continue
      const path = `${folder}${name}`
      const text = withoutXmlComments((await tree.readText(path)) ?? '')
      projects.push({ path, text, kind: kindOf(text) })
    }
    // Those in the root come before those below it.
    if (folder === '' && projects.some(({ kind }) => kind !== 'library')) break
  }
  const order: DotnetProject['kind'][] = ['web', 'browser', 'worker', 'program', 'desktop']
  return projects
    .filter(({ kind }) => kind !== 'library')
    .toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || rankOf(a) - rankOf(b))
}

/** Of several servers, the one with pages comes before APIs. */
function rankOf({ path }: DotnetProject): number {
  const name = posix
    .basename(path)
    .toLowerCase()
    .replace(/\.\w+$/, '')
  const rank = ['web', 'site', 'server', 'app', 'api'].findIndex((word) => name.endsWith(word))
  return rank === -1 ? USUAL : rank
}

/** After the top-level names, before those of parts of a program. */
const USUAL = 3.5

/** Returns the root and, when there is a solution, the folders below it and below `src/`. */
async function foldersOf(tree: Tree): Promise<string[]> {
  const names = await tree.list('.')
  if (!names.some((name) => /\.slnx?$/.test(name))) return ['']
  const below = [...names, ...(await tree.list('src')).map((name) => `src/${name}`)]
  return ['', ...below.filter((name) => /^(?:[\w.-]+\/)+$/.test(name)).slice(0, MAX_FOLDERS)]
}

function kindOf(text: string): DotnetProject['kind'] {
  const sdk = /<Project\s+Sdk="([\w.]+)/.exec(text)?.[1] ?? ''
  if (sdk === 'Microsoft.NET.Sdk.Web') return 'web'
  if (sdk === 'Microsoft.NET.Sdk.BlazorWebAssembly') return 'browser'
  if (sdk === 'Microsoft.NET.Sdk.Worker') return 'worker'
  if (!/<OutputType>\s*(?:Win)?Exe\s*</.test(text) || text.includes('Microsoft.NET.Test.Sdk'))
    return 'library'
  // A project of both kinds states under which condition it is which.
  return />\s*Exe\s*<|Microsoft\.AspNetCore\./.test(text) ? 'program' : 'desktop'
}

/** Packages for bots, which open their connections themselves. */
const BOTS = /"(?:DSharpPlus|Discord\.Net|NetCord|Telegram\.Bot|Remora\.Discord)(?:\.[\w.]+)?"/

/** Packages for servers, and calls that listen without one. */
const SERVERS = /\bMicrosoft\.AspNetCore\.|"(?:EmbedIO|Watson|Grapevine|NetCoreServer|GenHTTP)\b/
const LISTENING = /\b(?:Http|Tcp)Listener\b|\bWebApplication\b|\bWebHost\b|\bUseKestrel\b|\bWebServer\(/

/** Whether a program takes no requests: a worker service or a bot. */
async function isWorker(tree: Tree, { kind, text }: DotnetProject): Promise<boolean> {
  if (SERVERS.test(text) || !(kind === 'worker' || (kind === 'program' && BOTS.test(text)))) return false
  return !(await mayListen(tree, /\.(?:cs|fs|vb)$/, LISTENING))
}

/** Whether a tree's program is a .NET bot; also asked about trees that are not built by a plan. */
export async function isDotnetBot(tree: Tree): Promise<boolean> {
  const [project] = await projectsOf(tree)
  return project !== undefined && BOTS.test(project.text) && (await isWorker(tree, project))
}

function assemblyOf({ path, text }: DotnetProject): string {
  const named = /<AssemblyName>\s*([\w.-]+)\s*</.exec(text)?.[1]
  return (
    named ??
    path
      .split('/')
      .at(-1)!
      .replace(/\.\w+$/, '')
  )
}

/** Files that MSBuild and NuGet look for in all folders above a project (MSBuild, "Customize by folder"; NuGet.Config). */
const ABOVE = [
  'Directory.Build.props',
  'Directory.Build.targets',
  'Directory.Packages.props',
  'NuGet.Config',
  'NuGet.config',
  'nuget.config',
  'global.json',
]

function reachOf(projects: readonly DotnetProject[]): Reach {
  return {
    manifests: Object.fromEntries(projects.map(({ path }) => [path, EVERY_LINE])),
    above: ABOVE,
    // The version of the SDK is not part of what the build reads.
    isFor: (text) => !text.startsWith('{') || text.includes('"msbuild-sdks"'),
  }
}

/**
 * Returns the target framework of the project, on which the program runs; the SDK's own version only where there is none.
 */
async function chooseMajor(
  tree: Tree,
  above: Tree | null,
  { path, text }: DotnetProject,
  notes: string[],
): Promise<number> {
  const global = (await tree.readText('global.json')) ?? ''
  const shared = 'Directory.Build.props'
  const properties = (await tree.readText(shared)) ?? (await above?.readText(shared)) ?? ''
  const target = /<TargetFrameworks?>\s*net(\d+)\.\d/
  const pin = await firstPin([
    inManifest(target.exec(text)?.[1], path),
    inManifest(target.exec(properties)?.[1], shared),
    inManifest(findInLines(global, /"version"\s*:\s*"(\d+)\./), 'global.json'),
    inToolFiles(tree, ['dotnet', 'dotnet-core']),
  ])
  const wanted = /^(\d+)/.exec(pin?.text ?? '')?.[1]
  if (pin === null || wanted === undefined) return DEFAULT_MAJOR
  const write = (major: number): string => `${major}.0`
  return nearestImage(
    Number(wanted),
    pin,
    { language: '.NET', available: DOTNET_MAJORS, reach: 1, write },
    notes,
  )
}
