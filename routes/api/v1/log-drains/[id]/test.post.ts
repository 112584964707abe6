import { testDrain } from '#daemon/log-drains/drain.ts'
import { TestResult } from '#server/destinations/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { leftSignal } from '#server/http/event-stream.ts'
import { findDrain } from '#server/log-drains/operations.ts'
import { LogDrainPath } from '#server/log-drains/schema.ts'

export default defineEndpoint({
  summary: 'Send a test line',
  auth: 'token',
  params: LogDrainPath,
  response: TestResult,
  async handler({ event, params }) {
    const { ok, error } = await testDrain(findDrain(params.id), leftSignal(event))
    return { ok, status: null, error }
  },
})
