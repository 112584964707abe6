import { z } from 'zod'
import { UploadedCertificate } from '#server/certificates/schema.ts'
import { listUploaded } from '#server/certificates/store.ts'
import { viewUploaded } from '#server/certificates/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'List the uploaded certificates, newest first',
  auth: 'token',
  least: 'read',
  response: z.array(UploadedCertificate),
  handler: () => listUploaded().map(viewUploaded),
})
