import { mappingAt, someAt } from '../builder.ts'
import { Faults } from '../faults.ts'
import { ForeignMapping, warn, type Notes } from '../foreign.ts'
import type { MappingNode, Node } from '../nodes.ts'
import { MAX_RESOURCES } from '../read.ts'
import { readYaml } from '../yaml.ts'
import { withExtended } from './extends.ts'
import { ComposeFile, hasProgram, isBuilt } from './file.ts'
import { interpolateAll } from './interpolation.ts'
import { Roles } from './roles.ts'
import { composeService } from './services.ts'
import { composeStore } from './stores.ts'
import { volumesIn } from './volumes.ts'
import { writeApplicable } from './writing.ts'

const LEFT_OUT_AT_TOP: Record<string, string> = {
  version: 'is obsolete (compose-spec, "Version top-level element")',
  name: 'an environment has its own name here',
  networks: 'an environment is one network here: it is left out',
  secrets: 'secrets are variables here: set them by hand',
  configs: 'put the files of configs into the image or the repository',
  include: 'other files are not read: convert them separately',
}

/** The native file, and warnings about what differs in it. */
export interface Converted {
  yaml: string
  warnings: string[]
}

/**
 * Converts a Compose file (compose-spec.io) to a native blueprint that can be applied. Every field of the file ends up in it
 * or in a warning. Throws `invalid_request` with every fault.
 */
export function convertCompose(text: string, origin: string): Converted {
  const notes: Notes = { faults: new Faults(), warnings: [] }
  const root = withServices(readYaml(text, notes.faults))
  const services = root.kind === 'mapping' ? root.entries.get('services') : undefined
  if (root.kind !== 'mapping' || services?.kind !== 'mapping') {
    if (!notes.faults.any)
      notes.faults.add(services?.place ?? root.place, 'a Compose file has a mapping named services')
    notes.faults.refuse()
    throw new Error('unreachable: a fault was added')
  }
  // The work for `extends` grows with the number of services, so the limit is checked first.
  if (services.entries.size > MAX_RESOURCES) {
    notes.faults.add(
      services.place,
      `has ${services.entries.size} services: at most ${MAX_RESOURCES} are allowed`,
    )
    notes.faults.refuse()
  }
  const file = convert(new ForeignMapping(root, notes), services, notes)
  notes.faults.refuse()
  const yaml = writeApplicable(file, origin, notes)
  return { yaml, warnings: notes.warnings.toSorted((left, right) => lineOf(left) - lineOf(right)) }
}

function lineOf(warning: string): number {
  return Number(/^line (\d+)/.exec(warning)?.[1])
}

/** In the first format of Compose, services are at the top level (docs.docker.com/compose, "Version 1"). */
function withServices(root: Node): Node {
  const isService = (node: Node) =>
    node.kind === 'mapping' && (node.entries.has('image') || node.entries.has('build'))
  const isFirst =
    root.kind === 'mapping' && root.entries.size > 0 && [...root.entries.values()].every(isService)
  return isFirst ? mappingAt(root.place, { services: root }) : root
}

function convert(top: ForeignMapping, services: MappingNode, notes: Notes): Node {
  const { place } = top.node
  for (const field of ['services', 'volumes']) top.take(field)
  const extended = withExtended(interpolateAll(services) as MappingNode, notes)
  const roles = new Roles(new ComposeFile(extended, notes))
  const written: { datastores: Node[]; services: Node[] } = { datastores: [], services: [] }
  const { programs } = roles.file
  for (const program of roles.once) if (hasProgram(program)) roles.runBefore(program, notes)
  for (const program of programs) {
    const store = roles.storeOf(program)
    if (!hasProgram(program))
      warn(notes, program.mapping.node, 'has neither an image nor a build: it is left out')
    else if (store) written.datastores.push(composeStore(store, notes))
    else if (!roles.runsOnce(program)) written.services.push(composeService(program, roles, notes))
  }
  warnOfVolumes(top, roles.file, notes)
  top.end(LEFT_OUT_AT_TOP)
  if (programs.some(({ mapping }) => isBuilt(mapping.node)))
    warn(
      notes,
      top.node,
      'services that are built have no repository yet: add repo_url, or upload their source',
    )
  return mappingAt(place, {
    datastores: someAt(place, written.datastores),
    services: someAt(place, written.services),
  })
}

/** Warns of top-level volumes that no service mounts, and of settings of the others: neither has a counterpart here. */
function warnOfVolumes(top: ForeignMapping, { programs }: ComposeFile, notes: Notes): void {
  const mounted = new Set(programs.flatMap(({ mapping }) => volumesIn(mapping)))
  for (const [name, volume] of top.mapping('volumes')?.node.entries ?? []) {
    if (!mounted.has(name)) warn(notes, volume, 'no service mounts it: it is left out')
    else if (volume.kind === 'mapping')
      for (const setting of volume.entries.values())
        warn(notes, setting, 'a disk has no settings of its own here: it is left out')
  }
}
