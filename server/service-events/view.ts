import { callersReach } from '../access/caller.ts'
import type { Actor } from '../audit/schema.ts'
import { timestamp } from '../clock.ts'
import type { ServiceEvent, ServiceEventDetails } from './schema.ts'
import type { ServiceEventRow } from './store.ts'
import type { ServiceEventType } from './types.ts'

/** An event as the API returns it. */
export function viewServiceEvent(row: ServiceEventRow): ServiceEvent {
  const details = withoutNulls(JSON.parse(row.details) as Record<string, unknown>)
  return {
    id: row.id,
    service_id: row.service_id,
    at: timestamp(row.at),
    type: row.type,
    message: MESSAGES[row.type](details, row),
    deploy_id: row.deploy_id,
    instance: row.instance,
    details,
    actor: viewActor(row.actor === null ? null : (JSON.parse(row.actor) as Actor)),
    count: row.count,
    first_at: timestamp(row.first_at ?? row.at),
  }
}

/** Who else has access to the server is not for tokens that are restricted to a part of it. */
function viewActor(actor: Actor | null): Actor | null {
  return actor && callersReach() ? { kind: actor.kind, id: null, name: null } : actor
}

function withoutNulls(details: Record<string, unknown>): ServiceEventDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null))
}

type Tell = (details: ServiceEventDetails, row: Pick<ServiceEventRow, 'instance'>) => string

/** What each type says, in one line. */
const MESSAGES: Record<ServiceEventType, Tell> = {
  'service.created': () => 'Service created',
  'deploy.started': (details) => `${deployOf(details)} started${versionOf(details)}`,
  'deploy.succeeded': (details) => `${deployOf(details)} is live${versionOf(details)}`,
  'deploy.failed': (details) => `${deployOf(details)} failed${because(details)}`,
  'deploy.canceled': (details) => `${deployOf(details)} canceled${because(details)}`,
  'service.crashed': ({ reason = 'it ended' }, row) =>
    `${instanceOf(row)} ended: ${reason.replace(/^the program ended: /, '')}`,
  'service.out_of_memory': (_, row) =>
    `${instanceOf(row)} was killed: it used more memory than its limit (memory_limit_mb)`,
  'service.unresponsive': (details, row) =>
    `${instanceOf(row)} is restarted: its health check fails${because(details)}`,
  'service.down': (details) => `Down${because(details)}`,
  'service.recovered': () => 'Running again: all of its instances are answering',
  'service.scaled': ({ from, to }) => `Scaled from ${from} to ${to} ${to === 1 ? 'instance' : 'instances'}`,
  'service.suspended': () => 'Suspended',
  'service.resumed': () => 'Resumed',
  'service.updated': (details) => `Settings saved${namesOf(details)}`,
  'variables.updated': (details) => `Variables saved${namesOf(details)}`,
  'secret_files.updated': (details) => `Secret files saved${namesOf(details)}`,
  'job.failed': (details) => `A run failed${because(details)}`,
  'job.missed': ({ due_at }) =>
    `A run was missed: the server was not there at ${due_at ?? 'its scheduled time'}`,
  'domain.verified': ({ host, domain }) => `Served at ${host}: ${domain} leads to this server`,
  'certificate.issued': ({ host, not_after }) =>
    `Certificate of ${host} issued, valid until ${not_after?.slice(0, DATE_CHARACTERS)}`,
  'certificate.failed': (details) => `Certificate of ${details.host} failed${because(details)}`,
  'backup.succeeded': ({ disk }) => `Backup of the disk ${disk} made`,
  'backup.failed': (details) => `Backup of the disk ${details.disk} failed${because(details)}`,
}

const SHORT_COMMIT = 7
/** Of a timestamp. */
const DATE_CHARACTERS = 10

/** What kind of deploy it is. */
function deployOf({ trigger, rollback_of }: ServiceEventDetails): string {
  if (trigger === 'rollback') return `Rollback to ${rollback_of ?? 'an earlier version'}`
  return trigger === 'restart' ? 'Restart' : 'Deploy'
}

function versionOf({ commit_sha, commit_message, image }: ServiceEventDetails): string {
  if (commit_sha === undefined) return image === undefined ? '' : `: ${image}`
  return `: ${commit_sha.slice(0, SHORT_COMMIT)} ${commit_message?.split('\n')[0] ?? ''}`.trimEnd()
}

function because({ reason }: ServiceEventDetails): string {
  return reason === undefined ? '' : `: ${reason.split('\n')[0]}`
}

function namesOf({ names = [], more, env_group }: ServiceEventDetails): string {
  const others = more === undefined ? [] : [`${more} more`]
  const place = env_group === undefined ? '' : ` in the env group ${env_group}`
  return `${place}: ${[...names, ...others].join(', ')}`
}

/** The end of an instance's name, as people see it everywhere. */
function instanceOf({ instance }: Pick<ServiceEventRow, 'instance'>): string {
  return instance === null ? 'An instance' : `Instance ${instance.slice(instance.lastIndexOf('-') + 1)}`
}
