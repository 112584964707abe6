import { provideNetwork } from '#daemon/environments/provide.ts'
import { useWorld } from '#daemon/index.ts'
import { createEnvironment } from '#server/environments/operations.ts'
import { Environment, EnvironmentInput } from '#server/environments/schema.ts'
import { viewEnvironment } from '#server/environments/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Create an environment with its private network',
  description:
    'Its web services answer at `<service>.<environment>.<domain>`; `dns` lists the records that they need. If the container engine is down, the network is created later.',
  auth: 'token',
  least: 'full',
  status: 201,
  body: EnvironmentInput,
  response: Environment,
  errors: ['conflict', 'runtime_error'],
  async handler({ body }) {
    const environment = createEnvironment(body)
    await provideNetwork(useWorld(), environment)
    return viewEnvironment(environment)
  },
})
