import { useContext } from '../context.ts'
import { uploadedFiles, versionFiles, type PemFiles } from './files.ts'
import { CertificateNames, routedHosts, UploadedBook } from './hosts.ts'
import { servingVersions } from './store.ts'

/** The certificate of each routed host, by host: an uploaded one takes precedence over one from an authority. */
export function servedCertificates(): Record<string, PemFiles> {
  if (useContext().options.tls === 'off') return {}
  const uploaded = new UploadedBook()
  const names = new CertificateNames()
  const versions = servingVersions()
  const served: Record<string, PemFiles> = {}
  for (const routed of routedHosts()) {
    const { host } = routed
    const own = uploaded.find(host)
    // Until the wildcard is issued, the host keeps the certificate that it had before.
    const name = [names.nameOf(routed), host].find((name) => versions.has(name))
    if (own) served[host] = uploadedFiles(own.id)
    else if (name !== undefined) served[host] = versionFiles(name, versions.get(name)!)
  }
  return served
}
