import { getDeploy } from '#server/deploys/store.ts'
import { jobAddressHolders, releaseAddress } from '#server/instances/addresses.ts'
import { JOB_IN_PROGRESS } from '#server/jobs/states.ts'
import { jobStatus } from '#server/jobs/store.ts'
import { ledgerOn } from '#server/ledger.ts'
import { isId } from '#server/ids.ts'
import { listNodes, ownNodeId } from '#server/nodes/store.ts'
import { isOpenShell } from '#server/shells/shells.ts'
import { answerOf } from '../nodes/presence.ts'
import type { Task } from '../work/driver.ts'
import { runEach } from '../work/each.ts'
import type { World } from '../world.ts'

const PERIOD_MS = 60_000

/** Removes the containers that jobs, pre-deploy commands and shells left behind. */
export function jobCleanup(world: World): Task {
  return {
    name: 'job cleanup',
    everyMs: PERIOD_MS,
    async run() {
      if (world.reachByAddress !== null) await removeStrayContainers(world)
    },
  }
}

/**
 * A run whose container was never created may have left the record of it, or its address. What is on a node that does not
 * answer waits for it.
 */
async function removeStrayContainers(world: World): Promise<void> {
  const own = ownNodeId()
  const recorded = new Map(listNodes().map(({ id }) => [id, recordedOn(id)]))
  const elsewhere = new Set([...recorded].flatMap(([id, names]) => (id === own ? [] : names)))
  const unrecorded = jobAddressHolders().filter((name) => !elsewhere.has(name))
  await runEach(
    world.engines().map(({ nodeId, engine }) => async () => {
      const names = [...recorded.get(nodeId)!, ...(nodeId === own ? unrecorded : [])]
      for (const name of new Set(names.filter(isOver))) {
        await answerOf(nodeId, engine.containers.remove(name))
        releaseAddress(name)
      }
    }),
  )
}

function recordedOn(nodeId: string): string[] {
  return ledgerOn(nodeId)
    .list('container')
    .map(({ name }) => name)
}

function isOver(container: string): boolean {
  if (isId('shell', container)) return !isOpenShell(container)
  if (/^job-[0-9a-f]{20}$/.test(container)) {
    const status = jobStatus(container)
    return status === undefined || !JOB_IN_PROGRESS.includes(status)
  }
  const deployId = /^pre-(dep-[0-9a-f]{20})$/.exec(container)?.[1]
  return deployId !== undefined && getDeploy(deployId)?.status !== 'deploying'
}
