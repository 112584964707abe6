import { choose } from './choices.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings } from './plan.ts'
import { pagesIn } from './source/pages.ts'
import type { Tree } from './source/tree.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  installPackages,
  lastStage,
  takeApp,
  textOf,
} from './steps.ts'

const SCRIPT = 'start.sh'

/** A shell script that starts a program no other plan knows, with the programs of `apt_packages`. */
export const shell: LanguagePlan = {
  name: 'shell',
  lookedFor: SCRIPT,
  // Next to pages, the script is for their developers.
  detect: async (tree) => (await tree.hasFile(SCRIPT)) && (await pagesIn(tree)) === null,
  plan: planShell,
}

/** Programs with which such scripts download files. */
const PACKAGES = ['ca-certificates', 'curl']

async function planShell(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const interpreter = await interpreterOf(tree)
  const { facts, aptPackages } = await choose(tree, settings, notes, {
    proposal: { command: `${interpreter} ${SCRIPT}` },
    advice: '',
    build: () => null,
  })
  const packages = [...PACKAGES, ...(interpreter === 'zsh' ? ['zsh'] : []), ...aptPackages]
  const dockerfile = [
    ...buildStage(baseImage(settings, 'buildpack-deps:bookworm')),
    ...installPackages(aptPackages),
    'COPY source/ ./',
    ...buildCommandSteps(facts.buildCommand, settings),
    ...lastStage(facts, {
      image: baseImage(settings, 'debian:bookworm-slim'),
      packages,
      content: [takeApp()],
    }),
  ]
  return {
    ...facts,
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: false,
    ignore: ['.git'],
    notes: [`${SCRIPT} with ${interpreter}`, ...notes],
  }
}

/** Returns the shell that the script's first line names; `/bin/sh` where it names none that is known. */
async function interpreterOf(tree: Tree): Promise<string> {
  const first = (await tree.readText(SCRIPT))?.split('\n', 1)[0] ?? ''
  return /^#!.*\b(bash|zsh)\b/.exec(first)?.[1] ?? 'sh'
}
