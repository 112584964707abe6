import type { z } from 'zod'
import { describe } from '../http/validate.ts'
import { writeReference } from '../variables/references.ts'
import type { Faults, Place } from './faults.ts'
import { emptied, isNothing, nodeAt, placeIn, plain, type MappingNode, type Node } from './nodes.ts'
import {
  UNNAMED,
  type Project,
  type WantedDatastore,
  type WantedFile,
  type WantedGroup,
  type WantedService,
  type WantedVariable,
} from './project.ts'
import { BlueprintHead, DatastoreEntry, EnvEntry, FileEntry, GroupHead, ServiceHead } from './schema.ts'

/** A part of a file after reading: its valid fields, the names of invalid ones, and the node that it came from. */
interface Read<T> {
  value: Partial<T>
  wrong: ReadonlySet<string>
  node: MappingNode
}

/** Adds the contents of a native file to a project. `environment` is used if the file does not name one. */
export function readNative(file: Node, environment: string, project: Project, faults: Faults): void {
  // The items of lists are read one by one.
  const lists = ['env_groups', 'datastores', 'services']
  const head = readPart(BlueprintHead, lists.reduce(emptied, file), faults)
  if (!head || file.kind !== 'mapping') return
  const named = head.value.environment ?? null
  const nameNode = head.node.entries.get('environment')
  if (named !== null && nameNode) project.environments.push({ name: named, node: nameNode })
  readParts(file, head.wrong.has('environment') ? UNNAMED : (named ?? environment), project, faults)
}

function readParts(node: MappingNode, where: string, project: Project, faults: Faults): void {
  for (const item of itemsOf(node, 'env_groups', faults))
    keep(project.groups, readGroup(item, faults), item, project)
  for (const item of itemsOf(node, 'datastores', faults))
    keep(project.datastores, readDatastore(item, where, faults), item, project)
  for (const item of itemsOf(node, 'services', faults))
    keep(project.services, readService(item, where, faults), item, project)
}

function keep<T extends { name: string }>(parts: T[], part: T | null, item: Node, { unread }: Project): void {
  if (part) parts.push(part)
  const { node, rest } = nodeAt(item, ['name'])
  if (part?.name === UNNAMED && rest.length === 0 && node.kind === 'scalar') unread.add(node.text)
}

function readGroup(item: Node, faults: Faults): WantedGroup | null {
  const head = readPart(GroupHead, ['vars', 'secret_files'].reduce(emptied, item), faults)
  if (!head) return null
  const { name = UNNAMED } = head.value
  const variables = readVariables(item, 'vars', null, faults)
  return { name, node: head.node, variables, files: readFiles(item, faults) }
}

function readDatastore(item: Node, environment: string, faults: Faults): WantedDatastore | null {
  const read = readPart(DatastoreEntry, item, faults)
  if (!read) return null
  const { name = UNNAMED, kind, ...fields } = read.value
  return { name, kind, environment, fields: given(fields), node: read.node }
}

