import type { ServiceStatus } from '../api/types.ts'

type Instance = Pick<ServiceStatus['instances'][number], 'name' | 'state'>

/** Those that are likeliest to stay come first; one that has exited has nothing to be in. */
const ORDER: readonly Instance['state'][] = ['running', 'failing', 'starting', 'draining']

/** The names of the instances in which a shell can be opened, the usual one first. */
export function shellPlaces(instances: readonly Instance[]): string[] {
  return ORDER.flatMap((wanted) => instances.filter(({ state }) => state === wanted)).map(({ name }) => name)
}
