import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import type { PlanFacts, PlanSettings } from './plan.ts'
import { procfileCommand } from './procfile.ts'

/** The command of an image that nothing runs: a site's files are only copied from it. */
const NOTHING = 'true'

/** What runs in an image: its command, or nothing for the process type `static`. */
export function runOf(
  { processType }: PlanSettings,
  command: string,
): Pick<PlanFacts, 'isSite' | 'startCommand'> {
  const isSite = processType === 'static'
  return { isSite, startCommand: isSite ? null : command }
}

/**
 * The start command: the service's own, the line of the Procfile, what the plan proposes. A web server is no proposal
 * for a job, which has to end. Throws BuildFailure when there is none; `advice` says what to add.
 */
export async function chooseCommand(
  tree: Tree,
  settings: PlanSettings,
  notes: string[],
  proposal: string | null,
  advice: string,
): Promise<string> {
  if (settings.processType === 'static') return NOTHING
  const given = settings.startCommand ?? (await procfileCommand(tree, settings, notes))
  if (given !== null) return given
  if (settings.processType === 'job') {
    throw new BuildFailure('nothing says what this job runs: set start_command')
  }
  if (proposal === null) {
    throw new BuildFailure(`nothing says how to start this service: ${advice}, or set start_command`)
  }
  notes.push(`starting with: ${proposal}`)
  return proposal
}
