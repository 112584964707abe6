import { timestamp } from '../clock.ts'
import { useContext, useDatabase } from '../context.ts'
import { isId } from '../ids.ts'
import { getNode } from '../nodes/store.ts'
import { getServerBackup } from '../server-backups/store.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import type { PendingEvent } from './events.ts'
import type { Message, MessageType, Subject } from './types.ts'

/** A message and what it is about; null when that is gone, so that there is nothing to report. */
export type Told = { message: Message; subject: Subject } | null

interface Named {
  id: string
  name: string
  environment_id: string
  environment: string
}

interface Facts {
  subject: Subject
  data: Record<string, unknown>
  title: string
  body: string
}

const WHOLE_SERVER: Subject = { environmentId: null, serviceId: null }
/** Limit for an error in the text for people; webhooks get all of it. */
const SHOWN_CHARACTERS = 1_000

/** Returns the message for an event. */
export function messageOf(event: PendingEvent): Told {
  const facts = factsOf(event)
  if (!facts) return null
  const { subject, data, title, body } = facts
  const text = { title, body: body.slice(0, SHOWN_CHARACTERS) }
  return { message: messageFrom(event.type, event.at, data, text), subject }
}

/** The message of a test. */
export function testMessage(name: string): Message {
  const body = `This is a test of the notification ${name}. Nothing has happened.`
  return messageFrom('test', Date.now(), { notification: name }, { title: 'Test', body })
}

/** A message of this server, whose name comes first for people: they may have several. */
function messageFrom(
  type: MessageType,
  at: number,
  data: Message['data'],
  { title, body }: Message['text'],
): Message {
  const { serverName: server } = useContext().options
  const text = { title: server === null ? title : `${server}: ${title}`, body }
  return { type, timestamp: timestamp(at), server, data, text }
}

function factsOf(event: PendingEvent): Facts | null {
  const { type, subject, detail } = event
  switch (type) {
    case 'deploy.started':
    case 'deploy.succeeded':
    case 'deploy.failed':
      return ofDeploy(
        subject,
        { 'deploy.started': 'started', 'deploy.succeeded': 'is live', 'deploy.failed': 'failed' }[type],
      )
    case 'service.down':
      return ofService(subject, 'is down', detail ?? 'None of its instances is answering.')
    case 'service.recovered':
      return ofService(subject, 'is running again', 'All of its instances are answering again.')
    case 'service.out_of_memory':
      return ofService(
        subject,
        'ran out of memory',
        `${detail ?? 'An instance'} was killed: it used more memory than its limit.`,
      )
    case 'service.moved':
      return ofService(subject, `moved to ${detail}`, `It runs there now, with its disks.`)
    case 'job.failed':
      return ofJob(subject)
    case 'job.missed':
      return ofService(
        subject,
        'missed a run',
        `The run due at ${detail ?? 'its scheduled time'} did not happen because the server was down.`,
      )
    case 'datastore.down':
      return ofDatastore(subject, 'is down', detail ?? 'It is not answering.')
    case 'datastore.recovered':
      return ofDatastore(subject, 'is available again', 'It is answering again.')
    case 'datastore.moved':
      return ofDatastore(subject, `moved to ${detail}`, `It runs on the node ${detail} now, with its data.`)
    case 'backup.failed':
      return isId('serverBackup', subject) ? ofServerBackup(subject) : ofBackup(subject)
    case 'backup.overdue':
      return ofOverdueBackup(JSON.parse(detail!) as { last_succeeded_at: string | null })
    case 'restore.finished':
      return ofRestore(JSON.parse(detail!) as { failed: { name: string; error: string | null }[] })
    case 'certificate.failed':
      return ofFailedCertificate(subject, detail)
    case 'certificate.expiring':
      return ofExpiring(subject, JSON.parse(detail!) as { days_left: number })
    case 'server.disk_low': {
      const disk = JSON.parse(detail!) as { free_bytes: number; total_bytes: number; free_percent: number }
      return ofServer(
        { path: subject, ...disk },
        'The disk of the server is nearly full',
        `${disk.free_percent} % of ${subject} is free.`,
      )
    }
    case 'node.joined':
    case 'node.down':
    case 'node.up':
      return ofNode(subject, type, detail)
  }
}

function ofOverdueBackup(data: { last_succeeded_at: string | null }): Facts {
  const { last_succeeded_at: last } = data
  return ofServer(
    data,
    'A backup of the server is overdue',
    last === null ? 'None has succeeded yet.' : `The newest that succeeded was made at ${last}.`,
  )
}

function ofRestore(data: { failed: { name: string; error: string | null }[] }): Facts {
  const lines = data.failed.map(({ name, error }) => `${name}: ${error}`)
  return ofServer(data, 'The server is restored', lines.join('\n') || 'Everything is back.')
}

