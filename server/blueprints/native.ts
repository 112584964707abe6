import type { z } from 'zod'
import { describe } from '../http/validate.ts'
import { writeReference } from '../variables/references.ts'
import type { Faults, Place } from './faults.ts'
import { emptied, isNothing, nodeAt, placeIn, plain, type MappingNode, type Node } from './nodes.ts'
import type { Project, WantedDatastore, WantedGroup, WantedService, WantedVariable } from './project.ts'
import { BlueprintHead, DatastoreEntry, EnvEntry, GroupHead, ServiceHead } from './schema.ts'

/** A part of a file that is read: what is sound of it, and the node that it came from. */
type Read<T> = { value: T; node: MappingNode; isFaulty: boolean } | null

/** Adds what a file of the native dialect asks for to a project. `environment` is where a file that names none belongs. */
export function readNative(file: Node, environment: string, project: Project, faults: Faults): void {
  const head = readPart(BlueprintHead, file, faults, ['environment'])
  if (file.kind !== 'mapping') return
  const named = head?.value.environment ?? null
  const naming = file.entries.get('environment')
  if (named !== null && naming) project.environments.push({ name: named, node: naming })
  // Where it is all meant to be is not known: it is read for what is wrong with it alone.
  const into = head ? project : { ...project, groups: [], datastores: [], services: [] }
  readParts(file, named ?? environment, into, faults)
}

function readParts(node: MappingNode, where: string, project: Project, faults: Faults): void {
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
  const head = readPart(GroupHead, item, faults, ['name'])
  const variables = readVariables(item, 'vars', faults)
  return head && { name: head.value.name, node: emptied(head.node, 'vars'), variables }
}

function readDatastore(item: Node, environment: string, faults: Faults): WantedDatastore | null {
  const read = readPart(DatastoreEntry, item, faults, ['name', 'kind'])
  if (!read) return null
  const { name, kind, ...fields } = read.value
  return { name, kind, environment, fields: given(fields), node: read.node }
}

function readService(item: Node, environment: string, faults: Faults): WantedService | null {
  const head = readPart(ServiceHead, item, faults, ['name', 'type'])
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
    node: emptied(head.node, 'env'),
    isFaulty: head.isFaulty,
  }
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function readVariables(holder: Node, field: string, faults: Faults): WantedVariable[] {
  if (holder.kind !== 'mapping') return []
  return itemsOf(holder, field, faults).flatMap((item) => {
    const entry = readPart(EnvEntry, item, faults, ['key'])
    if (entry && !entry.isFaulty)
      return [{ key: entry.value.key, place: placeOfValue(entry.node), from: sourceOf(entry.value) }]
    // What refers to it is no fault of its own.
    const { node, rest } = nodeAt(item, ['key'])
    return rest.length === 0 && node.kind === 'scalar'
      ? [{ key: node.text, place: node.place, from: 'by hand' as const }]
      : []
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

/**
 * Reads a part by its schema. What is wrong with it is laid to its places, and what is left of it is read, so that the
 * rest of its faults is found too; nothing is where one of its `needed` fields is at fault.
 */
function readPart<S extends z.ZodType>(
  schema: S,
  node: Node,
  faults: Faults,
  needed: readonly string[],
): Read<z.output<S>> {
  if (node.kind !== 'mapping') {
    faults.add(node.place, 'must be a mapping of fields')
    return null
  }
  const value = plain(node)
  let result = schema.safeParse(value, { error: describe })
  if (!result.success && takeAsWritten(value, node, result.error.issues))
    result = schema.safeParse(value, { error: describe })
  if (result.success) return { value: result.data, node, isFaulty: false }
  for (const issue of result.error.issues) tellIssue(issue, node, faults)
  const faulty = new Set(result.error.issues.flatMap(fieldsOf))
  if (needed.some((field) => faulty.has(field))) return null
  const sound = Object.entries(value as object).filter(([field]) => !faulty.has(field))
  const rest = schema.safeParse(Object.fromEntries(sound), { error: describe })
  return rest.success ? { value: rest.data, node, isFaulty: true } : null
}

/** The fields of a part that an issue is about. */
function fieldsOf(issue: z.core.$ZodIssue): string[] {
  const [field] = issue.path
  if (field !== undefined) return [String(field)]
  return issue.code === 'unrecognized_keys' ? issue.keys : []
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
