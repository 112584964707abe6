import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { findInLines, hasLine, linesOf } from '../text.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { runOf } from './start.ts'
import { procfileCommand } from './procfile.ts'
import { baseImage, buildCommandSteps, buildStage, finalStage, step, takeApp } from './steps.ts'

/** Go modules. */
export const go: LanguagePlan = {
  name: 'go',
  lookedFor: 'go.mod',
  detect: (tree) => tree.hasFile('go.mod'),
  plan: makePlan,
}

/** For modules that want none, or one before the first with an image on Debian 12. */
const CURRENT_MINOR = 25
const OLDEST_MINOR = 19

const CACHES = ['/go/pkg/mod', '/root/.cache/go-build']
const PROGRAM = '/app/bin/server'

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const module = (await tree.readText('go.mod')) ?? ''
  const minor = minorOf(module)
  const notes: string[] = []
  const image = baseImage(settings, `golang:1.${minor}-bookworm`)
  const given = settings.startCommand ?? (await procfileCommand(tree, settings, notes))
  const build = settings.buildCommand ?? (await ownBuild(tree, module, notes))
  if (settings.buildCommand !== null && given === null && settings.processType !== 'static') {
    throw new BuildFailure(
      'build_command is set, so nothing says what it makes: set start_command to the program',
    )
  }
  const startCommand = settings.processType === 'static' ? 'true' : (given ?? PROGRAM)
  const sums = (await tree.hasFile('go.sum')) ? ' source/go.sum' : ''
  const isVendored = await tree.hasFolder('vendor')
  const isWorkspace = (await tree.hasFile('go.work')) || replacesByFolder(module)
  const download =
    isVendored || isWorkspace
      ? []
      : [`COPY source/go.mod${sums} ./`, step('go mod download', settings, CACHES)]
  const dockerfile = [
    ...buildStage(image),
    ...download,
    'COPY source/ ./',
    ...buildCommandSteps(build, settings, CACHES),
    ...finalStage(
      baseImage(settings, 'debian:bookworm-slim'),
      [
        'COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/',
        takeApp(),
        'ENV PATH=/app/bin:$PATH',
      ],
      startCommand,
    ),
  ]
  return {
    ...NOTHING_KNOWN,
    ...runOf(settings, startCommand),
    version: `1.${minor}`,
    installCommand: download.length === 0 ? null : 'go mod download',
    buildCommand: build,
    dockerfile: `${dockerfile.join('\n')}\n`,
    needsWhole: false,
    publishDirectory: null,
    ignore: ['.git'],
    notes: [`go 1.${minor}`, ...notes],
  }
}

/** The version by the lines `toolchain` and `go` (Go modules reference, "go directive"); newer ones build older modules. */
function minorOf(module: string): number {
  const wanted = findInLines(module, /^toolchain[ \t]+go1\.(\d+)/) ?? findInLines(module, /^go[ \t]+1\.(\d+)/)
  const minor = Number(wanted ?? 0)
  return minor < OLDEST_MINOR ? CURRENT_MINOR : minor
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

async function ownBuild(tree: Tree, module: string, notes: string[]): Promise<string> {
  const path = await findMain(tree, module)
  notes.push(`building the package ${path}`)
  return `go build -trimpath -o ${PROGRAM} ${path}`
}

/** The package with the program: the root, else the one below `cmd/`, or the one there with the module's or a usual name. */
async function findMain(tree: Tree, module: string): Promise<string> {
  if (await isMain(tree, '.')) return '.'
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
  if (chosen !== undefined) return `./cmd/${chosen}`
  if (names.length > 1) {
    throw new BuildFailure(
      `there are several programs below cmd/ (${names.join(', ')}): set build_command, such as "go build -o bin/server ./cmd/${names[0]}", and start_command "bin/server"`,
    )
  }
  throw new BuildFailure(
    'there is no package main in the root or below cmd/: add one, or set build_command and start_command',
  )
}

async function isMain(tree: Tree, folder: string): Promise<boolean> {
  for (const name of await tree.list(folder)) {
    if (!name.endsWith('.go') || name.endsWith('_test.go')) continue
    const text = (await tree.readText(`${folder}/${name}`)) ?? ''
    if (hasLine(text, /^package main\b/) && !hasLine(text, /^\/\/go:build ignore\b/)) return true
  }
  return false
}
