import type { Datastore, Move, Node } from '../api/types.ts'
import { bytes } from '../metrics/units.ts'
import type { Tone } from '../ui/StatusBadge.vue'

const STATUS: Record<Node['status'], { label: string; tone: Tone }> = {
  joining: { label: 'Joining', tone: 'progress' },
  ready: { label: 'Ready', tone: 'success' },
  draining: { label: 'Draining', tone: 'progress' },
  drained: { label: 'Drained', tone: 'neutral' },
  unreachable: { label: 'Unreachable', tone: 'warning' },
  down: { label: 'Down', tone: 'danger' },
}

/** How a node's status reads; a drain with how far it is, and one that waits for a move does not turn. */
export function nodeLook({ status, progress, bound }: Node): { label: string; tone: Tone } {
  const look = STATUS[status]
  if (status !== 'draining' || !progress) return look
  const isWaiting = bound.length > 0 && progress.done === progress.total
  return {
    label: `Draining ${progress.done} of ${progress.total}`,
    tone: isWaiting ? 'warning' : look.tone,
  }
}

/** What machine a node is, in a line. */
export function machineText({ cpus, memory_bytes, disk_free_bytes, architecture }: Node): string {
  return [
    cpus === null ? null : `${cpus} CPUs`,
    memory_bytes === null ? null : bytes(memory_bytes),
    disk_free_bytes === null ? null : `${bytes(disk_free_bytes)} of disk free`,
    architecture,
  ]
    .filter((part) => part !== null)
    .join(', ')
}

/** What has its data on a node, and can be moved to another. */
export type Movable = Pick<Datastore, 'name' | 'environment' | 'node' | 'node_name' | 'move'> & {
  error?: string | null
}

/** How far a move is. */
export function copiedText({ from_backup, done_bytes, total_bytes }: Move): string {
  if (done_bytes === null)
    return from_backup ? 'The backup is being restored.' : 'The copy has not begun yet.'
  const total = total_bytes === null ? '' : ` of about ${bytes(total_bytes)}`
  return `${bytes(done_bytes)}${total} copied.`
}

/** Labels as a form has them: one a line, such as `disk=ssd`. */
export function labelLines(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
}

/** The labels in lines; what the server thinks of them is left to it. */
export function labelsIn(lines: string): Record<string, string> {
  const pairs = lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const at = line.indexOf('=')
      return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    })
  return Object.fromEntries(pairs) as Record<string, string>
}
