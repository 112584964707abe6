import type { DatastoreInput, ServiceInput } from '../api/types.ts'
import { PRODUCTION, qualifiedName } from './address.ts'
import type { SourceKind } from './settings-form.ts'

/** Fields for which `deployer create` has a flag; it takes the others as `field=value`. */
const FLAGS: Readonly<Record<string, string>> = {
  repo_url: '--repo',
  branch: '--branch',
  image: '--image',
  type: '--type',
}
/** What a new service has anyway. */
const USUAL: Readonly<Record<string, readonly unknown[]>> = {
  type: ['web_service'],
  runtime: ['auto', 'image'],
  auto_deploy: [true],
}
/** In the address of a repository; over ssh there is only a user. */
const CREDENTIALS = /^(https?:\/\/)[^/@]+@/i
/** Shown in place of what was not filled in yet. */
const NAME = 'NAME'
const MISSING: Readonly<Record<SourceKind, object>> = {
  git: { repo_url: 'URL' },
  image: { image: 'IMAGE' },
  archive: {},
}

interface Place {
  name: string
  environment: string
}

/**
 * The line that creates a service as a form would, two for an upload with settings. It has neither values of variables nor
 * the password of an address: others can see a command line, and it stays in a history.
 */
export function creationLine(input: ServiceInput, source: SourceKind): string {
  const { name, environment = PRODUCTION, env, env_groups, ...fields } = input
  const service = { name: name || NAME, environment }
  const settings = [
    ...Object.entries({ ...MISSING[source], ...fields }).flatMap(([field, value]) => wordsOf(field, value)),
    ...variableWords({ env, env_groups }),
  ]
  if (source === 'archive' && settings.length === 0) return `${deployLine(service, source)} --create`
  const creation = lineOf('create', service.name, ...settings, ...placeOf(service))
  return source === 'archive' ? `${creation}\n${deployLine(service, source)}` : creation
}

/** The line that deploys a service: from its source, or an upload from the folder in which it is typed. */
export function deployLine(service: Place, source: SourceKind): string {
  const folder = source === 'archive' ? ['.'] : []
  return lineOf('deploy', ...folder, '--service', service.name, ...placeOf(service))
}

/** The line that creates a service for a sample of the server and deploys it, two if it gets variables. */
export function sampleLine(input: ServiceInput, sample: string): string {
  const { name, environment = PRODUCTION, type = 'web_service' } = input
  const service = { name: name || NAME, environment }
  const place = placeOf(service)
  const deployment = lineOf('deploy', '--sample', sample, '--service', service.name, ...place)
  const variables = variableWords(input)
  if (variables.length === 0) return `${deployment} --create`
  return `${lineOf('create', service.name, ...wordsOf('type', type), ...variables, ...place)}\n${deployment}`
}

/** The line that shows what was saved of a service and is not live. */
export function changesLine(service: Place): string {
  return lineOf('changes', qualifiedName(service))
}

/** The line that goes back to a deploy. */
export function rollbackLine(service: Place, deploy: string): string {
  return lineOf('rollback', qualifiedName(service), '--to', deploy)
}

/** The line that follows what a service prints. */
export function logsLine(service: Place): string {
  return lineOf('logs', qualifiedName(service), '--follow')
}

/** The line that follows what services of an environment print; without names, all of them. */
export function logsAcrossLine(names: readonly string[], environment: string): string {
  const subjects = names.length > 0 ? names : ['--all']
  return lineOf('logs', ...subjects, '--follow', ...placeOf({ environment }))
}

/** The line that follows the log of a deploy. */
export function deployLogsLine(deploy: string): string {
  return lineOf('deploys', 'logs', deploy, '--follow')
}

/** The line that follows what a datastore prints. */
export function datastoreLogsLine(datastore: Place): string {
  return lineOf('db', 'logs', qualifiedName(datastore), '--follow')
}

