import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { DOCS_SCRIPT } from '#server/openapi/page.ts'
import { readLine } from '../support/terminal-lines.ts'

interface Options {
  plugins: { fn: { requestSnippetGenerator_deployer: (request: Map<string, unknown>) => string } }[]
}

/** The line that the page shows for a request. */
function lineFor(method: string, path: string, body?: unknown): string {
  let options: Options | undefined
  const location = { href: 'https://dashboard.example.com/api/docs' }
  const SwaggerUIBundle = (given: Options) => (options = given)
  runInNewContext(DOCS_SCRIPT, { SwaggerUIBundle, location, URL, File })
  const url = `https://dashboard.example.com${path}`
  return options!.plugins[0]!.fn.requestSnippetGenerator_deployer(
    new Map(Object.entries({ method, url, body })),
  )
}

test.for([
  ['GET', '/api/v1/services', undefined, 'deployer api GET /services'],
  ['GET', '/api/openapi.json', undefined, 'deployer api GET /api/openapi.json'],
  [
    'GET',
    '/api/v1/services/web/logs?tail=5&search=a%20b',
    undefined,
    "deployer api GET '/services/web/logs?tail=5&search=a%20b'",
  ],
  [
    'PATCH',
    '/api/v1/services/web',
    '{"instances":2}',
    `deployer api PATCH /services/web --input - <<'END'\n{"instances":2}\nEND`,
  ],
  [
    'POST',
    '/api/v1/services/web/deploys/upload',
    new File([], "it's.tar.gz"),
    String.raw`deployer api POST /services/web/deploys/upload --input 'it'\''s.tar.gz'`,
  ],
] as const)('the page of the API shows %s %s as a line for a terminal', ([method, path, body, line]) => {
  expect(lineFor(method, path, body)).toBe(line)
})

test('the command line takes such a line, and what is outside of the API has none', () => {
  const call = readLine(lineFor('GET', '/api/v1/services?environment=staging'))
  expect(call).toMatchObject({ command: { name: 'api' }, words: ['GET', '/services?environment=staging'] })
  expect(lineFor('GET', '/healthz')).not.toContain('deployer api GET')
})
