import { timestamp } from '#server/clock.ts'
import { serviceLog } from '#server/logs/service-logs.ts'

/** Writes a system line into a service's log, such as why an instance ended. */
export function noteInService(serviceId: string, instance: string, text: string): void {
  serviceLog(serviceId).append([{ ts: timestamp(Date.now()), stream: 'system', line: text, instance }])
}
