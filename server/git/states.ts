import { defineMachine } from '../machine.ts'
import type { ConnectionStatus } from './schema.ts'

/** The moves of a connection: one whose app was removed at the provider waits for the browser again. */
export const connectionMachine = defineMachine<ConnectionStatus>({
  table: 'git_connections',
  moves: {
    pending: ['connected'],
    connected: ['connected', 'pending'],
  },
})
