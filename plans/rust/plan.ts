import { posix } from 'node:path'
import { RUST_MINORS, nearestImage } from '../base-images.ts'
import { choose } from '../choices.ts'
import { hasScript } from '../node/manifest.ts'
import { firstPin, inFiles, inManifest, inToolFiles } from '../pins.ts'
import { choosePlace, type Reach } from '../place.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from '../plan.ts'
import { onlyProgram } from '../programs.ts'
import { findSource } from '../source/listening.ts'
import { findInLines, hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { UNKNOWN_PROGRAM } from '../start.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  installPackages,
  lastStage,
  RENEW_FILES,
  TAKE_CERTIFICATES,
  takeApp,
  textOf,
} from '../steps.ts'
import { dependenciesOf, membersIn, namesCrate, readCrates, type Crates } from './crates.ts'

/** Programs built by Cargo. Extensions of Python and node have a Cargo.toml too. */
export const rust: LanguagePlan = {
  name: 'rust',
  lookedFor: 'Cargo.toml',
  detect: async (tree) =>
    (await tree.hasFile('Cargo.toml')) &&
    !(await tree.hasFile('pyproject.toml')) &&
    !(await hasScript(tree, 'start')) &&
    !/"napi"\s*:/.test((await tree.readText('package.json')) ?? ''),
  plan: planRust,
}

const CACHES = ['/usr/local/cargo/registry', '/usr/local/cargo/git']
/** Also holds the built programs: those that a user's own command starts have to stay in the image. */
const TARGET = '/app/target'

async function planRust(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const place = await choosePlace(tree, whole, notes, REACH)
  const version = await chooseVersion(tree, notes)
  const crates = await readCrates(tree)
  if (!settings.secretNames.includes('DATABASE_URL')) notes.push(...(await checkedQueries(tree, crates)))
  const isOwnBuild = settings.buildCommand === null
  const program = await programOf(crates)
  const binaries = `${place.directory}/bin`
  // The root of a workspace has the lock file of all its members.
  const holder = place.above === null ? tree : whole!.tree.folder(place.above)
  const locked = (await holder.hasFile('Cargo.lock')) ? ' --locked' : ''
  const own = `cargo build --release${locked}`
  const { facts, aptPackages } = await choose(tree, settings, notes, {
    proposal: isOwnBuild && program !== null ? { command: `${binaries}/${program}` } : null,
    advice: isOwnBuild ? adviceFor(crates, binaries) : UNKNOWN_PROGRAM,
    build: () => own,
  })
  const keepsTarget = !isOwnBuild || /\btarget\//.test(facts.startCommand ?? '')
  // Only the programs are kept of the many files that a build leaves.
  const take = `mkdir -p bin && find ${TARGET}/release -maxdepth 1 -type f -executable -exec cp {} bin/ ";"`
  const renew = place.needsWhole ? `(cd /app && ${RENEW_FILES})` : RENEW_FILES
  const command = isOwnBuild ? `${renew} && ${own} && ${take}` : facts.buildCommand
  const dockerfile = [
    ...buildStage(baseImage(settings, `rust:${version}-bookworm`)),
    ...installPackages(aptPackages),
    ...place.source,
    ...(isOwnBuild && place.needsWhole ? [`ENV CARGO_TARGET_DIR=${TARGET}`] : []),
    ...buildCommandSteps(command, settings, [...CACHES, ...(keepsTarget ? [] : [TARGET])]),
    ...lastStage(facts, {
      image: baseImage(settings, 'debian:bookworm-slim'),
      packages: [...runtimePackages(crates.text), ...aptPackages],
      workdir: place.directory,
      content: [TAKE_CERTIFICATES, takeApp(), `ENV PATH=${binaries}:$PATH ${LISTENING}`],
    }),
  ]
  return {
    ...facts,
    version,
    framework: FRAMEWORKS.find((name) => namesCrate(crates.text, name)) ?? null,
    packageManager: 'cargo',
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: place.needsWhole,
    ignore: ['.git', '**/target'],
    notes: [`rust ${version}`, ...notes],
  }
}

