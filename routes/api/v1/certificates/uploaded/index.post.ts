import { useWorld } from '#daemon/index.ts'
import { routed } from '#daemon/proxy/routed.ts'
import { uploadCertificate } from '#server/certificates/operations.ts'
import { CertificateUpload, UploadedCertificate } from '#server/certificates/schema.ts'
import { viewUploaded } from '#server/certificates/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Upload a certificate of your own',
  description:
    'It is used for each host that it names, local ones too, and none is ordered from an authority for them. A chain in another order is sorted. You must renew it yourself.',
  auth: 'token',
  least: 'full',
  status: 201,
  body: CertificateUpload,
  response: UploadedCertificate,
  errors: ['runtime_error'],
  async handler({ body }) {
    const uploaded = await uploadCertificate(body)
    await routed(useWorld())
    return viewUploaded(uploaded)
  },
})
