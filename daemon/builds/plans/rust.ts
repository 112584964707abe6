import type { Tree } from '../../sources/tree.ts'
import { findInLines, linesOf } from '../text.ts'
import { aptPackagesOf } from './apt.ts'
import { RUST_MINORS, nearestImage } from './base-images.ts'
import { firstPin, inFiles, inManifest, inToolFiles } from './pins.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { chooseStart, UNKNOWN_PROGRAM } from './start.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  finalStage,
  installPackages,
  RENEW_FILES,
  siteStage,
  TAKE_CERTIFICATES,
  takeApp,
  textOf,
} from './steps.ts'

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

const CACHES = ['/usr/local/cargo/registry', '/usr/local/cargo/git']
/** Holds the programs, too: those of a command of the user's have to stay in the image. */
const TARGET = '/app/target'

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const version = await chooseVersion(tree, notes)
  const manifest = (await tree.readText('Cargo.toml')) ?? ''
  const isOwnBuild = settings.buildCommand === null
  const program = isOwnBuild ? programOf(manifest) : null
  const proposal = program === null ? null : { command: `/app/bin/${program}` }
  const advice = isOwnBuild
    ? 'Cargo.toml does not say which program: add default-run to its package'
    : UNKNOWN_PROGRAM
  const start = await chooseStart(tree, settings, notes, proposal, advice)
  const locked = (await tree.hasFile('Cargo.lock')) ? ' --locked' : ''
  const buildCommand = settings.buildCommand ?? `cargo build --release${locked}`
  notes.push(`building with: ${buildCommand}`)
  const keepsTarget = !isOwnBuild || /\btarget\//.test(start.startCommand ?? '')
  // Only the programs are kept of the many files that a build leaves.
  const take = `mkdir -p bin && find target/release -maxdepth 1 -type f -executable -exec cp {} bin/ ";"`
  const build = isOwnBuild ? `${RENEW_FILES} && ${buildCommand} && ${take}` : buildCommand
  const aptPackages = await aptPackagesOf(tree, settings, notes)
  const dockerfile = [
    ...buildStage(baseImage(settings, `rust:${version}-bookworm`)),
    ...installPackages(aptPackages),
    'COPY source/ ./',
    ...buildCommandSteps(build, settings, [...CACHES, ...(keepsTarget ? [] : [TARGET])]),
    ...(start.isSite
      ? siteStage()
      : finalStage({
          image: baseImage(settings, 'debian:bookworm-slim'),
          packages: [...runtimePackages(manifest), ...aptPackages],
          content: [TAKE_CERTIFICATES, takeApp(), `ENV PATH=/app/bin:$PATH ${LISTENING}`],
          startCommand: start.startCommand,
        })),
  ]
  return {
    ...NOTHING_KNOWN,
    isSite: start.isSite,
    startCommand: start.startCommand,
    obstacle: start.obstacle,
    version,
    framework: FRAMEWORKS.find((name) => namesCrate(manifest, name)) ?? null,
    packageManager: 'cargo',
    buildCommand,
    aptPackages,
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: false,
    ignore: ['.git', '**/target'],
    notes: [`rust ${version}`, ...notes],
  }
}

const FRAMEWORKS = ['axum', 'actix-web', 'rocket', 'warp', 'poem', 'salvo', 'leptos']

/** Rocket reads its own variable, which wins over the file that comes with most projects (rocket.rs, "Configuration"). */
const LISTENING = 'ROCKET_ADDRESS=0.0.0.0'

function namesCrate(manifest: string, name: string): boolean {
  for (const line of linesOf(manifest)) {
    const text = line.trim()
    if (text.startsWith(`${name} `) || text.startsWith(`${name}=`) || text === `[dependencies.${name}]`)
      return true
  }
  return false
}

/** Libraries that crates link to, unless they bring them along. */
function runtimePackages(manifest: string): string[] {
  const packages: string[] = []
  if (['openssl', 'native-tls', 'reqwest', 'lettre'].some((name) => namesCrate(manifest, name)))
    packages.push('libssl3')
  if (
    ['diesel', 'pq-sys', 'libpq-sys'].some((name) => namesCrate(manifest, name)) &&
    /postgres/.test(manifest)
  ) {
    packages.push('libpq5')
  }
  if (namesCrate(manifest, 'diesel') && /sqlite/.test(manifest)) packages.push('libsqlite3-0')
  return packages
}

/** By rust-toolchain.toml or its plain form: rustup, which the image has, fetches other channels and patches when it builds. */
async function chooseVersion(tree: Tree, notes: string[]): Promise<string> {
  const text = (await tree.readText('rust-toolchain.toml')) ?? ''
  const pin = await firstPin([
    inManifest(findInLines(text, /^\s*channel\s*=\s*["']([\w.-]+)["']/), 'rust-toolchain.toml'),
    inFiles(tree, ['rust-toolchain']),
    inToolFiles(tree, ['rust']),
  ])
  if (pin === null) return '1'
  const minor = /^1\.(\d+)/.exec(pin.text)?.[1]
  if (minor === undefined) {
    notes.push(`rustup fetches the toolchain ${pin.text.slice(0, 50)} of ${pin.where}`)
    return '1'
  }
  const write = (each: number): string => `1.${each}`
  // Cargo of any newer line builds what an older one did, and rustup fetches newer ones.
  const choice = { language: 'rust', available: RUST_MINORS, reach: RUST_MINORS.at(-1)!, write }
  return write(nearestImage(Number(minor), pin, choice, notes))
}

/** The program to start: `default-run`, the only `[[bin]]`, else the package's name; null where it is not said. */
function programOf(manifest: string): string | null {
  const named = findInLines(manifest, /^default-run\s*=\s*"([\w-]+)"/)
  if (named !== undefined) return named
  const { programs, name } = namesOf(manifest)
  if (programs.length === 1) return programs[0]!
  return name !== undefined && (programs.length === 0 || programs.includes(name)) ? name : null
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
