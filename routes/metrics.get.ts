import { setResponseHeader } from 'h3'
import { viewCertificates } from '#server/certificates/view.ts'
import { useContext } from '#server/context.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { exposition, EXPOSITION_TYPE } from '#server/metrics/exposition.ts'
import { freshLatest } from '#server/metrics/latest.ts'

export default defineEndpoint({
  summary: "Read the metrics of the server in Prometheus' format",
  auth: 'api_token',
  response: { contentType: EXPOSITION_TYPE, description: "Prometheus' text format 0.0.4" },
  handler({ event }) {
    const certificates = viewCertificates().flatMap(({ host, expires_at }): [string, number][] =>
      expires_at === null ? [] : [[host, Date.parse(expires_at) / 1_000]],
    )
    const text = exposition({ version: useContext().version, certificates }, freshLatest())
    setResponseHeader(event, 'content-type', EXPOSITION_TYPE)
    event.node.res.end(text)
  },
})
