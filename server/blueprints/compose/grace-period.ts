import { LONGEST_SECONDS } from '../../services/replacement.ts'
import { scalarAt } from '../builder.ts'
import { warn, type ForeignMapping, type Notes } from '../foreign.ts'
import type { ScalarNode } from '../nodes.ts'
import { known } from './environment.ts'

/** A duration (compose-spec, "Specifying durations"), and the seconds of each of its parts. */
const DURATION = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?(?:(\d+)us)?$/
const UNITS = [3_600, 60, 1, 1e-3, 1e-6]

/** How long a program may take to stop, in whole seconds. */
export function readGracePeriod(program: ForeignMapping, notes: Notes): ScalarNode | undefined {
  const given = known(program.scalar('stop_grace_period'), notes)
  if (!given) return undefined
  const [whole, ...parts] = DURATION.exec(given.text.trim()) ?? []
  if (!whole) {
    warn(notes, given, 'is not a duration such as 1m30s: it is left out')
    return undefined
  }
  const wanted = Math.ceil(parts.reduce((sum, part, index) => sum + Number(part ?? 0) * UNITS[index]!, 0))
  const seconds = Math.min(Math.max(wanted, 1), LONGEST_SECONDS)
  if (seconds !== wanted)
    warn(notes, given, `a program has 1 to ${LONGEST_SECONDS} s to stop here: ${seconds}`)
  return scalarAt(given.place, seconds)
}
