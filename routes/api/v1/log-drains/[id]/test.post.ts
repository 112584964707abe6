import { testDrain } from '#daemon/log-drains/drain.ts'
import { TestResult } from '#server/destinations/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { leftSignal } from '#server/http/event-stream.ts'
import { findDrain } from '#server/log-drains/operations.ts'
import { LogDrainPath } from '#server/log-drains/schema.ts'
import { assertUnfenced } from '#server/restore/fence.ts'

export default defineEndpoint({
  summary: 'Send a test line',
  auth: 'token',
  least: 'full',
  params: LogDrainPath,
  response: TestResult,
  errors: ['conflict'],
  async handler({ event, params }) {
    const drain = findDrain(params.id)
    assertUnfenced()
    const { ok, error } = await testDrain(drain, leftSignal(event))
    return { ok, status: null, error }
  },
})
