import { MAX_DISKS } from '../../disks/list.ts'
import { Name } from '../../schema.ts'
import { normalMountPath } from '../../services/rules.ts'
import { listAt, mappingAt, scalarAt } from '../builder.ts'
import { ForeignMapping, warn, type Notes } from '../foreign.ts'
import type { Node } from '../nodes.ts'
import { missingIn } from './interpolation.ts'
import type { ComposeProgram } from './file.ts'

/** A named volume that a service mounts. */
interface Mount {
  volume: string
  target: string
  node: Node
}

/** The disks of a file: each named volume belongs to one of the services that mount it, preferably one that can write. */
export class ComposeVolumes {
  readonly #owners = new Map<string, ComposeProgram>()

  constructor(programs: readonly ComposeProgram[]) {
    for (const mayWrite of [true, false])
      for (const program of programs)
        for (const item of itemsOf(program.mapping)) {
          const { source, isReadOnly } = volumeOf(item)
          if (source !== null && isReadOnly !== mayWrite && !this.#owners.has(source))
            this.#owners.set(source, program)
        }
  }

  /** The disks of a service: the volumes that it mounts and that belong to it, a single one by its path alone. */
  disksOf(program: ComposeProgram, notes: Notes): Record<string, Node> {
    const disks: Mount[] = []
    for (const mount of mountsOf(program.mapping, notes)) {
      const { volume, target, node } = mount
      const owner = this.#owners.get(volume)!
      if (owner !== program)
        warn(
          notes,
          node,
          `${volume} is the disk of ${owner.here} here, and a disk belongs to one service: ${target} is not kept`,
        )
      else if (disks.length === MAX_DISKS)
        warn(notes, node, `a service has at most ${MAX_DISKS} disks here: ${target} is not kept`)
      else if (disks.some((disk) => isNested(disk.target, target)))
        warn(notes, node, `a disk cannot be inside another one here: ${target} is not kept`)
      else {
        disks.push(mount)
        warn(notes, node, `${volume} becomes a disk of ${program.here}, which is empty at first`)
        warnOfSettings(node, notes)
      }
    }
    const [first, ...others] = disks
    if (!first) return {}
    if (others.length === 0) return { disk_mount_path: scalarAt(first.node.place, first.target) }
    const names = new Set<string>()
    const items = disks.map(({ volume, target, node: { place } }) =>
      mappingAt(place, {
        name: scalarAt(place, freshName(volume, names)),
        mount_path: scalarAt(place, target),
      }),
    )
    return { disks: listAt(first.node.place, items) }
  }
}

/** Whether one of two mount paths contains the other. */
function isNested(left: string, right: string): boolean {
  const [one, other] = [left, right].map((path) => `${normalMountPath(path)}/`) as [string, string]
  return one.startsWith(other) || other.startsWith(one)
}

/** A name for a disk that is like that of its volume, and that no other disk of the service has. */
function freshName(volume: string, taken: Set<string>): string {
  const plain = volume.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')
  const base = Name.safeParse(plain).data ?? 'disk'
  let name = base
  for (let count = 2; taken.has(name); count++) name = `${base.slice(0, 60)}-${count}`
  taken.add(name)
  return name
}

/** Warns of what a mount sets that a disk cannot. */
function warnOfSettings(node: Node, notes: Notes): void {
  const { isReadOnly } = volumeOf(node)
  if (node.kind !== 'mapping') {
    if (isReadOnly) warn(notes, node, READ_ONLY)
    return
  }
  const mapping = new ForeignMapping(node, notes)
  for (const field of ['type', 'source', 'target', ...(isReadOnly ? [] : ['read_only'])]) mapping.take(field)
  mapping.end({ read_only: READ_ONLY, volume: 'a disk has no settings of its own here: it is left out' })
}

const READ_ONLY = 'is mounted read-only in the file: here the program can write to its disk'

function itemsOf({ node }: ForeignMapping): readonly Node[] {
  const volumes = node.entries.get('volumes')
  return volumes?.kind === 'list' ? volumes.items : []
}

/** The named volumes that a service mounts. */
export function volumesIn(program: ForeignMapping): string[] {
  return itemsOf(program).flatMap((item) => volumeOf(item).source ?? [])
}

/** What is lost of a mount of a database, which has its own disk and settings here. */
export function lostOfStore(item: Node): string {
  const { source, isHost, target } = volumeOf(item)
  if (textOf(target)?.includes('initdb'))
    return 'scripts that fill a new database are not run: run them by hand'
  return isHost
    ? "folders and files of the host are not mounted here: the datastore uses the server's settings and its own disk"
    : `the datastore has a disk of its own: the contents of ${source ?? 'the volume'} are not copied`
}

/** The path of a mount in the container, which is unique within a service. */
export function targetOf(item: Node): string {
  return textOf(volumeOf(item).target) ?? ''
}

function mountsOf(program: ForeignMapping, notes: Notes): Mount[] {
  return program.list('volumes').flatMap((node): Mount[] => {
    const { type, source, target, isHost } = volumeOf(node)
    const missing = missingIn(target)
    if (target?.kind !== 'scalar' || (target.text === '' && missing.length === 0)) {
      notes.faults.add(node.place, 'must be a volume such as data:/data')
      return []
    }
    if (type !== 'volume' && type !== 'bind')
      warn(notes, node, `a mount of the type ${type} has no counterpart here and is left out`)
    else if (isHost)
      warn(notes, node, 'folders of the host are not mounted here: put the files into the image')
    else if (missing.length > 0)
      warn(notes, node, `uses ${missing.join(', ')} from outside the file: set disk_mount_path by hand`)
    else if (source === null)
      warn(notes, node, `a volume without a name is temporary: ${target.text} is not kept`)
    else return [{ volume: source, target: target.text, node }]
    return []
  })
}

interface Volume {
  /** `volume`, `bind`, `tmpfs` and others (compose-spec, "volumes"). */
  type: string
  isReadOnly: boolean
  source: string | null
  target: Node | undefined
  isHost: boolean
}

/** Reads the short or the long form (compose-spec, "volumes"). */
function volumeOf(node: Node): Volume {
  if (node.kind === 'mapping') {
    const type = textOf(node.entries.get('type')) ?? 'volume'
    const source = textOf(node.entries.get('source'))
    const isHost = type === 'bind' || (source !== null && isPath(source))
    return {
      type,
      isReadOnly: textOf(node.entries.get('read_only')) === 'true',
      source: isHost || type !== 'volume' ? null : source,
      target: node.entries.get('target'),
      isHost,
    }
  }
  if (node.kind !== 'scalar')
    return { type: 'volume', isReadOnly: false, source: null, target: undefined, isHost: false }
  // A Windows drive contains a colon itself.
  const [, source, path, options = ''] = /^((?:[A-Za-z]:[\\/])?[^:]*):([^:]*)(?::(.*))?/.exec(node.text) ?? []
  const target = { ...node, text: path ?? node.text, value: path ?? node.text }
  const isHost = source !== undefined && isPath(source)
  const isReadOnly = options.split(',').includes('ro')
  return { type: 'volume', isReadOnly, source: isHost ? null : source || null, target, isHost }
}

function textOf(node: Node | undefined): string | null {
  return node?.kind === 'scalar' && node.value !== null ? node.text : null
}

/** Whether a source is a path: the name of a volume begins with a letter or a digit (compose-spec, "volumes"). */
function isPath(source: string): boolean {
  return !/^[A-Za-z0-9][\w.-]*$/.test(source)
}
