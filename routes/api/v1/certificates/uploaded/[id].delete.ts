import { useWorld } from '#daemon/index.ts'
import { routed } from '#daemon/proxy/routed.ts'
import { deleteUploaded, findUploaded } from '#server/certificates/operations.ts'
import { UploadedCertificateRef } from '#server/certificates/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Remove an uploaded certificate',
  description: 'Its hosts get certificates from the authority again, like all others.',
  auth: 'token',
  least: 'full',
  params: UploadedCertificateRef,
  errors: ['runtime_error'],
  async handler({ params }) {
    const removeFiles = deleteUploaded(findUploaded(params.id))
    await routed(useWorld())
    removeFiles()
  },
})
