import { createClient } from '@redis/client'
import { fetchFrom } from '../../test/engine/live.ts'
import { waitFor } from '../../test/support/wait.ts'
import { SEEN } from '../calls/programs.ts'
import { Finding } from '../finding.ts'
import { hostsOf, isWeb, textsOf, type Model, type ServiceRecord } from '../model.ts'
import type { Rig } from '../rig.ts'
import { read } from './recorded.ts'

/** A table on its way to the data plane, or a worker that was just killed. */
const ANSWER_LIMIT_MS = 10_000

/** What a host answered when everything was quiet. */
export interface Steady {
  place: string
  host: string
  text: string
}

interface Shown {
  live_deploy_id: string | null
}

/**
 * Checks what each service and datastore answers, and that revoked tokens are refused. Returns what the hosts answered, which
 * they go on answering until a call is about them.
 */
export async function checkAnswers(rig: Rig, model: Model): Promise<Steady[]> {
  const steady: Steady[] = []
  for (const [place, service] of Object.entries(model.services)) {
    if (isWeb(service)) steady.push(...(await checkService(rig, model, place, service)))
  }
  for (const place of Object.keys(model.datastores)) await checkDatastore(rig, model, place)
  for (const { secret } of Object.values(model.tokens))
    if (secret !== null) await checkToken(rig, secret, 200)
  for (const secret of model.revoked) await checkToken(rig, secret, 401)
  return steady
}

/** Checks that hosts still answer what they did; used while the control plane is down. */
export async function checkSteady(rig: Rig, steady: readonly Steady[]): Promise<void> {
  for (const { place, host, text } of steady)
    await answers(rig, host, ({ text: found }) => found === text, `${place} to go on answering ${text}`)
}

async function checkService(
  rig: Rig,
  model: Model,
  place: string,
  service: ServiceRecord,
): Promise<Steady[]> {
  const { live_deploy_id } = await read<Shown>(rig, `/services/${service.id}`)
  const { suspended, instances, disk_mount_path } = service.settings
  const live = service.deploys.find(({ id }) => id === live_deploy_id)
  const hosts = hostsOf(model, place)
  if (!live || suspended || instances === 0) {
    for (const host of hosts) await answers(rig, host, ({ status }) => status !== 200, `${place} to be off`)
    return []
  }
  const wanted = textsOf(service, live)
  let text = ''
  for (const host of hosts) {
    const found = await answers(
      rig,
      host,
      (answer) => answer.status === 200 && wanted.includes(answer.text),
      `${place} (${live_deploy_id}) to answer ${wanted.join(' or ')}`,
    )
    text = found.text
  }
  live.texts = [text]
  if (disk_mount_path !== null && service.kind === 'image') await checkDisk(rig, place, hosts[0]!, service)
  // Domains come and go without a call about the service; the base domain stays.
  return [{ place, host: hosts[0]!, text }]
}

/** Each program that ran has left its text on the disk. */
async function checkDisk(rig: Rig, place: string, host: string, service: ServiceRecord): Promise<void> {
  const { text } = await fetchFrom(rig.server, host, `/${SEEN}`)
  if (service.onDisk !== null && !text.startsWith(service.onDisk))
    throw new Finding(
      `the disk of ${place} had ${JSON.stringify(service.onDisk)} and has ${JSON.stringify(text)}`,
    )
  service.onDisk = text
}

async function answers(
  rig: Rig,
  host: string,
  isRight: (answer: { status: number; text: string }) => boolean,
  what: string,
): Promise<{ status: number; text: string }> {
  let last: unknown
  try {
    return await waitFor(
      async () => {
        const answer = await fetchFrom(rig.server, host).catch((error: Error) => ({
          status: 0,
          text: error.message,
        }))
        last = answer
        return isRight(answer) && answer
      },
      what,
      ANSWER_LIMIT_MS,
    )
  } catch {
    throw new Finding(`waited for ${what} at ${host}; last answer: ${JSON.stringify(last)}`)
  }
}

/** What was stored when everything was quiet is there, and something new can be stored. */
async function checkDatastore(rig: Rig, model: Model, place: string): Promise<void> {
  const record = model.datastores[place]!
  const { external_url: url, status } = await read<{ external_url: string; status: string }>(
    rig,
    `/datastores/${record.id}`,
  )
  if (status !== 'available') throw new Finding(`datastore ${place} is ${status}`)
  const client = createClient({ url, disableOfflineQueue: true }).on('error', () => {})
  try {
    await client.connect()
    const found = await client.get('stored')
    if (record.stored !== null && found !== record.stored)
      throw new Finding(`datastore ${place} had ${record.stored} and has ${String(found)}`)
    const text = String(Number(record.stored ?? 0) + 1)
    await client.set('stored', text)
    record.stored = text
  } finally {
    client.destroy()
  }
}

async function checkToken(rig: Rig, secret: string, wanted: number): Promise<void> {
  const { status } = await rig.server.api('GET', '/info', undefined, {
    headers: { authorization: `Bearer ${secret}` },
  })
  if (status !== wanted) throw new Finding(`a token is answered with ${status} in place of ${wanted}`)
}
