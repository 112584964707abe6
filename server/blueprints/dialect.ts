import { SERVICE_TYPES } from '../services/types.ts'
import type { Notes } from './foreign.ts'
import type { MappingNode, Node } from './nodes.ts'
import type { OwnRepository } from './project.ts'
import { readRender, type NativeFile } from './render.ts'

/** Keys and types that only one of the dialects has, at the top of a file and in a service. */
const DISTINCTIVE = {
  native: {
    top: new Set(['environment', 'env_groups', 'datastores']),
    types: new Set<string>(SERVICE_TYPES),
    isKey: (key: string) => key.includes('_') || key === 'image_url',
    env: 'list',
  },
  render: {
    top: new Set(['databases', 'envVarGroups', 'projects', 'ungrouped', 'previewsEnabled', 'previews']),
    types: new Set(['web', 'pserv', 'worker', 'cron', 'static', 'redis', 'keyvalue']),
    isKey: (key: string) =>
      /[a-z][A-Z]/.test(key) || ['repo', 'plan', 'region', 'disk', 'scaling'].includes(key),
    env: 'scalar',
  },
} as const

type Dialect = keyof typeof DISTINCTIVE

/** Reads a file of either dialect as files of the native one. A file without distinctive keys is native. */
export function readDialect(root: Node, own: OwnRepository | null, notes: Notes): NativeFile[] {
  if (root.kind !== 'mapping') {
    notes.faults.add(root.place, 'a blueprint is a mapping with services, datastores or env_groups')
    return []
  }
  const native = distinctiveNode(root, 'native')
  const render = distinctiveNode(root, 'render')
  if (native && render) {
    const [first, second] = native.place.line <= render.place.line ? [native, render] : [render, native]
    const [here, there] =
      first === native ? ['the native dialect', 'render.yaml'] : ['render.yaml', 'the native dialect']
    notes.faults.add(
      second.place,
      `belongs to ${there}, but ${first.place.path} in line ${first.place.line} belongs to ${here}: a file must use one dialect`,
    )
    // It is read as what it began as, so that its other faults come at once.
    if (first === native) return [{ node: root, environment: null }]
  }
  return render ? readRender(root, own, notes) : [{ node: root, environment: null }]
}

/** The first value that only one dialect can have. */
function distinctiveNode(root: MappingNode, dialect: Dialect): Node | undefined {
  const { top, types, isKey, env } = DISTINCTIVE[dialect]
  const found: Node[] = []
  for (const [key, node] of root.entries) {
    if (top.has(key)) found.push(node)
    if (key !== 'services' || node.kind !== 'list') continue
    for (const service of node.items) {
      if (service.kind !== 'mapping') continue
      for (const [field, value] of service.entries) {
        const isType = field === 'type' && value.kind === 'scalar' && types.has(value.text)
        if (isType || isKey(field) || (field === 'env' && value.kind === env)) found.push(value)
      }
    }
  }
  return found.toSorted((left, right) => left.place.line - right.place.line)[0]
}
