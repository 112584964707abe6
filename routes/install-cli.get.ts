import { setResponseHeaders } from 'h3'
import { cliPackage } from '#server/cli-package/file.ts'
import { installScript } from '#server/cli-package/install-script.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { originOf } from '#server/http/origin.ts'

export default defineEndpoint({
  summary: 'Read the script that installs the command line without npm',
  description:
    'For a POSIX shell: `curl -fsSL <this address> | sh` unpacks the package to `~/.local/share/deployer` and links `~/.local/bin/deployer`. It compares the SHA-256 of the package.',
  auth: 'none',
  least: 'read',
  response: { contentType: 'text/plain', description: 'The script, with the address that the request used' },
  async handler({ event }) {
    const { sha256 } = await cliPackage()
    const script = installScript(originOf(event), sha256)
    setResponseHeaders(event, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-cache',
    })
    event.node.res.end(script)
  },
})
