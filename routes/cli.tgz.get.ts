import { setResponseHeaders } from 'h3'
import { cliPackage } from '#server/cli-package/file.ts'
import { isKnown } from '#server/http/conditional.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Download the command line',
  description:
    'A package of npm, `deployer-cli`, of the version of the server: `npm install -g <this address>`. It needs Node 24.7 or newer and no other package.',
  auth: 'none',
  least: 'read',
  response: { contentType: 'application/gzip', description: 'The package' },
  async handler({ event }) {
    const { bytes, sha256 } = await cliPackage()
    setResponseHeaders(event, { 'cache-control': 'no-cache' })
    if (isKnown(event, `"${sha256}"`)) return
    setResponseHeaders(event, {
      'content-type': 'application/gzip',
      'content-length': bytes.length,
      'content-disposition': 'attachment; filename="deployer-cli.tgz"',
    })
    event.node.res.end(bytes)
  },
})
