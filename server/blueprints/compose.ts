import { mappingAt, someAt } from './builder.ts'
import { ComposeNames } from './compose-names.ts'
import { composeService } from './compose-services.ts'
import { Faults } from './faults.ts'
import { ForeignMapping, warn, type Notes } from './foreign.ts'
import { isNothing, plain, type Node } from './nodes.ts'
import { writeNative } from './write.ts'
import { readYaml } from './yaml.ts'

const ASIDE: Record<string, string> = {
  secrets: 'secrets are variables here: set them by hand',
  configs: 'files of configs belong into the image or the repository here',
  include: 'other files are not read: convert them by themselves',
}

/** The native text, and what is not quite the same in it. */
export interface Converted {
  yaml: string
  warnings: string[]
}

/**
 * Converts a file of Compose (compose-spec.io) into a native blueprint, and says what is not quite the same. Throws
 * `invalid_request` with every fault.
 */
export function convertCompose(text: string, origin: string): Converted {
  const notes: Notes = { faults: new Faults(), warnings: [] }
  const root = withServices(readYaml(text, notes.faults))
  const services = root.kind === 'mapping' ? root.entries.get('services') : undefined
  if (root.kind !== 'mapping' || services?.kind !== 'mapping') {
    if (!notes.faults.any)
      notes.faults.add(services?.place ?? root.place, 'a file of Compose has a mapping named services')
    notes.faults.refuse()
  }
  const file = convert(new ForeignMapping(root as ForeignMapping['node'], notes), notes)
  notes.faults.refuse()
  return { yaml: writeNative(plain(file) as Record<string, unknown>, origin), warnings: notes.warnings }
}

/** The first format of Compose had its services at the top (docs.docker.com/compose, "Version 1"). */
function withServices(root: Node): Node {
  const isService = (node: Node) =>
    node.kind === 'mapping' && (node.entries.has('image') || node.entries.has('build'))
  const isFirst =
    root.kind === 'mapping' && root.entries.size > 0 && [...root.entries.values()].every(isService)
  return isFirst ? mappingAt(root.place, { services: root }) : root
}

function convert(file: ForeignMapping, notes: Notes): Node {
  const { place } = file.node
  for (const field of ['version', 'name', 'volumes', 'networks']) file.take(field)
  const holder = file.mapping('services')!
  const programs = [...holder.node.entries].flatMap(([name, node]) => {
    if (node.kind === 'mapping') return [{ name, mapping: new ForeignMapping(node, notes) }]
    notes.faults.add(node.place, 'must be a mapping')
    return []
  })
  const names = new ComposeNames(programs, notes)
  const datastores: Node[] = []
  const services: Node[] = []
  for (const { name, mapping } of programs) {
    const store = names.store(name)
    const { entries } = mapping.node
    if (isNothing(entries.get('image')) && isNothing(entries.get('build')))
      warn(notes, mapping.node, 'has neither an image nor a build: it is left out')
    else if (store) datastores.push(store.entry())
    else services.push(composeService(names.nameOf(name), mapping, names, notes))
  }
  file.end(ASIDE)
  if (services.length > 0 && names.builds)
    warn(notes, file.node, 'what is built has no repository yet: add repo_url, or upload its source')
  return mappingAt(place, {
    datastores: someAt(place, datastores),
    services: someAt(place, services),
  })
}
