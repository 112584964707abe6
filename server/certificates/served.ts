import { useContext } from '../context.ts'
import { uploadedFiles, versionFiles, type PemFiles } from './files.ts'
import { CertificateNames, routedHosts, UploadedBook } from './hosts.ts'
import { certificatesByName } from './store.ts'

/** The certificate that each routed host shows, by host: an uploaded one before one from an authority. */
export function servedCertificates(): Record<string, PemFiles> {
  if (useContext().options.tls === 'off') return {}
  const uploaded = new UploadedBook()
  const names = new CertificateNames()
  const issued = certificatesByName()
  const served: Record<string, PemFiles> = {}
  for (const { host } of routedHosts()) {
    const own = uploaded.find(host)
    // Until the wildcard is there, what the host had before goes on serving.
    const row = [names.nameOf(host), host].map((name) => issued.get(name)).find((row) => row?.version)
    if (own) served[host] = uploadedFiles(own.id)
    else if (row) served[host] = versionFiles(row.id, row.version!)
  }
  return served
}
