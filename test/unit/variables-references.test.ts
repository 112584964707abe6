import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  parseValue,
  ReferenceFault,
  writeReference,
  type Part,
  type Reference,
} from '#server/variables/references.ts'

/** Text that often contains what could begin or end a reference. */
const text = fc
  .array(
    fc.oneof(fc.constantFrom('$', '{', '}', '${{', '$${{', '}}', ' ', '\n', '"', 'é', '💩'), fc.string()),
  )
  .map((pieces) => pieces.join(''))

const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,20}[a-z0-9])?$/)
const blanks = fc.stringMatching(/^[ \t]{0,3}$/)

const reference: fc.Arbitrary<Reference> = fc.oneof(
  fc.record({
    kind: fc.constant('service' as const),
    name,
    property: fc.constantFrom('hostport', 'host', 'port', 'url'),
    key: fc.constant(null),
  }),
  fc.record({
    kind: fc.constant('datastore' as const),
    name,
    property: fc.constantFrom('url', 'host', 'port', 'database', 'username', 'password', 'ca_certificate'),
    key: fc.constant(null),
  }),
  fc
    .tuple(name, fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,20}$/))
    .map(([name, key]) => ({ kind: 'service' as const, name, property: `env.${key}`, key })),
)

function escaped(text: string): string {
  return text.replaceAll('${{', () => '$${{')
}

/** Parts with neighbouring texts joined, which is the only difference between them. */
function joined(parts: Part[]): Part[] {
  return parts.reduce<Part[]>((all, part) => {
    const last = all.at(-1)
    return typeof part === 'string' && typeof last === 'string'
      ? [...all.slice(0, -1), last + part]
      : [...all, part]
  }, [])
}

describe('a value', () => {
  it('without ${{ is its own text', () => {
    const plain = text.filter((text) => !text.includes('${{'))
    fc.assert(
      fc.property(plain, (text) => {
        expect(joined(parseValue(text))).toEqual(text === '' ? [] : [text])
      }),
    )
  })

  it('can contain any text, with ${{ written as $${{', () => {
    fc.assert(
      fc.property(text, (text) => {
        expect(joined(parseValue(escaped(text)))).toEqual(text === '' ? [] : [text])
      }),
    )
  })

  it('can contain references anywhere in any text, with blanks inside their braces', () => {
    // A dollar directly before a reference would escape it.
    const between = text.map((text) => text.replace(/\$+$/, ''))
    const parts = fc.array(fc.tuple(between, reference, blanks, blanks))
    fc.assert(
      fc.property(parts, text, (parts, rest) => {
        const written = parts.map(([text, reference, before, after]) => {
          const { kind, name, property } = reference
          return `${escaped(text)}\${{${before}${kind}.${name}.${property}${after}}}`
        })
        const expected = [...parts.flatMap(([text, reference]) => [text, reference]), rest]
        expect(joined(parseValue(written.join('') + escaped(rest)))).toEqual(
          joined(expected).filter((part) => part !== ''),
        )
      }),
    )
  })

  it('is read again as it was written', () => {
    fc.assert(
      fc.property(reference, (reference) => {
        expect(parseValue(writeReference(reference))).toEqual([reference])
      }),
    )
  })

  it('is refused only for its own error, whatever it contains, and the error quotes no text', () => {
    fc.assert(
      fc.property(text, (text) => {
        try {
          parseValue(`s3cret${text}s3cret`)
        } catch (error) {
          expect(error).toBeInstanceOf(ReferenceFault)
          expect((error as Error).message).not.toContain('s3cret')
        }
      }),
    )
  })

  it.each([
    ['${{service.api}}', 'service', 'hostport'],
    ['${{datastore.db}}', 'datastore', 'url'],
  ])('refers to the first property if it names none: %s', (value, kind, property) => {
    expect(parseValue(value)).toMatchObject([{ kind, property, key: null }])
  })

  it.each([
    '${{',
    'x${{',
    '${{}}',
    '${{ }}',
    '${{service.api.host}',
    '${{service.api.host} }',
    '${{service}}',
    '${{service.}}',
    '${{service.api.}}',
    '${{service..host}}',
    '${{.api.host}}',
    '${{api.host}}',
    '${{Service.api.host}}',
    '${{service.Api.host}}',
    '${{service.a_b.host}}',
    '${{service. api.host}}',
    '${{service.api host}}',
    '${{\nservice.api.host}}',
    '${{service.api.host}}${{',
    '${{service.${{service.api.host}}.host}}',
    '$${{a}} ${{b}}',
    '${{service.api.Host}}',
    '${{service.api.database}}',
    '${{service.api.constructor}}',
    '${{service.api.env}}',
    '${{service.api.env.}}',
    '${{service.api.env.A.B}}',
    '${{service.api.env.1A}}',
    '${{service.api.env.A-B}}',
    '${{datastore.db.hostport}}',
    '${{datastore.db.env.A}}',
    '${{env.A}}',
    '${{secrets.A}}',
  ])('is refused if ${{ begins no reference: %j', (value) => {
    expect(() => parseValue(value)).toThrow(ReferenceFault)
  })

  it('of the maximum length is read at once, however it is made', () => {
    for (const piece of ['$${{', '${{service.a}}', '{', '$', '}}', '${{ ', ' ']) {
      const value = piece.repeat(Math.floor((64 * 1024) / piece.length))
      try {
        parseValue(value)
      } catch (error) {
        expect(error).toBeInstanceOf(ReferenceFault)
      }
    }
  })
})
