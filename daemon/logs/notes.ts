import { systemLine } from '#server/logs/lines.ts'
import { serviceLog } from '#server/logs/service-logs.ts'

/** Writes a system line into a service's log, such as why an instance ended. */
export function noteInService(serviceId: string, instance: string, text: string): void {
  serviceLog(serviceId).append([{ ...systemLine(text), instance }])
}
