import type { z } from 'zod'
import { describe } from '../http/validate.ts'
import { writeReference } from '../variables/references.ts'
import type { Faults, Place } from './faults.ts'
import { isNothing, nodeAt, placeIn, plain, type MappingNode, type Node } from './nodes.ts'
import type { Project, WantedDatastore, WantedGroup, WantedService, WantedVariable } from './project.ts'
import { BlueprintHead, DatastoreEntry, EnvEntry, GroupHead, ServiceHead } from './schema.ts'

/** A part of a file that is read: its value when it is sound, and the node that it came from. */
type Read<T> = { value: T; node: MappingNode } | null

/** Adds what a file of the native dialect asks for to a project. `environment` is where a file that names none belongs. */
export function readNative(file: Node, environment: string, project: Project, faults: Faults): void {
  const head = readPart(BlueprintHead, file, faults)
  if (!head) return
  const { node } = head
  const named = head.value.environment ?? null
  const place = node.entries.get('environment')?.place
  if (named !== null && place) project.environments.push({ name: named, place })
  const where = named ?? environment
  for (const item of itemsOf(node, 'env_groups', faults)) {
    const group = readGroup(item, faults)
    if (group) project.groups.push(group)
    else noteUnread(item, project)
  }
  for (const item of itemsOf(node, 'datastores', faults)) {
    const datastore = readDatastore(item, where, faults)
    if (datastore) project.datastores.push(datastore)
    else noteUnread(item, project)
  }
  for (const item of itemsOf(node, 'services', faults)) {
    const service = readService(item, where, faults)
    if (service) project.services.push(service)
    else noteUnread(item, project)
  }
}

function noteUnread(item: Node, { unread }: Project): void {
  const { node, rest } = nodeAt(item, ['name'])
  if (rest.length === 0 && node.kind === 'scalar') unread.add(node.text)
}

function readGroup(item: Node, faults: Faults): WantedGroup | null {
  const head = readPart(GroupHead, item, faults)
  const variables = readVariables(item, 'vars', faults)
  return head && { name: head.value.name, node: head.node, variables }
}

function readDatastore(item: Node, environment: string, faults: Faults): WantedDatastore | null {
  const read = readPart(DatastoreEntry, item, faults)
  if (!read) return null
  const { name, kind, ...fields } = read.value
  return { name, kind, environment, fields: given(fields), node: read.node }
}

function readService(item: Node, environment: string, faults: Faults): WantedService | null {
  const head = readPart(ServiceHead, item, faults)
  const variables = readVariables(item, 'env', faults)
  if (!head) return null
  const { name, type, deploy, env_groups, env: _, ...fields } = head.value
  return {
    name,
    environment,
    type: type ?? undefined,
    fields: given(fields),
    variables,
    groups: env_groups === undefined ? undefined : (env_groups ?? []),
    deploys: deploy ?? true,
    node: head.node,
  }
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function readVariables(holder: Node, field: string, faults: Faults): WantedVariable[] {
  if (holder.kind !== 'mapping') return []
  return itemsOf(holder, field, faults).flatMap((item) => {
    const entry = readPart(EnvEntry, item, faults)
    if (!entry) return []
    const { key } = entry.value
    return [{ key, place: placeOfValue(entry.node), from: sourceOf(entry.value) }]
  })
}

/** A fault of a variable is most often one of its value. */
function placeOfValue(entry: MappingNode): Place {
  return (entry.entries.get('value') ?? entry.entries.get('key') ?? entry).place
}

function sourceOf({ value, from_datastore, from_service, generate }: EnvEntry): WantedVariable['from'] {
  if (value !== undefined) return { value }
  if (generate) return 'generated'
  if (from_datastore) {
    const { name, property = 'url' } = from_datastore
    return { value: writeReference({ kind: 'datastore', name, property, key: null }) }
  }
  if (!from_service) return 'by hand'
  const { name, property = 'hostport', env_var } = from_service
  return {
    value: writeReference({
      kind: 'service',
      name,
      property: env_var === undefined ? property : `env.${env_var}`,
      key: env_var ?? null,
    }),
  }
}

/** The items of a list that may be left out. */
function itemsOf(holder: MappingNode, field: string, faults: Faults): Node[] {
  const node = holder.entries.get(field)
  if (node === undefined || isNothing(node)) return []
  if (node.kind === 'list') return node.items
  faults.add(node.place, 'must be a list')
  return []
}

/** Reads a part by its schema. What is wrong with it is laid to its places; then there is none. */
function readPart<S extends z.ZodType>(schema: S, node: Node, faults: Faults): Read<z.output<S>> {
  if (node.kind !== 'mapping') {
    faults.add(node.place, 'must be a mapping of fields')
    return null
  }
  const value = plain(node)
  let result = schema.safeParse(value, { error: describe })
  if (!result.success && takeAsWritten(value, node, result.error.issues))
    result = schema.safeParse(value, { error: describe })
  if (result.success) return { value: result.data, node }
  for (const issue of result.error.issues) tellIssue(issue, node, faults)
  return null
}

/** Unquoted values that a text is wanted for are the text that is written. Answers whether there was one. */
function takeAsWritten(value: unknown, node: Node, issues: readonly z.core.$ZodIssue[]): boolean {
  let taken = false
  for (const { code, path, ...issue } of issues) {
    if (code !== 'invalid_type' || !('expected' in issue) || issue.expected !== 'string') continue
    const { node: scalar, rest } = nodeAt(node, path)
    const holder = path.slice(0, -1).reduce((at, step) => (at as Record<PropertyKey, unknown>)?.[step], value)
    const key = path.at(-1)
    if (scalar.kind !== 'scalar' || rest.length > 0 || key === undefined) continue
    // A word for null is meant as that; nothing at all is an empty text.
    if (scalar.value === null && scalar.text !== '') continue
    ;(holder as Record<PropertyKey, unknown>)[key] = scalar.text
    taken = true
  }
  return taken
}

function tellIssue(issue: z.core.$ZodIssue, node: MappingNode, faults: Faults): void {
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) faults.add(placeIn(node, [...issue.path, key]), 'unknown field')
  } else faults.add(placeIn(node, issue.path), issue.message)
}
