import { AppError } from '../../errors.ts'
import { checkFile, checkSettings } from '../check-file.ts'
import { Faults, type Fault } from '../faults.ts'
import { warn, type Notes } from '../foreign.ts'
import { nodeAt, plain, type Node } from '../nodes.ts'
import { readBlueprint } from '../read.ts'
import { writeNative } from '../write.ts'

/**
 * Writes a file that can be applied: what would be refused is removed from `file`, with a warning at the line of the Compose
 * file that it comes from. Throws `invalid_request` for what cannot be left out.
 */
export function writeApplicable(file: Node, origin: string, notes: Notes): string {
  for (;;) {
    const text = writeNative(plain(file) as Record<string, unknown>, origin)
    const faults = faultsIn(text)
    if (faults.length === 0) return text
    // All parts are found before any is removed, since removing an item of a list shifts those after it.
    const parts = faults.map((fault) => ({ fault, part: partAt(file, fault.path) }))
    for (const { fault, part } of parts) {
      if (!part) throw new AppError('invalid_request', `${fault.path}: ${fault.message}`)
      warn(notes, part.node, `${part.field}: ${fault.message}: it is left out`)
      remove(part)
    }
  }
}

function faultsIn(text: string): readonly Fault[] {
  const { project, faults: found } = readBlueprint(text, {})
  const faults = new Faults(found)
  checkFile(project, faults)
  for (const service of project.services) checkSettings(service, undefined, faults)
  return faults.found
}

/** One step of a path such as `services[0].env[2].value`. */
const STEP = /\[(\d+)\]|([^.[\]]+)/g

/** A field of a mapping, or an item of a list. */
interface Part {
  holder: Node
  node: Node
  field: string
}

function remove({ holder, node, field }: Part): void {
  if (holder.kind === 'mapping') holder.entries.delete(field)
  else if (holder.kind === 'list') holder.items = holder.items.filter((item) => item !== node)
}

/** The field at a path of the written file, or the whole variable that contains it. */
function partAt(file: Node, path: string): Part | undefined {
  const steps = [...path.matchAll(STEP)].map(([, index, field]) =>
    index === undefined ? field! : Number(index),
  )
  const env = steps.indexOf('env')
  const whole = env >= 0 && steps.length > env + 1 ? steps.slice(0, env + 2) : steps
  const { node: holder } = nodeAt(file, whole.slice(0, -1))
  const { node, rest } = nodeAt(file, whole)
  if (whole.length === 0 || rest.length > 0) return undefined
  return { holder, node, field: holder.kind === 'mapping' ? String(whole.at(-1)) : 'the variable' }
}
