import type { Model } from '../model.ts'
import type { Rig } from '../rig.ts'
import { read } from './recorded.ts'

/** States of a service that do not last; `down` and `degraded` do only if its program fails, and no program here does. */
const PASSING_SERVICE = ['deploying', 'degraded', 'down', 'deleting']
const PASSING_DEPLOY = ['queued', 'building', 'deploying']
const PASSING_JOB = ['pending', 'running']
/** One whose creation failed is tried again. */
const PASSING_DATASTORE = ['creating', 'failed', 'unavailable', 'upgrading', 'restoring', 'deleting']

interface Listed {
  id: string
  name: string
  status: string
  state: string
  type: string
}

/** What is still on its way to a state that lasts. */
export async function passing(rig: Rig, model: Model): Promise<string[]> {
  const found: string[] = []
  const keep = (what: string, state: string, states: readonly string[]): void => {
    if (states.includes(state)) found.push(`${what} is ${state}`)
  }
  for (const { name: environment } of await read<Listed[]>(rig, '/environments')) {
    for (const { id, name, state, type } of await read<Listed[]>(
      rig,
      `/services?environment=${environment}`,
    )) {
      const what = `service ${environment}/${name} (${id})`
      keep(what, state, PASSING_SERVICE)
      // It may be gone by the next request.
      if (state === 'deleting') continue
      for (const deploy of await read<Listed[]>(rig, `/services/${id}/deploys?limit=500`))
        keep(`deploy ${deploy.id} of ${what}`, deploy.status, PASSING_DEPLOY)
      for (const job of await read<Listed[]>(rig, `/services/${id}/jobs?limit=500`))
        keep(`job ${job.id} of ${what}`, job.status, PASSING_JOB)
      if (type !== 'static_site' && type !== 'cron_job') {
        const { instances } = await read<{ instances: Listed[] }>(rig, `/services/${id}/status`)
        // An instance that is neither coming nor going runs.
        for (const each of instances)
          if (each.state !== 'running') found.push(`${each.name} is ${each.state}`)
      }
    }
    for (const { id, name, status } of await read<Listed[]>(rig, `/datastores?environment=${environment}`))
      keep(`datastore ${environment}/${name} (${id})`, status, PASSING_DATASTORE)
  }
  for (const { id, status } of await read<Listed[]>(rig, '/server/backups')) keep(id, status, ['running'])
  for (const [place, { id, diskBackups }] of Object.entries(model.services)) {
    if (diskBackups.length === 0) continue
    for (const backup of await read<Listed[]>(rig, `/services/${id}/disk/backups`))
      keep(`backup ${backup.id} of ${place}`, backup.status, ['running'])
  }
  return found
}
