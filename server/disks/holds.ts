import { servicesStoppedFirst } from '../deploys/store.ts'

/**
 * Services whose program is stopped for work on their disks, and for how many pieces of work. Only in memory: if the server
 * ends in the middle, the program is started again by the next one, which begins the work again if it needs it.
 */
const held = new Map<string, number>()

/** Whether no instance of a service may run, because of work on one of its disks. */
export function isDiskHeld(serviceId: string): boolean {
  return held.has(serviceId)
}

/**
 * Forbids instances of a service. Returns false, and does nothing, while a deploy is replacing them: it waits for the end of
 * a hold before it begins, and a hold waits for its end.
 */
export function tryHoldDisk(serviceId: string): boolean {
  if (servicesStoppedFirst().has(serviceId)) return false
  held.set(serviceId, (held.get(serviceId) ?? 0) + 1)
  return true
}

export function releaseDisk(serviceId: string): void {
  const others = (held.get(serviceId) ?? 1) - 1
  if (others > 0) held.set(serviceId, others)
  else held.delete(serviceId)
}
