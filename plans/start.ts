import type { PlannedBuild, PlanSettings } from './plan.ts'
import { procfileCommand } from './procfile.ts'
import type { Tree } from './source/tree.ts'

/** What an image runs. */
export interface Start extends Pick<PlannedBuild, 'startCommand' | 'isSite' | 'obstacle' | 'isRefused'> {
  /** Whether the command is the plan's own, so that what it needs is known. */
  isProposed: boolean
}

/** A start command that a plan proposes, or the site that its build makes, or why there can be neither. */
export type Proposal = { command: string } | { site: true } | { obstacle: string } | null

/**
 * Returns the start: the service's own command, its line of the Procfile, or what the plan proposes. A web server is not
 * proposed for a job, which has to end; a site is proposed for web services only. `advice` says what to add where nothing
 * says how to start; `hasPython`: the plan's image has Python.
 */
export async function chooseStart(
  tree: Tree,
  settings: PlanSettings,
  notes: string[],
  proposal: Proposal,
  advice: string,
  hasPython = false,
): Promise<Start> {
  const nothing: Start = {
    startCommand: null,
    isSite: false,
    obstacle: null,
    isRefused: false,
    isProposed: true,
  }
  if (settings.processType === 'static') return { ...nothing, isSite: true }
  const isWeb = settings.processType === 'web'
  const isKnown = proposal !== null && (!('site' in proposal) || isWeb)
  // A line such as `clock:` or `console:` runs next to the program that the plan knows, and is not a job that ends.
  const takesOther = !isKnown && settings.processType !== 'job'
  const given =
    settings.startCommand ?? (await procfileCommand(tree, settings, notes, { takesOther, hasPython }))
  if (given !== null) return { ...nothing, startCommand: given, isProposed: false }
  if (settings.processType === 'job') {
    return { ...nothing, obstacle: 'nothing says what this job runs: set start_command' }
  }
  if (proposal !== null && 'obstacle' in proposal)
    return { ...nothing, obstacle: proposal.obstacle, isRefused: true }
  if (proposal !== null && 'command' in proposal) {
    notes.push(`starting with: ${proposal.command}`)
    return { ...nothing, startCommand: proposal.command }
  }
  if (proposal !== null && isWeb) return { ...nothing, isSite: true }
  return {
    ...nothing,
    obstacle: `nothing says how to start this service: ${advice}, or set start_command`,
  }
}

/** With a `build_command` whose output no plan knows, a start command is needed too. */
export const UNKNOWN_PROGRAM =
  'build_command is set, and nothing says how to start its result: add a Procfile with a line "web:"'
