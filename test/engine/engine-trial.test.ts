import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { AbilityTrial, trialImage } from '#daemon/engine/abilities.ts'
import { Connection } from '#daemon/engine/connection.ts'
import { createEngine, type Ledger } from '#daemon/engine/index.ts'
import { standEngine } from '../support/stand-setup.ts'
import { memoryLedger } from './engine-support.ts'

const docker = (...args: string[]): void => void execFileSync('docker', ['-H', standEngine(), ...args])

test('a temporary error does not count as an answer about the engine, and leaves nothing', async () => {
  const serverId = `test-${randomBytes(5).toString('hex')}`
  const image = trialImage(serverId)
  const things = memoryLedger()
  let disturbances = 1
  const ledger: Ledger = {
    ...things,
    record(kind, name, engineId) {
      // Between the creation of the empty image and of the container.
      if (kind === 'container' && disturbances-- > 0) docker('rmi', image)
      things.record(kind, name, engineId)
    },
  }
  const trial = new AbilityTrial(new Connection(standEngine()), serverId, ledger)
  await expect(trial.known()).rejects.toMatchObject({ code: 'runtime_error' })
  expect(await trial.known()).toMatchObject({ openFiles: expect.any(Number) })
  expect([...things.list('container'), ...things.list('image')]).toEqual([])
})

test('the image of a trial is not among the names that a cleanup considers', () => {
  const ledger = memoryLedger()
  ledger.record('image', trialImage('mine'))
  const engine = createEngine({ dockerHost: standEngine(), serverId: 'mine', ledger })
  expect(engine.images.names()).toEqual([])
})
