import { scalarAt } from './builder.ts'
import { interpolate } from './compose-environment.ts'
import { warn, type ForeignMapping, type Notes } from './foreign.ts'
import type { Node } from './nodes.ts'

/** One named volume becomes the disk of the service. */
export function readDisk(program: ForeignMapping, notes: Notes): Node | undefined {
  let disk: Node | undefined
  for (const item of program.list('volumes')) {
    const [source, given] = volumeOf(item)
    if (given === undefined) continue
    const { text: target, missing } = interpolate(given)
    const isNamed = source === undefined || /^[A-Za-z0-9]/.test(source)
    if (!isNamed) warn(notes, item, 'folders of the host are not mounted here: put the files into the image')
    else if (missing.length > 0)
      warn(notes, item, `takes ${missing.join(', ')} from outside of the file: set disk_mount_path by hand`)
    else if (disk) warn(notes, item, `a service has one disk here: ${target} is not kept`)
    else disk = scalarAt(item.place, target)
  }
  return disk
}

function volumeOf(item: Node): [source: string | undefined, target: string | undefined] {
  if (item.kind === 'mapping') {
    const text = (field: string) => {
      const node = item.entries.get(field)
      return node?.kind === 'scalar' ? node.text : undefined
    }
    return text('type') === 'bind' ? ['./', text('target')] : [text('source'), text('target')]
  }
  if (item.kind !== 'scalar') return [undefined, undefined]
  // A colon may stand in what is interpolated.
  const parts = item.text.match(/(?:\$\{[^}]*\}|[^:])+/g) ?? []
  return parts.length === 1 ? [undefined, parts[0]] : [parts[0], parts[1]]
}
