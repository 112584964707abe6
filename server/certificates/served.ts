import { useContext } from '../context.ts'
import { uploadedFiles, versionFiles, type PemFiles } from './files.ts'
import { CertificateNames, routedHosts, UploadedBook } from './hosts.ts'
import { servingVersions } from './store.ts'

/** The certificate that each routed host shows, by host: an uploaded one before one from an authority. */
export function servedCertificates(): Record<string, PemFiles> {
  if (useContext().options.tls === 'off') return {}
  const uploaded = new UploadedBook()
  const names = new CertificateNames()
  const versions = servingVersions()
  const served: Record<string, PemFiles> = {}
  for (const routed of routedHosts()) {
    const { host } = routed
    const own = uploaded.find(host)
    // Until the wildcard is there, what the host had before goes on serving.
    const name = [names.nameOf(routed), host].find((name) => versions.has(name))
    if (own) served[host] = uploadedFiles(own.id)
    else if (name !== undefined) served[host] = versionFiles(name, versions.get(name)!)
  }
  return served
}
