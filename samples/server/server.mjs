import { createServer } from 'node:http'

const { PORT = '10000', GREETING = 'It works' } = process.env
const { DEPLOYER_SERVICE_NAME: service = 'sample', DEPLOYER_INSTANCE_ID: instanceId = 'here' } = process.env
// As pages and logs call it.
const instance = instanceId.slice(instanceId.lastIndexOf('-') + 1)
const startedAt = Date.now()
let requests = 0

const server = createServer((request, response) => {
  // Not every target of a request is a URL.
  const [pathname = '/'] = (request.url ?? '/').split('?')
  if (pathname === '/healthz') return void response.end('ok')
  requests += 1
  const status = pathname === '/' ? 200 : 404
  // What a program prints is the log of its service.
  console.log(`${request.method} ${pathname} ${status}`)
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
  response.end(
    status === 200 ? page() : '<!doctype html><title>Page not found</title><h1>Page not found</h1>',
  )
})

server.listen(Number(PORT), () => console.log(`listening on port ${PORT}`))

// Sent before an instance is stopped: requests that have begun are answered.
process.on('SIGTERM', () => server.close())

function page() {
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(GREETING)}</title>
<style>
  :root { color-scheme: light dark }
  body { max-width: 38rem; margin: 0 auto; padding: 12vh 1.25rem 3rem; font: 1.0625rem/1.6 system-ui, sans-serif }
  h1 { font-size: 2.25rem; line-height: 1.2 }
  li { margin-block: 0.4rem }
</style>
<h1>${escaped(GREETING)}</h1>
<p>This is instance <code>${escaped(instance)}</code> of the service <code>${escaped(service)}</code>, a server on
  Node ${process.versions.node}. It has run for ${seconds} s and answered ${requests} requests.</p>
<h2>Try these</h2>
<ol>
  <li>Reload this page, and look at the service's <strong>Logs</strong>: each request is a line.</li>
  <li>Set the variable <code>GREETING</code> under <strong>Variables</strong>, and click <strong>Save and
    restart</strong>: the heading changes, and no request fails meanwhile.</li>
  <li>Under <strong>Instances</strong> on the service's first page, click <strong>+</strong>: once there are two, reloads show
    two names in turns.</li>
</ol>
</html>
`
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
