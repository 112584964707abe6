import { aptPackagesOf } from './apt.ts'
import { NOTHING_KNOWN, type PlanFacts, type PlanSettings } from './plan.ts'
import type { Tree } from './source/tree.ts'
import { chooseStart, type Proposal, type Start } from './start.ts'

/** What a language contributes to the choices that every plan makes the same way. */
export interface Offer {
  proposal: Proposal
  /** What to add where nothing says how to start. */
  advice: string
  /** The language's own build command, for what is started; null for none. */
  build: (start: Start) => string | null
  /** Whether the image has Python. */
  hasPython?: boolean
}

/** What is started, built and installed, in any language. */
export interface Choices {
  start: Start
  buildCommand: string | null
  aptPackages: string[]
  /** The same as facts of a plan, which the plan then overrides with what else it knows. */
  facts: PlanFacts
}

/** Makes the choices, with the service's own settings before the language's; notes say what was chosen. */
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

/** Joins several commands into one that stops at the first failure; null for none. */
export function inOrder(commands: readonly string[]): string | null {
  return commands.length === 0 ? null : commands.join(' && ')
}