function readService(item: Node, environment: string, faults: Faults): WantedService | null {
  const head = readPart(ServiceHead, ['env', 'secret_files'].reduce(emptied, item), faults)
  if (!head) return null
  const { name = UNNAMED, type, deploy, env_groups, env: _, secret_files: _files, ...fields } = head.value
  return {
    name,
    environment,
    type: type ?? undefined,
    fields: given(fields),
    variables: readVariables(item, 'env', name, faults),
    files: readFiles(item, faults),
    groups: env_groups === undefined ? undefined : (env_groups ?? []),
    deploys: deploy ?? true,
    node: head.node,
    wrong: head.wrong,
  }
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** `own` is the name of the service that has the variables; null for a group. */
function readVariables(holder: Node, field: string, own: string | null, faults: Faults): WantedVariable[] {
  if (holder.kind !== 'mapping') return []
  return itemsOf(holder, field, faults).flatMap((item) => {
    const entry = readPart(EnvEntry, item, faults)
    if (!entry) return []
    const { key } = entry.value
    return key === undefined
      ? []
      : [{ key, place: placeOfValue(entry.node), from: sourceOf(entry.value, own) }]
  })
}

function readFiles(holder: Node, faults: Faults): WantedFile[] {
  if (holder.kind !== 'mapping') return []
  return itemsOf(holder, 'secret_files', faults).flatMap((item) => {
    const entry = readPart(FileEntry, item, faults)
    if (entry?.value.name === undefined) return []
    const { name, content, content_base64, path, mode, secret } = entry.value
    const bytes =
      content === undefined ? Buffer.from(content_base64 ?? '', 'base64') : Buffer.from(content, 'utf8')
    const isByHand = content === undefined && content_base64 === undefined
    const from = isByHand ? 'by hand' : { content: bytes }
    const place = placeIn(entry.node, ['name'])
    return [{ name, place, from, path, mode: orDefault(mode, '0400'), secret: orDefault(secret, true) }]
  })
}

function orDefault<T>(value: T | null | undefined, whenNull: T): T | undefined {
  return value === null ? whenNull : value
}

/** Where faults of a variable are reported: most are about its value. */
function placeOfValue(entry: MappingNode): Place {
  return (entry.entries.get('value') ?? entry.entries.get('key') ?? entry).place
}

function sourceOf(
  { value, from_datastore, from_service, generate }: Partial<EnvEntry>,
  own: string | null,
): WantedVariable['from'] {
  if (value !== undefined) return { value }
  if (generate) return 'generated'
  if (from_datastore) {
    const { name, property = 'url' } = from_datastore
    return { value: writeReference({ kind: 'datastore', name, property, key: null }) }
  }
  if (!from_service) return 'by hand'
  const { name, property = 'hostport', env_var } = from_service
  if (name === own && property === 'url') return 'own url'
  return {
    value: writeReference({
      kind: 'service',
      name,
      property: env_var === undefined ? property : `env.${env_var}`,
      key: env_var ?? null,
    }),
  }
}

/** The items of an optional list. */
function itemsOf(holder: MappingNode, field: string, faults: Faults): Node[] {
  const node = holder.entries.get(field)
  if (node === undefined || isNothing(node)) return []
  if (node.kind === 'list') return node.items
  if (!faults.concern(node.place.path)) faults.add(node.place, 'must be a list')
  return []
}

/** Reads a part by its schema. Reports every fault at its place, and still returns the valid fields. */
function readPart<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  node: Node,
  faults: Faults,
): Read<z.output<z.ZodObject<Shape>>> | null {
  if (node.kind !== 'mapping') {
    faults.add(node.place, 'must be a mapping of fields')
    return null
  }
  const value = plain(node)
  let result = schema.safeParse(value, { error: describe })
  if (!result.success && takeAsWritten(value, node, result.error.issues))
    result = schema.safeParse(value, { error: describe })
  if (result.success) return { value: result.data, wrong: NOTHING_WRONG, node }
  reportIssues(result.error.issues, node, faults)
  const faulty = new Set(result.error.issues.flatMap(fieldsOf))
  const valid = Object.entries(value as object)
    .filter(([field]) => !faulty.has(field))
    .map(([field, held]) => [field, (schema.shape[field] as z.ZodType).parse(held)])
  const wrong = new Set([...faulty].filter((field) => Object.hasOwn(schema.shape, field)))
  return { value: Object.fromEntries(valid) as Partial<z.output<z.ZodObject<Shape>>>, wrong, node }
}

const NOTHING_WRONG: ReadonlySet<string> = new Set()

/** The fields of a part that an issue is about. */
function fieldsOf(issue: z.core.$ZodIssue): string[] {
  const [field] = issue.path
  if (field !== undefined) return [String(field)]
  return issue.code === 'unrecognized_keys' ? issue.keys : []
}

/** Replaces unquoted values by the text as it is written wherever a text is expected. Returns whether there were any. */
function takeAsWritten(value: unknown, node: Node, issues: readonly z.core.$ZodIssue[]): boolean {
  let taken = false
  for (const { code, path, ...issue } of issues) {
    if (code !== 'invalid_type' || !('expected' in issue) || issue.expected !== 'string') continue
    const { node: scalar, rest } = nodeAt(node, path)
    const holder = path.slice(0, -1).reduce((at, step) => (at as Record<PropertyKey, unknown>)?.[step], value)
    const key = path.at(-1)
    if (scalar.kind !== 'scalar' || rest.length > 0 || key === undefined) continue
    // A word for null means null, while an empty value is an empty text.
    if (scalar.value === null && scalar.text !== '') continue
    ;(holder as Record<PropertyKey, unknown>)[key] = scalar.text
    taken = true
  }
  return taken
}

function reportIssues(issues: readonly z.core.$ZodIssue[], node: MappingNode, faults: Faults): void {
  for (const issue of issues) {
    // The first word of another dialect has its fault already.
    if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys) faults.addOnce(placeIn(node, [...issue.path, key]), 'unknown field')
  }
  const found = issues.filter(({ code }) => code !== 'unrecognized_keys')
  // A fault in the form of a value already explains why the value is invalid.
  const unexplained = found.filter(({ path }) => !faults.concern(placeIn(node, path).path))
  for (const { path, message } of unexplained) faults.add(placeIn(node, path), message)
}