function ofServer(data: Facts['data'], title: string, body: string): Facts {
  return { subject: WHOLE_SERVER, data, title, body }
}

function ofFailedCertificate(host: string, error: string | null): Facts | null {
  return ofServer({ host, error }, `The certificate of ${host} failed`, error ?? 'It will be tried again.')
}

function ofExpiring(host: string, { days_left }: { days_left: number }): Facts | null {
  const title = `The certificate of ${host} expires in ${days_left} days`
  return ofServer({ host, days_left }, title, 'It was not renewed.')
}

/** What is told of a node; the second text is told if nothing more is known. */
const OF_NODES = {
  'node.joined': ['joined', 'It takes instances from now on.'],
  'node.down': ['is down', 'It does not answer.'],
  'node.up': ['is back', 'It answers again.'],
} as const

function ofNode(id: string, type: keyof typeof OF_NODES, detail: string | null): Facts | null {
  const node = getNode(id)
  if (!node) return null
  const [what, usual] = OF_NODES[type]
  const body = detail ?? usual
  const data = { node: { id, name: node.name, address: node.address }, message: body }
  return ofServer(data, `Node ${node.name} ${what}`, body)
}

function ofService(id: string, what: string, body: string): Facts | null {
  const service = named('services', id)
  if (!service) return null
  const data = { service: shown(service), message: body }
  return { ...about(service, id), data, title: `${nameOf(service)} ${what}`, body }
}

function ofDeploy(id: string, how: string): Facts | null {
  const deploy = useDatabase().get<{
    service_id: string
    status: string
    trigger: string
    commit_sha: string | null
    commit_message: string | null
    error: string | null
  }>('SELECT service_id, status, trigger, commit_sha, commit_message, error FROM deploys WHERE id = ?', id)
  const service = deploy && named('services', deploy.service_id)
  if (!service) return null
  const { service_id, ...rest } = deploy
  const commit =
    deploy.commit_sha === null
      ? ''
      : `${deploy.commit_sha.slice(0, 7)} ${deploy.commit_message?.split('\n')[0] ?? ''}`
  return {
    ...about(service, service_id),
    data: { service: shown(service), deploy: { id, ...rest } },
    title: `Deploy of ${nameOf(service)} ${how}`,
    body: deploy.error ?? commit,
  }
}

function ofJob(id: string): Facts | null {
  const job = useDatabase().get<{
    service_id: string
    trigger: string
    command: string | null
    exit_code: number | null
    error: string | null
  }>('SELECT service_id, trigger, command, exit_code, error FROM jobs WHERE id = ?', id)
  const service = job && named('services', job.service_id)
  if (!service) return null
  const { service_id, ...rest } = job
  return {
    ...about(service, service_id),
    data: { service: shown(service), job: { id, ...rest } },
    title: `A run of ${nameOf(service)} failed`,
    body: job.error ?? '',
  }
}

function ofDatastore(id: string, what: string, body: string): Facts | null {
  const datastore = named('datastores', id)
  if (!datastore) return null
  const data = { datastore: shown(datastore), message: body }
  return { ...about(datastore, null), data, title: `${nameOf(datastore)} ${what}`, body }
}

function ofBackup(id: string): Facts | null {
  const backup = useDatabase().get<{
    datastore_id: string | null
    service_id: string | null
    trigger: string
    error: string | null
  }>('SELECT datastore_id, service_id, trigger, error FROM backups WHERE id = ?', id)
  if (!backup) return null
  const { datastore_id, service_id, trigger, error } = backup
  const kind = datastore_id === null ? 'service' : 'datastore'
  const owner = named(`${kind}s`, (datastore_id ?? service_id)!)
  if (!owner) return null
  return {
    ...about(owner, service_id),
    data: { [kind]: shown(owner), backup: { id, trigger, error } },
    title: `A backup of ${service_id === null ? '' : 'the disk of '}${nameOf(owner)} failed`,
    body: error ?? '',
  }
}

function ofServerBackup(id: string): Facts | null {
  const row = getServerBackup(id)
  if (!row) return null
  const { trigger, error } = row
  return ofServer({ backup: { id, trigger, error } }, 'A backup of the server failed', error ?? '')
}

function named(table: 'services' | 'datastores', id: string): Named | undefined {
  return useDatabase().get<Named>(
    `SELECT ${table}.id, ${table}.name, environment_id, environments.name AS environment
     FROM ${table} JOIN environments ON environments.id = environment_id WHERE ${table}.id = ?`,
    id,
  )
}

function about({ environment_id }: Named, serviceId: string | null): { subject: Subject } {
  return { subject: { environmentId: environment_id, serviceId } }
}

function shown({ id, name, environment }: Named): Record<string, string> {
  return { id, name, environment }
}

function nameOf({ name, environment }: Named): string {
  return qualifiedName(name, { name: environment })
}
