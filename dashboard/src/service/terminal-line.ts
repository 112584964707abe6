import type { ServiceInput } from '../api/types.ts'
import { PRODUCTION } from './address.ts'
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
/** What stands for something that was not filled in yet. */
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
  const { name, environment = PRODUCTION, env, env_groups: groups = [], ...fields } = input
  const service = { name: name || NAME, environment }
  const settings = [
    ...Object.entries({ ...MISSING[source], ...fields }).flatMap(([field, value]) => wordsOf(field, value)),
    ...(Object.keys(env ?? {}).length > 0 ? ['--env-file', '.env'] : []),
    ...groups.flatMap((group) => ['--group', group]),
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

function placeOf({ environment }: Place): string[] {
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
