import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { useContext } from '#server/context.ts'
import { getDeploy } from '#server/deploys/store.ts'
import { jobAddressHolders, releaseAddress } from '#server/instances/addresses.ts'
import { forgetOldJobs } from '#server/jobs/operations.ts'
import { JOB_IN_PROGRESS } from '#server/jobs/states.ts'
import { jobStatus } from '#server/jobs/store.ts'
import { isOpen, removeLog } from '#server/logs/files.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'

const PERIOD_MS = 60_000

/** Removes what jobs left behind: old records with their logs, and containers whose job or pre-deploy command has ended. */
export function jobCleanup(world: World): Task {
  return {
    name: 'job cleanup',
    everyMs: PERIOD_MS,
    async run() {
      await forgetOldJobs()
      await removeStrayLogs()
      if (world.reachByAddress !== null) await removeStrayContainers(world)
    },
  }
}

/** Removes logs of jobs that no longer exist, for example of a deleted service. */
async function removeStrayLogs(): Promise<void> {
  for (const name of await readdir(join(useContext().options.dataDirectory, 'logs'))) {
    const id = /^(job-[0-9a-f]{20})\.ndjson$/.exec(name)?.[1]
    if (id && jobStatus(id) === undefined && !isOpen(id)) await removeLog(id)
  }
}

/** An address is always recorded before its container is created, so only names with an address can be left. */
async function removeStrayContainers(world: World): Promise<void> {
  for (const name of jobAddressHolders().filter(isOver)) {
    await world.engine.containers.remove(name)
    releaseAddress(name)
  }
}

function isOver(container: string): boolean {
  if (/^job-[0-9a-f]{20}$/.test(container)) {
    const status = jobStatus(container)
    return status === undefined || !JOB_IN_PROGRESS.includes(status)
  }
  const deployId = /^pre-(dep-[0-9a-f]{20})$/.exec(container)?.[1]
  return deployId !== undefined && getDeploy(deployId)?.status !== 'deploying'
}
