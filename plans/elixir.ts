import { ELIXIR_MINORS, nearestImage } from './base-images.ts'
import { choose, inOrder } from './choices.ts'
import { readAssets, readFrontEnd, type Assets } from './node/assets.ts'
import { firstPin, inFiles, inManifest, inToolFiles } from './pins.ts'
import { choosePlace, EVERY_LINE, type Place, type Reach } from './place.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from './plan.ts'
import { withoutHashComments } from './source/comments.ts'
import { hasLine } from './source/text.ts'
import type { Tree } from './source/tree.ts'
import { UNKNOWN_PROGRAM } from './start.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  installPackages,
  lastStage,
  step,
  takeApp,
  textOf,
} from './steps.ts'

/** Releases of Mix projects, including Phoenix. */
export const elixir: LanguagePlan = {
  name: 'elixir',
  lookedFor: 'mix.exs',
  detect: (tree) => tree.hasFile('mix.exs'),
  plan: planElixir,
}

const DEFAULT_MINOR = 18
const REACH = 3
const CACHES = ['/root/.hex', '/root/.cache']
const RELEASE = '/app/release'
/** Installs Hex; without it mix does not load a project that has packages. */
const MIX_HOME = '/opt/mix'

async function planElixir(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const project = withoutHashComments((await tree.readText('mix.exs')) ?? '')
  const place = await choosePlace(tree, whole, notes, PATHS)
  const version = await chooseVersion(tree, project, notes)
  const name = /\breleases:\s*\[\s*(\w+):/.exec(project)?.[1] ?? /\bapp:\s*:(\w+)/.exec(project)?.[1]
  const isOwnBuild = settings.buildCommand === null
  const proposal = isOwnBuild && name !== undefined ? { command: `${RELEASE}/bin/${name} start` } : null
  const advice = isOwnBuild
    ? 'mix.exs has no "app:" with the name of the application: add it'
    : UNKNOWN_PROGRAM
  const isPhoenix = hasLine(project, /\{:phoenix,/)
  const packed = await packedAssets(tree, project, settings, notes)
  const assets = packed ?? (await readAssets(tree, settings, notes))
  const build = (): string | null => inOrder(commandsOf(project, assets, packed))
  const { start, facts, aptPackages } = await choose(tree, settings, notes, { proposal, advice, build })
  const install = await installSteps(tree, project, place, settings)
  const isRelease = isOwnBuild && start.isProposed
  const dockerfile = [
    ...assets.stages,
    ...buildStage(baseImage(settings, `elixir:${version}`)),
    ...installPackages(aptPackages),
    `ENV MIX_ENV=prod LANG=C.UTF-8 ELIXIR_ERL_OPTIONS=+fnu MIX_HOME=${MIX_HOME}`,
    ...install.lines,
    ...assets.lines,
    ...buildCommandSteps(facts.buildCommand, settings, [...CACHES, ...assets.mounts]),
    ...lastStage(facts, {
      // From the same family of images, so that the release finds the libraries that its runtime was built with.
      image: baseImage(settings, `elixir:${version}-slim`),
      packages: aptPackages,
      workdir: isRelease ? '/app' : place.directory,
      content: [
        ...(isRelease
          ? [takeApp(RELEASE)]
          : [...(install.hasPackages ? [takeApp(MIX_HOME)] : []), takeApp()]),
        `ENV MIX_ENV=prod LANG=C.UTF-8 PHX_SERVER=true${isRelease ? '' : ` MIX_HOME=${MIX_HOME}`}`,
      ],
    }),
  ]
  return {
    ...facts,
    version,
    framework: isPhoenix ? 'phoenix' : null,
    packageManager: 'mix',
    installCommand: install.hasPackages ? 'mix deps.get --only prod' : null,
    env: isPhoenix
      ? [{ key: 'SECRET_KEY_BASE', generate: 'hex', why: 'Phoenix signs its cookies with it' }]
      : [],
    dockerfile: textOf(dockerfile),
    manifests: assets.manifests,
    needsWhole: place.needsWhole,
    ignore: ['.git', '**/node_modules', '_build', 'deps'],
    notes: [`elixir ${version}`, ...notes],
  }
}

const PATHS: Reach = { manifests: { 'mix.exs': EVERY_LINE }, hasAssets: true }

function commandsOf(project: string, assets: Assets, packed: Assets | null): string[] {
  return [
    ...(packed === null ? assets.commands : []),
    'mix compile',
    ...(packed === null ? [] : [...packed.commands, 'mix phx.digest']),
    ...(/"assets\.setup"/.test(project) ? ['mix assets.setup'] : []),
    ...(/"assets\.deploy"/.test(project) ? ['mix assets.deploy'] : []),
    `mix release --overwrite --path ${RELEASE}`,
  ]
}

/**
 * Builds the assets of a Phoenix before 1.6 with webpack, for which it has no task of its own (Phoenix 1.5, "Deployment");
 * null for any other version and where the assets are in the source. It takes packages from the dependency folder of Mix.
 */
async function packedAssets(
  tree: Tree,
  project: string,
  settings: PlanSettings,
  notes: string[],
): Promise<Assets | null> {
  const isOlder = hasLine(project, /\{:phoenix,\s*"~> 1\.[345]\b/) && !/"assets\.deploy"/.test(project)
  if (!isOlder || settings.buildCommand !== null || (await tree.hasFile('package.json'))) return null
  if (await tree.hasFolder('priv/static/js')) return null
  const manifest = (await tree.readText('assets/package.json')) ?? ''
  // Old Sass and Brunch no longer run at all.
  if (!/"webpack"\s*:/.test(manifest) || /"(?:node-sass|brunch)"\s*:/.test(manifest)) return null
  const assets = await readFrontEnd(tree, 'assets', settings, notes, 'deploy')
  return assets.commands.length === 0 ? null : assets
}

/** Packages need Hex, and those in Erlang need rebar; a project without packages needs neither. */
async function installSteps(
  tree: Tree,
  project: string,
  place: Place,
  settings: PlanSettings,
): Promise<{ lines: string[]; hasPackages: boolean }> {
  const hasLock = await tree.hasFile('mix.lock')
  if (!hasLock && !hasLine(project, /^\s*\{:\w+,/)) return { lines: place.source, hasPackages: false }
  const tools = step('mix local.hex --force && mix local.rebar --force', settings, CACHES)
  const install = step('mix deps.get --only prod && mix deps.compile', settings, CACHES)
  const files = place.needsWhole ? null : await filesAlone(tree, project)
  if (files === null) return { lines: [tools, ...place.source, install], hasPackages: true }
  const names = ['mix.exs', ...(hasLock ? ['mix.lock'] : [])].map((name) => `source/${name}`)
  const copies = [`COPY ${names.join(' ')} ./`, ...files.map((name) => `COPY source/${name} ./${name}`)]
  return { lines: [tools, ...copies, install, ...place.source], hasPackages: true }
}

/** The calls of other modules that read nothing of the tree. */
const HARMLESS_CALLS =
  /\b(?:Mix\.(?:env|target|shell|compilers|Project\.build_path)|System\.(?:get_env|fetch_env!?|version|otp_release)|Version\.\w+[?!]?|Path\.(?:expand|join)|String\.\w+[?!]?|Config\.\w+)\b/g
/** Any call of another module, of Elixir or Erlang, and what reads code or commands. */
const CALLS =
  /\b[A-Z]\w*\.[a-z_]|:\w+\.[a-z_]|\b(?:apply|alias|require|path|in_umbrella|apps_path|lockfile|config_path):?[ (]|~x|\bimport_(?:file|config)\b.*\.\./

/**
 * Returns the files, besides mix.exs and its lock, with which the packages are installed as with the whole source; null
 * where mix.exs or the settings, which are programs, may read others: a VERSION, packages of the tree.
 */
async function filesAlone(tree: Tree, project: string): Promise<string[] | null> {
  const names = await tree.list('config')
  const settings = names.filter((name) => name !== 'runtime.exs')
  if (settings.some((name) => !name.endsWith('.exs'))) return null
  const texts = await Promise.all(settings.map((name) => tree.readText(`config/${name}`)))
  for (const text of [project, ...texts])
    if (hasLine(withoutHashComments(text ?? '').replaceAll(HARMLESS_CALLS, ''), CALLS)) return null
  return names.length === 0 ? [] : ['config']
}

/** Returns the version of Elixir, with that of Erlang where both are pinned: `1.17-otp-27`. */
async function chooseVersion(tree: Tree, project: string, notes: string[]): Promise<string> {
  const write = (minor: number): string => `1.${minor}`
  const pin = await firstPin([
    inFiles(tree, ['.elixir-version']),
    inToolFiles(tree, ['elixir']),
    // Only an exact version counts; a lower bound does not ask for an old one.
    inManifest(/\belixir:\s*"(?:==|~>)\s*(1\.\d+\.\d+)/.exec(project)?.[1], 'mix.exs'),
  ])
  const minor = /^1\.(\d+)/.exec(pin?.text ?? '')?.[1]
  if (pin === null || minor === undefined) return write(DEFAULT_MINOR)
  const choice = { language: 'elixir', available: ELIXIR_MINORS, reach: REACH, write }
  const version = write(nearestImage(Number(minor), pin, choice, notes))
  const erlang = /-otp-(\d+)$/.exec(pin.text)?.[1]
  return erlang !== undefined && version === write(Number(minor)) ? `${version}-otp-${erlang}` : version
}
