import { defineMachine } from '../state-machine.ts'

export const DOMAIN_STATUSES = ['pending', 'active', 'failed'] as const
export type DomainStatus = (typeof DOMAIN_STATUSES)[number]

/** The status changes of a domain. All statuses are stable, so a restart of the server changes none. */
export const domainMachine = defineMachine<DomainStatus>({
  table: 'domains',
  moves: {
    pending: ['active'],
    active: ['failed'],
    failed: ['active'],
  },
})
