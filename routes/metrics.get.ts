import { setResponseHeader } from 'h3'
import { lastBackups } from '#server/backups/store.ts'
import { viewCertificates } from '#server/certificates/view.ts'
import { useContext } from '#server/context.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { exposition, EXPOSITION_TYPE } from '#server/metrics/exposition.ts'
import { freshLatest } from '#server/metrics/latest.ts'
import { nodeStandings } from '#server/nodes/metrics.ts'
import { newestSoundServerBackup } from '#server/server-backups/store.ts'
import { qualifiedName } from '#server/services/qualified-name.ts'

export default defineEndpoint({
  summary: "Read the metrics of the server in Prometheus' format",
  auth: 'api_token',
  least: 'read',
  response: { contentType: EXPOSITION_TYPE, description: "Prometheus' text format 0.0.4", isOpen: true },
  handler({ event }) {
    const certificates = viewCertificates().flatMap(({ host, expires_at }): [string, number][] =>
      expires_at === null ? [] : [[host, Date.parse(expires_at) / 1_000]],
    )
    const datastoreBackups = lastBackups().map(({ id, name, environment, at }) => ({
      id,
      name: qualifiedName(name, { name: environment }),
      at: at / 1_000,
    }))
    const { version } = useContext()
    const finishedAt = newestSoundServerBackup()?.finished_at
    const serverBackupAt = finishedAt ? finishedAt / 1_000 : null
    const standing = { version, certificates, datastoreBackups, serverBackupAt, nodes: nodeStandings() }
    const text = exposition(standing, freshLatest())
    setResponseHeader(event, 'content-type', EXPOSITION_TYPE)
    event.node.res.end(text)
  },
})
