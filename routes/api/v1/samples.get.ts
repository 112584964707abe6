import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { Sample, samples } from '#server/samples/catalog.ts'

export default defineEndpoint({
  summary: 'List the samples that the server brings',
  description: 'Deploy one with `sample` of `POST /services/{id}/deploys`. That needs no network.',
  auth: 'token',
  least: 'read',
  within: 'service',
  response: z.array(Sample),
  handler: () => samples(),
})
