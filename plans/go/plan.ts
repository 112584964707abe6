import { posix } from 'node:path'
import { GO_MINORS, nearestImage } from '../base-images.ts'
import { choose, inOrder } from '../choices.ts'
import { generatorOf } from '../generators.ts'
import { firstPin, inFiles, inManifest, inToolFiles } from '../pins.ts'
import { choosePlace, EVERY_LINE, type Reach } from '../place.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from '../plan.ts'
import { onlyProgram } from '../programs.ts'
import { findInLines, hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { UNKNOWN_PROGRAM } from '../start.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  installPackages,
  lastStage,
  TAKE_CERTIFICATES,
  takeApp,
  textOf,
} from '../steps.ts'
import { readGoAssets } from './embedded.ts'
import { modulesOf } from './workspace.ts'

/** Go modules. */
export const go: LanguagePlan = {
  name: 'go',
  lookedFor: 'go.mod',
  detect: async (tree) =>
    ((await tree.hasFile('go.mod')) ||
      (await tree.hasFile('go.work')) ||
      ((await tree.hasFile('main.go')) && !(await tree.hasFile('package.json')))) &&
    // Themes of Hugo are modules too (gohugo.io, "Hugo Modules").
    ((await generatorOf(tree)) === null || (await programsIn(tree, '')).length > 0),
  yields: isTooling,
  plan: planGo,
}

/**
 * A requirement of the module itself; `go get -tool` marks those of tools as indirect (Go modules reference, "go.mod
 * files").
 */
const DIRECT = /^(?:require\s+|\s+)[^\s/]\S*\s+v\d\S*\s*(?:$|\/\/(?!\s*indirect\b))/

/**
 * Whether a module exists only to name tools for the developers of another project (Go modules reference, "tool directive").
 */
