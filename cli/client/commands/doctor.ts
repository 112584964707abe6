import type { Finding } from '#server/doctor/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT } from '../../fault.ts'
import { printFindings } from '../findings.ts'
import { withApi } from '../with-api.ts'

/** Has the server examine itself. Returns 1 when a check has failed, else 0. */
export async function doctor(call: Call): Promise<number> {
  const findings = await withApi(call, (api) => api.get<Finding[]>('/server/doctor'))
  return printFindings(call.out, findings) ? 0 : EXIT.failed
}