/** Crates beside a crate, and the root of its workspace, which Cargo looks for in the folders above. */
const REACH: Reach = {
  manifests: { 'Cargo.toml': /\b(?:path|build|workspace)\b/ },
  above: ['Cargo.toml'],
  isFor: async (text, below, folder) => (await membersIn(folder, text)).includes(below),
}

const FRAMEWORKS = ['axum', 'actix-web', 'rocket', 'warp', 'poem', 'salvo', 'leptos']

/** Rocket reads its own variable, which overrides the Rocket.toml of most projects (rocket.rs, "Configuration"). */
const LISTENING = 'ROCKET_ADDRESS=0.0.0.0'

/**
 * Returns the program to start: the `default-run` of the root, else the one that stands out among all, else the only one
 * whose crate depends on a web framework.
 */
async function programOf({ defaultRun, rootName, programs }: Crates): Promise<string | null> {
  return defaultRun ?? onlyProgram([...programs.keys()], rootName) ?? (await onlyServer(programs))
}

async function onlyServer(programs: Crates['programs']): Promise<string | null> {
  const serving = new Set<string>()
  for (const manifest of new Set(programs.values())) {
    const names = await dependenciesOf(manifest)
    if (FRAMEWORKS.some((name) => names.has(name))) serving.add(manifest)
  }
  const servers = [...programs].filter(([, manifest]) => serving.has(manifest))
  return servers.length === 1 ? servers[0]![0] : null
}

function adviceFor({ programs, rootName }: Crates, binaries: string): string {
  const names = [...programs.keys()]
  if (names.length === 0) return 'no crate has a src/main.rs or a [[bin]]: add one'
  // A workspace root that is not a crate itself cannot name one.
  const advice =
    rootName === undefined
      ? `add a Procfile with a line "web:", such as ${binaries}/${names[0]}`
      : 'name one with default-run in Cargo.toml'
  return `there are several programs (${names.slice(0, SHOWN_PROGRAMS).join(', ')}): ${advice}`
}

/** Sources that a build of the program leaves out. */
const UNBUILT = /(?:^|\/)(?:tests|examples|benches)\//

/**
 * Queries that the compiler checks against a database, unless the results of the check were saved (sqlx, "Offline mode").
 */
async function checkedQueries(tree: Tree, { text }: Crates): Promise<string[]> {
  if (!namesCrate(text, 'sqlx') || (await tree.hasFile('sqlx-data.json'))) return []
  // The .env may name a database file of the tree.
  if (hasLine((await tree.readText('.env')) ?? '', /^(?:export )?DATABASE_URL=["']?sqlite:/)) return []
  const file = await findSource(tree, /\.rs$/, /^(?!\s*\/\/).*\bsqlx::query(?:_\w{1,30})?!\s*\(/)
  if (typeof file !== 'string' || UNBUILT.test(file)) return []
  for (let place = posix.dirname(file); ; place = posix.dirname(place)) {
    if (await tree.hasFolder(posix.join(place, '.sqlx'))) return []
    if (place === '.') break
  }
  return [
    `${file} has queries that sqlx checks against a database when it is compiled: commit .sqlx, which cargo sqlx prepare writes, or set DATABASE_URL to a database that a build reaches`,
  ]
}

/** How many names fit into a message. */
const SHOWN_PROGRAMS = 10

/** System libraries that crates link to, unless they bring their own. */
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

/**
 * Reads rust-toolchain.toml or its plain form; rustup, which is in the image, fetches other channels and patches during the
 * build.
 */
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
  // Newer versions of Cargo build older projects, and rustup fetches newer ones.
  const choice = { language: 'rust', available: RUST_MINORS, reach: RUST_MINORS.at(-1)!, write }
  return write(nearestImage(Number(minor), pin, choice, notes))
}
