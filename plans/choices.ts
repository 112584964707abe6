import { aptPackagesOf } from './apt.ts'
import { NOTHING_KNOWN, type PlanFacts, type PlanSettings } from './plan.ts'
import { chooseStart, type Proposal, type Start } from './start.ts'
import type { Tree } from './tree.ts'

/** What a language brings to the choices that all plans make alike. */
export interface Offer {
  proposal: Proposal
  /** What to add where nothing says how to start. */
  advice: string
  /** The language's own build, for what is started; null for none. */
  build: (start: Start) => string | null
  /** The image has Python. */
  hasPython?: boolean
}

/** What is started, built and installed, whatever the language. */
export interface Choices {
  start: Start
  buildCommand: string | null
  aptPackages: string[]
  /** The same as a plan tells it; what else is known is written over it. */
  facts: PlanFacts
}

/** Makes the choices, the service's own settings before the language's; notes say what was chosen. */
export async function choose(
  tree: Tree,
  settings: PlanSettings,
  notes: string[],
  { proposal, advice, build, hasPython }: Offer,
): Promise<Choices> {
  const start = await chooseStart(tree, settings, notes, proposal, advice, hasPython)
  const buildCommand = settings.buildCommand ?? build(start)
  if (buildCommand !== null) notes.push(`building with: ${buildCommand}`)
  const aptPackages = await aptPackagesOf(tree, settings, notes)
  const { isProposed: _how, ...started } = start
  return {
    start,
    buildCommand,
    aptPackages,
    facts: { ...NOTHING_KNOWN, ...started, buildCommand, aptPackages },
  }
}

/** One command of several, which the first that fails ends; null for none. */
export function inOrder(commands: readonly string[]): string | null {
  return commands.length === 0 ? null : commands.join(' && ')
}
