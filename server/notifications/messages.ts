import { timestamp } from '../clock.ts'
import { useDatabase } from '../context.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import type { PendingEvent } from './events.ts'
import type { Message, Subject } from './types.ts'

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
  const { type, at } = event
  const text = { title, body: body.slice(0, SHOWN_CHARACTERS) }
  return { message: { type, timestamp: timestamp(at), data, text }, subject }
}

/** The message of a test. */
export function testMessage(name: string): Message {
  return {
    type: 'test',
    timestamp: timestamp(Date.now()),
    data: { notification: name },
    text: { title: 'Test', body: `This is a test of the notification ${name}. Nothing has happened.` },
  }
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
    case 'backup.failed':
      return ofBackup(subject)
    case 'certificate.failed':
      return ofServer(
        { host: subject, error: detail },
        `The certificate of ${subject} failed`,
        detail ?? 'It will be tried again.',
      )
    case 'certificate.expiring':
      return ofServer(
        { host: subject, ...(JSON.parse(detail!) as { days_left: number }) },
        `The certificate of ${subject} expires in ${(JSON.parse(detail!) as { days_left: number }).days_left} days`,
        'It was not renewed.',
      )
    case 'server.disk_low': {
      const disk = JSON.parse(detail!) as { free_bytes: number; total_bytes: number; free_percent: number }
      return ofServer(
        { path: subject, ...disk },
        'The disk of the server is nearly full',
        `${disk.free_percent} % of ${subject} is free.`,
      )
    }
  }
}

function ofServer(data: Facts['data'], title: string, body: string): Facts {
  return { subject: WHOLE_SERVER, data, title, body }
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
  const backup = useDatabase().get<{ datastore_id: string; trigger: string; error: string | null }>(
    'SELECT datastore_id, trigger, error FROM backups WHERE id = ?',
    id,
  )
  const datastore = backup && named('datastores', backup.datastore_id)
  if (!datastore) return null
  const { trigger, error } = backup
  return {
    ...about(datastore, null),
    data: { datastore: shown(datastore), backup: { id, trigger, error } },
    title: `A backup of ${nameOf(datastore)} failed`,
    body: error ?? '',
  }
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
