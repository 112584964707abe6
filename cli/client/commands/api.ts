import { open } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import type { Call } from '../../call.ts'
import { wrong } from '../../fault.ts'
import type { Api, RawQuestion } from '../api.ts'
import { bodyOf, writeOut } from '../body.ts'
import { fieldsOf, pairOf, readFields } from '../fields.ts'
import { reasonOf, STANDARD_INPUT } from '../input.ts'
import { withApi } from '../with-api.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
/** Their fields are those of the query; the others have a body. */
const WITHOUT_BODY = ['GET', 'HEAD', 'DELETE']
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.gz': 'application/gzip',
  '.tgz': 'application/gzip',
}
const JSON_TYPE = 'application/json'
const LONG_CALLS = /^\/api\/v1\/(?:blueprints\/(?:apply|convert)|detect)$/
const LONG_LIMIT_MS = 5 * 60_000

/** Sends any request to the API and prints the body of the answer as it comes. */
export async function callApi(call: Call): Promise<void> {
  const [given, word, ...pairs] = call.words as [string, string, ...string[]]
  const method = given.toUpperCase()
  if (!METHODS.includes(method)) throw wrong(`the method must be one of ${METHODS.join(', ')}`)
  const path = pathOf(word)
  await withApi(call, async (api) => {
    const answer = await api.raw({
      method,
      path: path.href,
      ...(await contentOf(call, api, method, path.pathname, pairs)),
      ...(LONG_CALLS.test(path.pathname) ? { limitMs: LONG_LIMIT_MS } : {}),
    })
    const status = answer.statusCode ?? 0
    if (status < 200 || status >= 300) throw await api.faultOf(answer)
    for await (const bytes of bodyOf(answer)) await writeOut(bytes)
  })
}

/** The path that is asked for, from the root and with its query. Throws Fault for one that is not the API's. */
function pathOf(word: string): { pathname: string; href: string } {
  if (/^[a-z][a-z\d+.-]*:/i.test(word) || word.startsWith('//'))
    throw wrong('api takes a path such as /services, not an address; the server is chosen with --host')
  const path = word.startsWith('/') ? word : `/${word}`
  const url = URL.parse(path.startsWith('/api/') ? path : `/api/v1${path}`, 'http://api')
  // `..` may lead out of the API, and even to another host.
  if (!url?.pathname.startsWith('/api/')) throw wrong(`${word} is not a path of the API`)
  return { pathname: url.pathname, href: `${url.pathname}${url.search}` }
}

/** The query and the body of a request, by its words and `--input`. */
async function contentOf(
  call: Call,
  api: Api,
  method: string,
  pathname: string,
  pairs: readonly string[],
): Promise<Pick<RawQuestion, 'query' | 'headers' | 'body'>> {
  const input = call.text('input')
  const query = call.has('environment') ? { environment: call.text('environment') } : {}
  if (input === null && WITHOUT_BODY.includes(method))
    return { query: { ...query, ...Object.fromEntries(pairs.map(pairOf)) }, headers: { accept: '*/*' } }
  if (input !== null) {
    const type = call.text('content-type') ?? MEDIA_TYPES[extname(input).toLowerCase()] ?? JSON_TYPE
    return {
      query: { ...query, ...Object.fromEntries(pairs.map(pairOf)) },
      headers: { accept: '*/*', 'content-type': type },
      body: await streamOf(input),
    }
  }
  if (pairs.length === 0) return { query, headers: { accept: '*/*' } }
  const fields = await fieldsOf(api, method, pathname)
  return {
    query,
    headers: { accept: '*/*', 'content-type': JSON_TYPE },
    body: JSON.stringify(readFields(pairs, fields)),
  }
}

async function streamOf(file: string): Promise<Readable> {
  if (file === STANDARD_INPUT) return process.stdin
  try {
    return (await open(file)).createReadStream()
  } catch (cause) {
    throw wrong(`${file} cannot be read: ${reasonOf(cause as NodeJS.ErrnoException)}`, { cause })
  }
}
