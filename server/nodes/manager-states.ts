/** What the swarm says of a node as a manager. */
export const MANAGER_STATES = ['leader', 'reachable', 'unreachable'] as const
export type ManagerState = (typeof MANAGER_STATES)[number]