async function isTooling(tree: Tree, { buildCommand }: Pick<PlanSettings, 'buildCommand'>): Promise<boolean> {
  if (/\bgo\b/.test(buildCommand ?? '')) return false
  const module = (await tree.readText('go.mod')) ?? ''
  if (!hasLine(module, /^tool[ \t(]/) || hasLine(module, DIRECT) || herokuPackages(module) !== null)
    return false
  for (const file of ['go.work', 'Procfile']) if (await tree.hasFile(file)) return false
  return (await programsOf(tree, '')).length === 0
}

/** For modules that state no version, or one before the first with an image on Debian 12. */
const CURRENT_MINOR = 25
/** Go itself fetches toolchains newer than any image (go.dev, "Go Toolchains"). */
const REACH = 5

const CACHES = ['/go/pkg/mod', '/root/.cache/go-build']

async function planGo(tree: Tree, settings: PlanSettings, whole: WholeSource | null): Promise<PlannedBuild> {
  const module = (await tree.readText('go.mod')) ?? ''
  const workspace = await tree.readText('go.work')
  const isBare = module === '' && workspace === null
  const notes: string[] = []
  const place = await choosePlace(tree, whole, notes, reachOf(workspace ?? ''))
  // All programs are built under their own names, as on Heroku, so that the lines of a Procfile find them (Heroku, "Go
  // support").
  const binaries = `${place.directory}/bin`
  const server = `${binaries}/server`
  const minor = await chooseMinor(tree, module, workspace ?? '', notes)
  const programs = settings.buildCommand === null ? await programsOf(tree, workspace ?? '') : []
  const path = standingOut(programs, module)
  const advice = settings.buildCommand === null ? adviceFor(programs) : UNKNOWN_PROGRAM
  const { facts, aptPackages } = await choose(tree, settings, notes, {
    proposal: path === null ? null : { command: server },
    advice,
    build: ({ startCommand, isProposed }) =>
      isProposed || (path !== null && /^(?:\S*\/)?server(?:\s|$)/.test(startCommand ?? ''))
        ? buildOf(server, path === null ? [] : [path], isBare)
        : buildOf(`${binaries}/`, herokuPackages(module) ?? programs, isBare),
  })
  const assets = await readGoAssets(tree, settings, programs, notes)
  const commands = [...assets.commands, ...(facts.buildCommand === null ? [] : [facts.buildCommand])]
  const dockerfile = [
    ...assets.stages,
    ...buildStage(baseImage(settings, `golang:1.${minor}-bookworm`)),
    ...installPackages(aptPackages),
    // The official images stay on their own version, whatever a module asks for.
    'ENV GOTOOLCHAIN=auto',
    ...place.source,
    ...assets.lines,
    ...buildCommandSteps(inOrder(commands), settings, [...CACHES, ...assets.mounts]),
    ...lastStage(facts, {
      image: baseImage(settings, 'debian:bookworm-slim'),
      packages: aptPackages,
      workdir: place.directory,
      content: [TAKE_CERTIFICATES, takeApp(), `ENV PATH=${binaries}:$PATH`],
    }),
  ]
  return {
    ...facts,
    version: `1.${minor}`,
    framework: frameworkOf(module),
    packageManager: 'go',
    dockerfile: textOf(dockerfile),
    manifests: assets.manifests,
    needsWhole: place.needsWhole,
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

/**
 * Returns the version by the lines `toolchain` and `go` (Go modules reference, "go directive"); newer versions build older
 * modules.
 */
async function chooseMinor(tree: Tree, module: string, workspace: string, notes: string[]): Promise<number> {
  const pin = await firstPin([
    inManifest(findInLines(module, /^toolchain[ \t]+go(1\.\d+)/), 'the toolchain of go.mod'),
    inFiles(tree, ['.go-version']),
    inToolFiles(tree, ['golang', 'go']),
    inManifest(findInLines(module, /^go[ \t]+(1\.\d+)/), 'go.mod'),
    inManifest(findInLines(workspace, /^go[ \t]+(1\.\d+)/), 'go.work'),
  ])
  const minor = Number(/^(?:go)?1\.(\d+)/.exec(pin?.text ?? '')?.[1] ?? 0)
  if (pin === null || minor < GO_MINORS[0]!) return CURRENT_MINOR
  const write = (each: number): string => `1.${each}`
  return nearestImage(minor, pin, { language: 'go', available: GO_MINORS, reach: REACH, write }, notes)
}

/** Modules that others replace may be anywhere, and a go.work is found from below (Go modules reference, "Workspaces"). */
function reachOf(workspace: string): Reach {
  const modules = modulesOf(workspace).map((folder) => `${folder}/go.mod`)
  return {
    manifests: Object.fromEntries(['go.work', 'go.mod', ...modules].map((file) => [file, EVERY_LINE])),
    above: ['go.work'],
    hasAssets: true,
    isFor: (text, below) => modulesOf(text).includes(below),
  }
}

/** How many programs one command builds; a Procfile starts no more than that. */
const MAX_PACKAGES = 50

/** Returns the command that builds packages; a program without a module gets one first, as people do by hand. */
function buildOf(output: string, packages: readonly string[], isBare: boolean): string | null {
  if (packages.length === 0) return null
  const build = `go build -trimpath -o ${output} ${packages.slice(0, MAX_PACKAGES).join(' ')}`
  return isBare ? `go mod init app && go mod tidy && ${build}` : build
}

/** Returns the packages that a comment of go.mod tells Heroku to install (Heroku, "Go apps with modules"). */
function herokuPackages(module: string): string[] | null {
  const words =
    findInLines(module, /^\/\/ \+heroku install (.+)$/)
      ?.trim()
      .split(/\s+/) ?? []
  return words.length > 0 && words.every((word) => /^\.[\w./-]*$/.test(word)) ? words : null
}

/** How many names fit into a message. */
const SHOWN_PROGRAMS = 10

/** Returns the packages with a program: the root, else those of the folders of a workspace and of `cmd/`. */
async function programsOf(tree: Tree, workspace: string): Promise<string[]> {
  const packages: string[] = []
  const folders = ['', ...modulesOf(workspace)]
  for (const folder of folders) packages.push(...(await programsIn(tree, folder)))
  if (packages.some((path) => !NO_PROGRAMS.test(`${posix.basename(path)}/`))) return packages
  const own = folders.map((folder) => `./${posix.join(folder, 'cmd')}`)
  for (const path of own.toReversed()) if (await isMain(tree, path)) packages.unshift(path)
  return packages.length > 0 || !(await tree.hasFile('go.mod')) ? packages : await programsBeside(tree)
}

/** How many folders of the root are searched; a choice of more would not help. */
const MAX_FOLDERS = 40

/** Folders with tools for developers, examples or third-party code. */
const NO_PROGRAMS =
  /^(?:[._].*|vendor|internal|testdata|third_party|(?:docs?|tests?|e2e|examples?|samples?|demos?|tools?|scripts?|hack|bench\w*|migrat\w*|gen|wasm)\/)/i

/** Returns the folders directly below the root that hold a program of its module. */
async function programsBeside(tree: Tree): Promise<string[]> {
  const folders = (await tree.list('.')).filter((name) => /^[\w.-]+\/$/.test(name) && !NO_PROGRAMS.test(name))
  const found: string[] = []
  for (const name of folders.slice(0, MAX_FOLDERS)) {
    const path = `./${name.slice(0, -1)}`
    if (!(await tree.hasFile(`${path}/go.mod`)) && (await isMain(tree, path))) found.push(path)
  }
  return found
}

/** Returns the package with the program that serves, where one stands out. */
function standingOut(packages: readonly string[], module: string): string | null {
  if (packages.includes('.')) return '.'
  if (packages.length === 1) return packages[0]!
  const names = packages.map(nameOf)
  const moduleName = findInLines(module, /^module[ \t]+"?([^\s"]+)/)
    ?.replace(/\/v\d+$/, '')
    .split('/')
    .at(-1)
  const name = onlyProgram(names, moduleName)
  const named = packages.filter((_path, index) => names[index] === name)
  return named.length === 1 ? named[0]! : null
}

/** Returns the name of a program: a folder named `cmd` takes the name of the program around it. */
function nameOf(path: string): string {
  const name = posix.basename(path)
  return name === 'cmd' && path !== './cmd' ? posix.basename(posix.dirname(path)) : name
}

function adviceFor(packages: readonly string[]): string {
  if (packages.length === 0) {
    return 'there is no package main in the root or below cmd/: add one, or set build_command'
  }
  const shown = packages.slice(0, SHOWN_PROGRAMS).join(', ')
  return `there are several programs (${shown}): set build_command, such as "go build -o bin/server ${packages[0]}", and start_command "bin/server"`
}

/** Returns the packages with a program in a module's folder: the folder itself, and those below its `cmd/`. */
async function programsIn(tree: Tree, folder: string): Promise<string[]> {
  const own = folder === '' ? '.' : `./${folder}`
  if (await isMain(tree, own)) return [own]
  const found: string[] = []
  for (const name of await tree.list(`${own}/cmd`)) {
    const path = `${own}/cmd/${name.slice(0, -1)}`
    if (/^[\w.-]+\/$/.test(name) && (await isMain(tree, path))) found.push(path)
  }
  return found
}

/**
 * Marks a file that is run by hand, such as a code generator; the second form is the older one (go.dev, "Build
 * constraints").
 */
const IGNORED = /^\/\/(?:go:build|\s*\+build)\s+ignore\b/

async function isMain(tree: Tree, folder: string): Promise<boolean> {
  for (const name of await tree.list(folder)) {
    if (!name.endsWith('.go') || name.endsWith('_test.go')) continue
    // Generated files may be too large to read in full.
    const text = (await tree.readHead(`${folder}/${name}`)) ?? ''
    if (hasLine(text, /^package main\b/) && !hasLine(text, IGNORED)) return true
  }
  return false
}
