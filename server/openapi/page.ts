/**
 * The interactive page of the API: the files of Swagger UI, with our own page and start script. It loads nothing from
 * another host, and the policy below makes the browser enforce that.
 */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Deployer API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/api/docs/swagger-ui.css">
  </head>
  <body>
    <div id="docs"></div>
    <noscript>This page needs JavaScript. The API's description is at <a href="/api/openapi.json">/api/openapi.json</a>.</noscript>
    <script src="/api/docs/swagger-ui-bundle.js"></script>
    <script src="/api/docs/start.js"></script>
  </body>
</html>
`

/**
 * Starts Swagger UI. Its validator is off because it would send the document to a public service. A request that was sent is
 * shown as a line for a terminal, too; the client puts /api/v1 before paths.
 */
export const DOCS_SCRIPT = String.raw`
const quoted = (word) => /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'"

function requestSnippetGenerator_deployer(request) {
  const { pathname, search } = new URL(request.get('url'), location.href)
  if (!pathname.startsWith('/api/')) return '# deployer api is for paths under /api/'
  const path = (pathname + search).replace(/^\/api\/v1(?=\/)/, '')
  const line = ['deployer', 'api', request.get('method'), quoted(path)].join(' ')
  const body = request.get('body')
  if (!body) return line
  if (body instanceof File) return line + ' --input ' + quoted(body.name)
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return line + " --input - <<'END'\n" + text + '\nEND'
}

SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  plugins: [{ fn: { requestSnippetGenerator_deployer } }],
  requestSnippetsEnabled: true,
  requestSnippets: {
    generators: { deployer: { title: 'deployer', syntax: 'bash' }, curl_bash: { title: 'curl', syntax: 'bash' } },
    languages: ['deployer', 'curl_bash'],
  },
})
`

/** Headers of the page and its files. Swagger UI draws its icons from data URLs. */
export const DOCS_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}
