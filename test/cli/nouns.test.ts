import { afterAll, beforeAll, describe } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { blueprintCases } from './nouns/blueprints.ts'
import { ciCases } from './nouns/ci.ts'
import { domainCases } from './nouns/domains.ts'
import { nodeCases } from './nouns/nodes.ts'
import { requestCases } from './nouns/requests.ts'
import { serviceCases } from './nouns/services.ts'
import { terminalCases } from './nouns/terminal.ts'
import { variableCases } from './nouns/variables.ts'

// One server for all of them, without an engine; each case has names of its own.
let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(async () => {
  await server?.stop()
})

describe.concurrent('services', () => {
  serviceCases(() => server)
})
describe.concurrent('variables', () => {
  variableCases(() => server)
})
describe.concurrent('domains, environments and git', () => {
  domainCases(() => server)
})
describe.concurrent('blueprints', () => {
  blueprintCases(() => server)
})
// One after the other: there is one node, which is renamed.
describe('nodes', () => {
  nodeCases(() => server)
})
describe.concurrent('requests of any kind', () => {
  requestCases(() => server)
})
describe.concurrent('the examples for CI', () => {
  ciCases(() => server)
})
describe.concurrent('on a terminal', () => {
  terminalCases(() => server)
})
