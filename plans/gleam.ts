import { choose } from './choices.ts'
import { firstPin, inManifest, inToolFiles } from './pins.ts'
import { choosePlace, EVERY_LINE } from './place.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from './plan.ts'
import { findInLines } from './source/text.ts'
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

/** Gleam programs for Erlang's virtual machine. */
export const gleam: LanguagePlan = {
  name: 'gleam',
  lookedFor: 'gleam.toml',
  detect: (tree) => tree.hasFile('gleam.toml'),
  plan: planGleam,
}

/** The newest release that was checked; each release has its images (gleam-lang/gleam, "containers"). */
const DEFAULT_VERSION = '1.12.0'
const CACHES = ['/root/.cache']
const BUILD = 'gleam export erlang-shipment'
const SHIPMENT = 'build/erlang-shipment/entrypoint.sh run'

async function planGleam(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const place = await choosePlace(tree, whole, notes, { manifests: { 'gleam.toml': EVERY_LINE } })
  const manifest = (await tree.readText('gleam.toml')) ?? ''
  const pin = await firstPin([
    inToolFiles(tree, ['gleam']),
    inManifest(findInLines(manifest, /^gleam\s*=\s*"[^\d"]*(\d+\.\d+\.\d+)/), 'gleam.toml'),
  ])
  const pinned = /^v?(1\.\d+\.\d+)$/.exec(pin?.text ?? '')?.[1]
  // A lower bound does not ask for an old compiler.
  const version = pin?.where === 'gleam.toml' ? newer(pinned) : (pinned ?? DEFAULT_VERSION)
  const { facts, aptPackages } = await choose(tree, settings, notes, {
    proposal: settings.buildCommand === null ? { command: `${place.directory}/${SHIPMENT}` } : null,
    advice: UNKNOWN_PROGRAM,
    build: () => BUILD,
  })
  const image = `ghcr.io/gleam-lang/gleam:v${version}-erlang`
  const dockerfile = [
    ...buildStage(baseImage(settings, image)),
    ...installPackages(aptPackages),
    ...place.source,
    step('gleam deps download', settings, CACHES),
    ...buildCommandSteps(facts.buildCommand, settings, CACHES),
    ...lastStage(facts, {
      image: baseImage(settings, `${image}-slim`),
      packages: aptPackages,
      workdir: place.directory,
      content: [takeApp()],
    }),
  ]
  return {
    ...facts,
    version,
    packageManager: 'gleam',
    installCommand: 'gleam deps download',
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: place.needsWhole,
    ignore: ['.git', 'build'],
    notes: [`gleam ${version}`, ...notes],
  }
}

function newer(version: string | undefined): string {
  const minor = Number(version?.split('.')[1] ?? 0)
  return minor > Number(DEFAULT_VERSION.split('.')[1]) ? version! : DEFAULT_VERSION
}
