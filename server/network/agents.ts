import { Agent as HttpAgent, type AgentOptions } from 'node:http'
import { Agent as HttpsAgent, type AgentOptions as SecureOptions } from 'node:https'
import { Agent as Dispatcher, buildConnector } from 'undici'
import { portOf, type Reach } from './addresses.ts'
import { judgedPlace } from './judged.ts'

// What connects to judged addresses alone, whatever leads there: a redirect, a name that now resolves to another address, or
// an address in place of a name. `reach` is asked at each connection.

/** How long a connection is kept for the next request: shorter than any usual server keeps it. */
const KEPT_MS = 4_000

/** Connects undici's requests. */
export function judgedDispatcher(reach: () => Reach, connectMs: number): Dispatcher {
  return new Dispatcher({
    connect: (target, done) => {
      try {
        const { lookup } = judgedPlace(target.hostname, portOf(target), reach())
        buildConnector({ lookup, timeout: connectMs })(target, done)
      } catch (error) {
        done(error as Error, null)
      }
    },
  })
}

/** What connects node's requests, by scheme. */
export interface Agents {
  http: HttpAgent
  https: HttpsAgent
}

/** Options of agents that keep connections for further requests to the same server. */
export const KEEPS_CONNECTIONS: AgentOptions = { keepAlive: true, timeout: KEPT_MS }

/** Connects node's requests. */
export function judgedAgents(reach: () => Reach, options: SecureOptions = {}): Agents {
  return { http: judging(new HttpAgent(options), reach), https: judging(new HttpsAgent(options), reach) }
}

function judging<A extends HttpAgent>(agent: A, reach: () => Reach): A {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, done) => {
    try {
      const place = judgedPlace(options.host!, Number(options.port), reach())
      return connect({ ...options, ...place }, done)
    } catch (error) {
      // An error that is thrown here would not always reach the request.
      done?.(error as Error, undefined as never)
      return undefined
    }
  }
  return agent
}
