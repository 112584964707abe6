import { tmpdir } from 'node:os'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reportCommitStatuses } from '#daemon/git-statuses.ts'
import { announceDeploy } from '#server/changes.ts'
import { makeLive } from '#server/deploys/operations.ts'
import { deployMachine, type DeployStatus } from '#server/deploys/states.ts'
import { getDeploy, insertDeploy } from '#server/deploys/store.ts'
import { insertConnection } from '#server/git/store.ts'
import { ServiceInput } from '#server/services/input.ts'
import { createService } from '#server/services/operations.ts'
import { tryMove } from '#server/state-machine.ts'
import { PlayedProvider } from '../git/providers.ts'
import { openContext } from '../support/context.ts'

const SHA = 'c'.repeat(40)

let close: () => Promise<void>
let provider: PlayedProvider
let endReports: () => void
let serviceId: string

beforeEach(async () => {
  ;({ close } = await openContext())
  provider = await PlayedProvider.start(tmpdir())
  provider.tokens.set('ghp_ada', 'ada')
  provider.add('ada/api', ['ada'])
  insertConnection({
    provider: 'gitprov_a',
    auth: 'token',
    status: 'connected',
    base_url: provider.url,
    account: 'ada',
    secrets: { token: 'ghp_ada' },
  })
  serviceId = createService(ServiceInput.parse({ name: 'api', type: 'background_worker' })).id
  endReports = reportCommitStatuses()
})
afterEach(async () => {
  endReports()
  await provider.close()
  await close()
})

function deployCommit(id: string): void {
  insertDeploy({
    id,
    service_id: serviceId,
    trigger: 'webhook',
    source: {
      kind: 'git',
      repo_url: `${provider.url}/ada/api.git`,
      branch: 'main',
      commit: SHA,
    },
  })
  announceDeploy(id, serviceId, 'created')
}

function advance(id: string, ...statuses: DeployStatus[]): void {
  for (const status of statuses) {
    tryMove(deployMachine, id, status)
    announceDeploy(id, serviceId)
  }
}

const states = () => provider.statuses.map(({ body }) => body.state)

test('a deploy that is announced again after its end is reported once', async () => {
  deployCommit('dep-1')
  advance('dep-1', 'building', 'deploying')
  makeLive(getDeploy('dep-1')!)
  await expect.poll(states).toEqual(['pending', 'success'])
  announceDeploy('dep-1', serviceId)
  deployCommit('dep-2')
  advance('dep-2', 'building', 'build_failed')
  announceDeploy('dep-1', serviceId)
  announceDeploy('dep-2', serviceId)
  await expect.poll(states).toEqual(['pending', 'success', 'pending', 'failure'])
})
