import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { findInLines, linesOf } from '../text.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { runOf } from './start.ts'
import { procfileCommand } from './procfile.ts'
import { baseImage, buildCommandSteps, buildStage, finalStage, takeApp } from './steps.ts'

/** Programs built by Cargo. Extensions of Python and node have a Cargo.toml too. */
export const rust: LanguagePlan = {
  name: 'rust',
  lookedFor: 'Cargo.toml',
  detect: async (tree) =>
    (await tree.hasFile('Cargo.toml')) &&
    !(await tree.hasFile('pyproject.toml')) &&
    !/"(start|napi)"\s*:/.test((await tree.readText('package.json')) ?? ''),
  plan: makePlan,
}

/** Not `target`: caches are shared by all services, and it would hold the programs of each. */
const CACHES = ['/usr/local/cargo/registry', '/usr/local/cargo/git']

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const version = await versionOf(tree)
  const given = settings.startCommand ?? (await procfileCommand(tree, settings, notes))
  const isSite = settings.processType === 'static'
  if (settings.buildCommand !== null && given === null && !isSite) {
    throw new BuildFailure(
      'build_command is set, so nothing says what it makes: set start_command to the program',
    )
  }
  const ownStart = given === null && settings.buildCommand === null && !isSite
  const startCommand = given ?? (isSite ? 'true' : `/app/bin/${await programOf(tree)}`)
  if (ownStart) notes.push(`starting with: ${startCommand}`)
  const locked = (await tree.hasFile('Cargo.lock')) ? ' --locked' : ''
  // Only the programs are kept of the many files that a build leaves.
  const build =
    settings.buildCommand ??
    `cargo build --release${locked} && mkdir -p bin && find target/release -maxdepth 1 -type f -executable -exec cp {} bin/ ";" && rm -rf target`
  const dockerfile = [
    ...buildStage(baseImage(settings, `rust:${version}-bookworm`)),
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
    version,
    packageManager: 'cargo',
    buildCommand: settings.buildCommand ?? `cargo build --release${locked}`,
    dockerfile: `${dockerfile.join('\n')}\n`,
    needsWhole: false,
    publishDirectory: null,
    ignore: ['.git', '**/target'],
    notes: [`rust ${version}`, ...notes],
  }
}

/** By rust-toolchain.toml or its plain form; other channels than stable ones have no image. */
async function versionOf(tree: Tree): Promise<string> {
  const text = (await tree.readText('rust-toolchain.toml')) ?? (await tree.readText('rust-toolchain')) ?? ''
  return findInLines(text, /^(?:channel\s*=\s*)?["']?(1\.\d+(?:\.\d+)?)["']?\s*$/) ?? '1'
}

/** The program to start: `default-run`, the only `[[bin]]`, else the package's name. */
async function programOf(tree: Tree): Promise<string> {
  const manifest = (await tree.readText('Cargo.toml')) ?? ''
  const named = findInLines(manifest, /^default-run\s*=\s*"([\w-]+)"/)
  if (named !== undefined) return named
  const { programs, name } = namesOf(manifest)
  if (programs.length === 1) return programs[0]!
  if (name !== undefined && (programs.length === 0 || programs.includes(name))) return name
  throw new BuildFailure(
    'Cargo.toml does not say which program to start: add default-run to its package, or set start_command, such as "bin/server"',
  )
}

/** The names in the tables `[[bin]]` and `[package]`. */
function namesOf(manifest: string): { programs: string[]; name: string | undefined } {
  const programs: string[] = []
  let name: string | undefined
  let table = ''
  for (const line of linesOf(manifest)) {
    const text = line.trim()
    if (text.startsWith('[')) table = text
    const named = /^name\s*=\s*"([\w-]+)"/.exec(text)?.[1]
    if (named !== undefined && table.startsWith('[[bin]]')) programs.push(named)
    if (named !== undefined && table.startsWith('[package]')) name ??= named
  }
  return { programs, name }
}
