import { z } from 'zod'
import { CertificateEntry } from '#server/certificates/schema.ts'
import { viewCertificates } from '#server/certificates/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'List the certificates of all routed hostnames',
  description:
    "The dashboard's first, then each hostname of each web service and static site, then redirect hosts.",
  auth: 'token',
  least: 'read',
  within: 'service',
  response: z.array(CertificateEntry),
  handler: () => viewCertificates(),
})
