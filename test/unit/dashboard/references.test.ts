import { describe, expect, test } from 'vitest'
import {
  complete,
  serviceNamed,
  spotAt,
  suggestionsFor,
  type Targets,
} from '../../../dashboard/src/variables/references.ts'
import { parseValue } from '../../../server/variables/references.ts'

const TARGETS: Targets = {
  datastores: [
    { name: 'db', kind: 'relational' },
    { name: 'cache', kind: 'keyvalue' },
  ],
  services: [
    { name: 'api', type: 'web_service' },
    { name: 'inner', type: 'private_service' },
    { name: 'worker', type: 'background_worker' },
  ],
}

/** What is suggested at the bar in a text. */
function at(text: string, keys: string[] = []): string[] {
  const cursor = text.indexOf('|')
  const spot = spotAt(text.replace('|', ''), cursor)
  return spot === null ? [] : suggestionsFor(spot.typed, TARGETS, keys).map(({ content }) => content)
}

/** The text, with the cursor in it, after the first suggestion was accepted. */
function taken(text: string, keys: string[] = []): string {
  const cursor = text.indexOf('|')
  const plain = text.replace('|', '')
  const spot = spotAt(plain, cursor)!
  const [first] = suggestionsFor(spot.typed, TARGETS, keys)
  const done = complete(plain, spot, first!)
  return `${done.text.slice(0, done.cursor)}|${done.text.slice(done.cursor)}`
}

describe('references in a value', () => {
  test.each(['plain|', '$|', '{{|', '$${{data|', '${{datastore.db}}|', '${{a b|', '|${{db'])(
    'are not suggested in %j',
    (text) => {
      expect(at(text)).toEqual([])
    },
  )

  test('are suggested with every property that their target has, once one is begun', () => {
    expect(at('${{|')).toEqual([
      ...['url', 'host', 'port', 'database', 'username', 'password', 'ca_certificate'].map(
        (name) => `datastore.db.${name}`,
      ),
      ...['url', 'host', 'port', 'username', 'password', 'ca_certificate'].map(
        (name) => `datastore.cache.${name}`,
      ),
      ...['hostport', 'host', 'port', 'url', 'env.'].map((name) => `service.api.${name}`),
      ...['hostport', 'host', 'port', 'env.'].map((name) => `service.inner.${name}`),
      'service.worker.env.',
    ])
  })

  test('are found by any part that is typed', () => {
    expect(at('a${{ cache.pass|')).toEqual(['datastore.cache.password'])
    expect(at('${{service.api.u|}} and more')).toEqual(['service.api.url'])
    expect(at('${{nothing|')).toEqual([])
    // In the middle of a word, such as datastore, it is not a beginning.
    expect(at('${{stor|')).toEqual([])
  })

  test('suggest the variables of the named service', () => {
    expect(serviceNamed('service.api.env.LOG')).toBe('api')
    expect(serviceNamed('service.api.host')).toBeNull()
    expect(at('${{service.api.env.lev|', ['LOG_LEVEL', 'PORT'])).toEqual(['service.api.env.LOG_LEVEL'])
  })

  test('replace what was typed, whatever follows', () => {
    expect(taken('${{db|')).toBe('${{datastore.db.url}}|')
    expect(taken('x ${{ db| y')).toBe('x ${{datastore.db.url}}| y')
    expect(taken('${{db.ho|st}}/path')).toBe('${{datastore.db.host}}|/path')
    expect(taken('${{worker|}}', [])).toBe('${{service.worker.env.|')
  })

  test('are accepted by the server', () => {
    for (const { content, isOpen } of suggestionsFor('', TARGETS, []))
      expect(() => parseValue(`\${{${content}${isOpen ? 'KEY' : ''}}}`)).not.toThrow()
  })
})
