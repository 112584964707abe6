import { MIN_MEMORY_MB } from '../../schema.ts'
import { scalarAt } from '../builder.ts'
import { warn, type ForeignMapping, type Notes } from '../foreign.ts'
import type { Node, ScalarNode } from '../nodes.ts'
import { known } from './environment.ts'

/** The resources that a program may use, and its number of instances. */
export interface Limits {
  instances: Node | undefined
  memory_limit_mb: Node | undefined
  cpu_limit: Node | undefined
}

export function readLimits(program: ForeignMapping, notes: Notes): Limits {
  const deploy = program.mapping('deploy')
  const resources = deploy?.mapping('resources')
  const limits = resources?.mapping('limits')
  const memory = known(program.scalar('mem_limit') ?? limits?.scalar('memory'), notes)
  const cpus = known(program.scalar('cpus') ?? limits?.scalar('cpus'), notes)
  const instances = known(program.scalar('scale') ?? deploy?.scalar('replicas'), notes)
  // A field that was not taken is given twice.
  limits?.end({
    memory: 'mem_limit of the service takes precedence',
    cpus: 'cpus of the service takes precedence',
  })
  resources?.end({ reservations: 'nothing is reserved here: only limits apply' })
  deploy?.end({
    restart_policy: 'programs are always restarted here',
    update_config: 'a deploy replaces instances without downtime here',
    rollback_config: 'a deploy that fails leaves the old instances running here',
    placement: 'there is one machine here',
    labels: 'labels are not read; domains are custom_domains here',
    replicas: 'scale of the service takes precedence',
  })
  return {
    instances: instances && amount(instances, notes),
    memory_limit_mb: memory && !isUnlimited(memory, notes) ? megabytes(memory, notes) : undefined,
    cpu_limit: cpus && !isUnlimited(cpus, notes) ? amount(cpus, notes) : undefined,
  }
}

/** Whether a limit is zero, which means unlimited in Compose. */
function isUnlimited(node: ScalarNode, notes: Notes): boolean {
  if (!/^0+(?:\.0+)?[bkmgt]?$/i.test(node.text.trim())) return false
  warn(notes, node, "sets no limit: the server's default applies here")
  return true
}

function amount({ text, place }: ScalarNode, notes: Notes): ScalarNode | undefined {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(number)) return scalarAt(place, number)
  notes.faults.add(place, 'must be a number')
  return undefined
}

const UNITS: Record<string, number> = {
  '': 1 / 1024 ** 2,
  b: 1 / 1024 ** 2,
  k: 1 / 1024,
  m: 1,
  g: 1024,
  t: 1024 ** 2,
}

function megabytes(node: ScalarNode, notes: Notes): ScalarNode | undefined {
  const [, size, unit = ''] = /^(\d+(?:\.\d+)?)\s*([bkmgt]?)i?b?$/i.exec(node.text) ?? []
  const factor = UNITS[unit.toLowerCase()]
  if (size !== undefined && factor !== undefined)
    return scalarAt(node.place, Math.max(MIN_MEMORY_MB, Math.round(Number(size) * factor)))
  notes.faults.add(node.place, 'must be a size such as 512m')
  return undefined
}
