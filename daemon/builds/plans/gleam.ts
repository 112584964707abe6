import type { Tree } from '../../sources/tree.ts'
import { findInLines } from '../text.ts'
import { aptPackagesOf } from './apt.ts'
import { firstPin, inManifest, inToolFiles } from './pins.ts'
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
  takeApp,
  textOf,
} from './steps.ts'

/** Gleam programs for Erlang's machine. */
export const gleam: LanguagePlan = {
  name: 'gleam',
  lookedFor: 'gleam.toml',
  detect: (tree) => tree.hasFile('gleam.toml'),
  plan: makePlan,
}

/** The newest release that was looked at; each release has its images (gleam-lang/gleam, "containers"). */
const DEFAULT_VERSION = '1.12.0'
const CACHES = ['/root/.cache']
const BUILD = 'gleam export erlang-shipment'

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const manifest = (await tree.readText('gleam.toml')) ?? ''
  const pin = await firstPin([
    inToolFiles(tree, ['gleam']),
    inManifest(findInLines(manifest, /^gleam\s*=\s*"[^\d"]*(\d+\.\d+\.\d+)/), 'gleam.toml'),
  ])
  const pinned = /^v?(1\.\d+\.\d+)$/.exec(pin?.text ?? '')?.[1]
  // A lower bound is no wish for an old compiler.
  const version = pin?.where === 'gleam.toml' ? newer(pinned) : (pinned ?? DEFAULT_VERSION)
  const isOwnBuild = settings.buildCommand === null
  const proposal = isOwnBuild ? { command: '/app/build/erlang-shipment/entrypoint.sh run' } : null
  const start = await chooseStart(tree, settings, notes, proposal, UNKNOWN_PROGRAM)
  const buildCommand = settings.buildCommand ?? BUILD
  notes.push(`building with: ${buildCommand}`)
  const aptPackages = await aptPackagesOf(tree, settings, notes)
  const lock = (await tree.hasFile('manifest.toml')) ? ' source/manifest.toml' : ''
  const image = `ghcr.io/gleam-lang/gleam:v${version}-erlang`
  const dockerfile = [
    ...buildStage(baseImage(settings, image)),
    ...installPackages(aptPackages),
    `COPY source/gleam.toml${lock} ./`,
    step('gleam deps download', settings, CACHES),
    'COPY source/ ./',
    ...buildCommandSteps(buildCommand, settings, CACHES),
    ...(start.isSite
      ? siteStage()
      : finalStage({
          image: baseImage(settings, `${image}-slim`),
          packages: aptPackages,
          content: [takeApp()],
          startCommand: start.startCommand,
        })),
  ]
  return {
    ...NOTHING_KNOWN,
    isSite: start.isSite,
    startCommand: start.startCommand,
    obstacle: start.obstacle,
    version,
    packageManager: 'gleam',
    installCommand: 'gleam deps download',
    buildCommand,
    aptPackages,
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: false,
    ignore: ['.git', 'build'],
    notes: [`gleam ${version}`, ...notes],
  }
}

function newer(version: string | undefined): string {
  const minor = Number(version?.split('.')[1] ?? 0)
  return minor > Number(DEFAULT_VERSION.split('.')[1]) ? version! : DEFAULT_VERSION
}
