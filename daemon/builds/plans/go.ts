import type { Tree } from '../../sources/tree.ts'
import { findInLines, hasLine, linesOf } from '../text.ts'
import { aptPackagesOf } from './apt.ts'
import { GO_MINORS, nearestImage } from './base-images.ts'
import { readAssets } from './node/assets.ts'
import { firstPin, inFiles, inManifest, inToolFiles } from './pins.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { chooseStart, UNKNOWN_PROGRAM } from './start.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  finalStage,
  installPackages,
  siteStage,
  step,
  TAKE_CERTIFICATES,
  takeApp,
  textOf,
} from './steps.ts'

/** Go modules. */
export const go: LanguagePlan = {
  name: 'go',
  lookedFor: 'go.mod',
  detect: (tree) => tree.hasFile('go.mod'),
  plan: makePlan,
}

/** For modules that want none, or one before the first with an image on Debian 12. */
const CURRENT_MINOR = 25
/** Newer toolchains than any image has are fetched by Go itself (go.dev, "Go Toolchains"). */
const REACH = 5

const CACHES = ['/go/pkg/mod', '/root/.cache/go-build']
const PROGRAM = '/app/bin/server'

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const module = (await tree.readText('go.mod')) ?? ''
  const notes: string[] = []
  const minor = await chooseMinor(tree, module, notes)
  const found = settings.buildCommand === null ? await findMain(tree, module) : null
  const isProgram = found !== null && 'path' in found
  const advice = found === null ? UNKNOWN_PROGRAM : 'obstacle' in found ? found.obstacle : ''
  const start = await chooseStart(tree, settings, notes, isProgram ? { command: PROGRAM } : null, advice)
  const buildCommand =
    settings.buildCommand ?? (isProgram ? `go build -trimpath -o ${PROGRAM} ${found.path}` : null)
  if (buildCommand !== null) notes.push(`building with: ${buildCommand}`)
  const assets = await readAssets(tree, settings, notes)
  const aptPackages = await aptPackagesOf(tree, settings, notes)
  const sums = (await tree.hasFile('go.sum')) ? ' source/go.sum' : ''
  const isVendored = await tree.hasFolder('vendor')
  const isWorkspace = (await tree.hasFile('go.work')) || replacesByFolder(module)
  const download =
    isVendored || isWorkspace
      ? []
      : [`COPY source/go.mod${sums} ./`, step('go mod download', settings, CACHES)]
  const commands = [...assets.commands, ...(buildCommand === null ? [] : [buildCommand])].join(' && ')
  const dockerfile = [
    ...assets.stages,
    ...buildStage(baseImage(settings, `golang:1.${minor}-bookworm`)),
    ...installPackages(aptPackages),
    // The official images keep to their own version, whatever a module asks for.
    'ENV GOTOOLCHAIN=auto',
    ...download,
    'COPY source/ ./',
    ...assets.lines,
    ...(commands === '' ? [] : buildCommandSteps(commands, settings, [...CACHES, ...assets.mounts])),
    ...(start.isSite
      ? siteStage()
      : finalStage({
          image: baseImage(settings, 'debian:bookworm-slim'),
          packages: aptPackages,
          content: [TAKE_CERTIFICATES, takeApp(), 'ENV PATH=/app/bin:$PATH'],
          startCommand: start.startCommand,
        })),
  ]
  return {
    ...NOTHING_KNOWN,
    isSite: start.isSite,
    startCommand: start.startCommand,
    obstacle: start.obstacle,
    version: `1.${minor}`,
    framework: frameworkOf(module),
    packageManager: 'go',
    installCommand: download.length === 0 ? null : 'go mod download',
    buildCommand,
    aptPackages,
    dockerfile: textOf(dockerfile),
    manifests: assets.manifests,
    needsWhole: false,
    ignore: ['.git', '**/node_modules'],
    notes: [`go 1.${minor}`, ...notes],
  }
}

const FRAMEWORKS: [sign: string, framework: string][] = [
  ['github.com/gin-gonic/gin', 'gin'],
  ['github.com/gofiber/fiber', 'fiber'],
  ['github.com/labstack/echo', 'echo'],
  ['github.com/go-chi/chi', 'chi'],
  ['github.com/gobuffalo/buffalo', 'buffalo'],
]

function frameworkOf(module: string): string | null {
  return FRAMEWORKS.find(([sign]) => module.includes(sign))?.[1] ?? null
}

/** The version by the lines `toolchain` and `go` (Go modules reference, "go directive"); newer ones build older modules. */
async function chooseMinor(tree: Tree, module: string, notes: string[]): Promise<number> {
  const pin = await firstPin([
    inManifest(findInLines(module, /^toolchain[ \t]+go(1\.\d+)/), 'the toolchain of go.mod'),
    inFiles(tree, ['.go-version']),
    inToolFiles(tree, ['golang', 'go']),
    inManifest(findInLines(module, /^go[ \t]+(1\.\d+)/), 'go.mod'),
  ])
  const minor = Number(/^(?:go)?1\.(\d+)/.exec(pin?.text ?? '')?.[1] ?? 0)
  if (pin === null || minor < GO_MINORS[0]!) return CURRENT_MINOR
  const write = (each: number): string => `1.${each}`
  return nearestImage(minor, pin, { language: 'go', available: GO_MINORS, reach: REACH, write }, notes)
}

/** Whether a module is replaced by a folder of the tree, in a line or a block of `replace` (Go modules reference). */
function replacesByFolder(module: string): boolean {
  let replaces = false
  for (const line of linesOf(module)) {
    if (/^[ \t]*replace\s/.test(line)) replaces = true
    const [, replacement = ''] = line.split('=>', 2)
    if (replaces && /^\.{1,2}\//.test(replacement.trimStart())) return true
  }
  return false
}

/** As many names as fit into a message. */
const SHOWN_PROGRAMS = 10

/** The package with the program: the root, else the one below `cmd/`, or the one there with the module's or a usual name. */
async function findMain(tree: Tree, module: string): Promise<{ path: string } | { obstacle: string }> {
  if (await isMain(tree, '.')) return { path: '.' }
  const names: string[] = []
  for (const name of await tree.list('cmd')) {
    if (!/^[\w.-]+\/$/.test(name) || !(await isMain(tree, `cmd/${name}`))) continue
    names.push(name.slice(0, -1))
  }
  const moduleName = findInLines(module, /^module[ \t]+"?([^\s"]+)/)
    ?.replace(/\/v\d+$/, '')
    .split('/')
    .at(-1)
  const chosen =
    names.length === 1
      ? names[0]
      : [moduleName, 'server', 'web', 'api', 'app'].find((name) => name && names.includes(name))
  if (chosen !== undefined) return { path: `./cmd/${chosen}` }
  if (names.length > 1) {
    const shown = names.slice(0, SHOWN_PROGRAMS).join(', ')
    return {
      obstacle: `there are several programs below cmd/ (${shown}): set build_command, such as "go build -o bin/server ./cmd/${names[0]}", and start_command "bin/server"`,
    }
  }
  return {
    obstacle: 'there is no package main in the root or below cmd/: add one, or set build_command',
  }
}

async function isMain(tree: Tree, folder: string): Promise<boolean> {
  for (const name of await tree.list(folder)) {
    if (!name.endsWith('.go') || name.endsWith('_test.go')) continue
    const text = (await tree.readText(`${folder}/${name}`)) ?? ''
    if (hasLine(text, /^package main\b/) && !hasLine(text, /^\/\/go:build ignore\b/)) return true
  }
  return false
}
