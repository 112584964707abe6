import initial from './001-initial.ts'
import everythingAServiceCanBe from './002-everything-a-service-can-be.ts'
import webhookDeliveries from './003-webhook-deliveries.ts'
import domainsAndCertificates from './008-domains-and-certificates.ts'

/** Every migration in order; its place is its version. Append only: a landed migration is never edited. */
export const migrations: readonly string[] = [
  initial,
  everythingAServiceCanBe,
  webhookDeliveries,
  domainsAndCertificates,
]