/** The line that creates a datastore as a form would. */
export function datastoreCreationLine({ kind, name, environment, ...fields }: DatastoreInput): string {
  const settings = Object.entries(fields).flatMap(([field, value]) =>
    value === null || value === 0 ? [] : wordsOf(field, value),
  )
  const product = kind === 'relational' ? 'postgresql' : kind
  return lineOf(
    ...['db', 'create', name || NAME, ...settings, '--kind', product],
    ...placeOf({ environment: environment ?? PRODUCTION }),
  )
}

/** The line that runs a command in a service's image; without one, a cron job's own. */
export function runLine(service: Place, command?: string): string {
  const words = ['run', qualifiedName(service)]
  // A single word is run by a shell, as on the page.
  return command === undefined ? lineOf(...words) : lineOf(...words, '--', command.trim() || 'COMMAND')
}

/** The line that opens a shell in a service: in this instance, a fresh container, or where the server chooses. */
export function shellLine(service: Place, { instance, fresh }: { instance?: string; fresh?: true }): string {
  const where = instance === undefined ? [] : ['--instance', instance]
  return lineOf('shell', qualifiedName(service), ...where, ...(fresh ? ['--fresh'] : []))
}

/** The line that opens the client of a datastore in its container. */
export function datastoreShellLine(datastore: Place): string {
  return lineOf('db', 'shell', qualifiedName(datastore))
}

/** The lines that set variables of a service: one, and those of a file. */
export function variableLines(service: Place): string {
  const place = ['--service', qualifiedName(service)]
  return [lineOf('env', 'set', 'KEY=VALUE', ...place), lineOf('env', 'push', '.env', ...place)].join('\n')
}

/** The line that gives a service a custom domain. */
export function domainLine(service: Place, domain: string): string {
  return lineOf('domains', 'add', domain.trim() || 'DOMAIN', qualifiedName(service))
}

/** The line that restores a backup of a datastore: into a new one of that name, or in place of its data. */
export function datastoreRestoreLine(datastore: Place, backup: string, into: string | null): string {
  const target = into === null ? [] : ['--into', into.trim() || NAME]
  return lineOf('db', 'restore', qualifiedName(datastore), backup, ...target)
}

/** The line that restores a backup of a service's disk, into another service or over another disk if they are named. */
export function diskRestoreLine(
  service: Place,
  backup: string,
  { into, disk }: { into?: Place; disk?: string },
): string {
  const target = [...(into ? ['--into', qualifiedName(into)] : []), ...(disk ? ['--disk', disk] : [])]
  return lineOf('disk', 'restore', qualifiedName(service), backup, ...target)
}

/** The line that moves a datastore, or a service with its disks, to another node. */
export function moveLine(command: 'db' | 'disk', subject: Place, node: string, fromBackup: boolean): string {
  const flags = fromBackup ? ['--from-backup'] : []
  return lineOf(command, 'move', qualifiedName(subject), node || 'NODE', ...flags)
}

/** Where the variables of a new service come from. */
function variableWords({ env, env_groups = [] }: Pick<ServiceInput, 'env' | 'env_groups'>): string[] {
  const file = Object.keys(env ?? {}).length > 0 ? ['--env-file', '.env'] : []
  return [...file, ...env_groups.flatMap((group) => ['--group', group])]
}

function placeOf({ environment }: Pick<Place, 'environment'>): string[] {
  return environment === PRODUCTION ? [] : ['--environment', environment]
}

function wordsOf(field: string, value: unknown): string[] {
  if (USUAL[field]?.includes(value)) return []
  const text =
    typeof value === 'string' ? value.replace(CREDENTIALS, '$1USER:PASSWORD@') : JSON.stringify(value)
  const flag = FLAGS[field]
  return flag === undefined ? [`${field}=${text}`] : [flag, text]
}

function lineOf(...words: string[]): string {
  return ['deployer', ...words.map(quoted)].join(' ')
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
