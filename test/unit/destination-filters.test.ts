import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEnvironment } from '#server/environments/operations.ts'
import { createDrain, patchDrain, viewDrain } from '#server/log-drains/operations.ts'
import { createNotification, patchNotification } from '#server/notifications/operations.ts'
import { viewNotification } from '#server/notifications/view.ts'
import { ServiceInput } from '#server/services/input.ts'
import { createService } from '#server/services/operations.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
beforeEach(async () => ({ close } = await openContext()))
afterEach(() => close())

const add = (environment: string) => createService(ServiceInput.parse({ name: 'api', environment })).id
const TARGET = 'https://logs.example.com/in'

test('a service that a change names is looked up in the environment that is already set as limit', () => {
  createEnvironment({ name: 'staging' })
  const [inProduction, inStaging] = [add('production'), add('staging')]
  const drain = createDrain({ name: 'archive', kind: 'http', url: TARGET, environment: 'staging' })
  expect(viewDrain(patchDrain(drain, { services: ['api'] })).services).toEqual([inStaging])
  expect(viewDrain(patchDrain(drain, { services: ['api'], environment: null }))).toMatchObject({
    environment: null,
    services: [inProduction],
  })
  const { row } = createNotification({ name: 'ops', kind: 'webhook', url: TARGET, environment: 'staging' })
  const told = patchNotification(row, { services: ['api'] })
  expect(viewNotification(told)).toMatchObject({ environment: 'staging', services: [inStaging] })
})
