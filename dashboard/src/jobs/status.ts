import type { Job, JobStatus, JobTrigger } from '../api/types.ts'
import { firstLine } from '../api/plain-text.ts'
import type { Tone } from '../ui/StatusBadge.vue'

interface Presentation {
  label: string
  tone: Tone
  /** It is pending or running: it can be canceled, and its log can be followed. */
  inProgress: boolean
}

/** How each status of a run reads. */
export const JOB_STATUS: Record<JobStatus, Presentation> = {
  pending: { label: 'Pending', tone: 'progress', inProgress: true },
  running: { label: 'Running', tone: 'progress', inProgress: true },
  succeeded: { label: 'Succeeded', tone: 'success', inProgress: false },
  failed: { label: 'Failed', tone: 'danger', inProgress: false },
  canceled: { label: 'Canceled', tone: 'neutral', inProgress: false },
}

const TRIGGERS: Record<JobTrigger, string> = { schedule: 'On schedule', manual: 'Started by hand' }

/** What started a run. */
export function triggerLabel(job: Job): string {
  return TRIGGERS[job.trigger]
}

/** What a run does, in one line. */
export function commandLabel(job: Job): string {
  return job.command === null ? "The image's own command" : firstLine(job.command)
}
