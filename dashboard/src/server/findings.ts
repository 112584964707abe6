import type { Finding } from '../api/types.ts'
import type { Tone } from '../ui/StatusBadge.vue'

type Outcome = Finding['outcome']

const LOOKS: Record<Outcome, { tone: Tone; label: string }> = {
  failed: { tone: 'danger', label: 'Failed' },
  warning: { tone: 'warning', label: 'Warning' },
  passed: { tone: 'success', label: 'Passed' },
  skipped: { tone: 'neutral', label: 'Skipped' },
}
const OUTCOMES = Object.keys(LOOKS) as Outcome[]

export function findingLook({ outcome }: Finding): { tone: Tone; label: string } {
  return LOOKS[outcome]
}

/** What needs attention first; else in the order of the server. */
export function byNeed(findings: readonly Finding[]): Finding[] {
  return OUTCOMES.flatMap((outcome) => findings.filter((finding) => finding.outcome === outcome))
}

/** How many checks ended in each way, in one line. */
export function summaryOf(findings: readonly Finding[]): string {
  const count = (outcome: Outcome) => findings.filter((finding) => finding.outcome === outcome).length
  const warnings = count('warning')
  return `${count('failed')} failed, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${count('passed')} passed, ${count('skipped')} skipped`
}
