import { assert, domain, oneof, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLocalName, normalName } from '#server/domains/names.ts'

function fault(text: string): string {
  try {
    return `taken as ${normalName(text, 'name')}`
  } catch (error) {
    return (error as Error).message
  }
}

describe('a domain name', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    [' example.com ', 'example.com'],
    ['Bücher.example', 'xn--bcher-kva.example'],
    ['faß.de', 'xn--fa-hia.de'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['localhost', 'localhost'],
    ['shop.localhost', 'shop.localhost'],
    ['my-app.github.io', 'my-app.github.io'],
    ['github.io', 'github.io'],
    ['1password.com', '1password.com'],
  ])('%s is stored as %s', (text, name) => {
    expect(normalName(text, 'name')).toBe(name)
  })

  it.each([
    ['192.0.2.1', /IP address/],
    ['2001:db8::1', /IP address/],
    ['[2001:db8::1]', /IP address/],
    ['0x7f.1', /IP address/],
    ['1.2.3', /IP address/],
    ['１２７.0.0.1', /IP address/],
    ['*.example.com', /wildcard/],
    ['example.com:80', /scheme, port or path/],
    ['https://example.com', /scheme, port or path/],
    ['example.com/x', /scheme, port or path/],
    ['user@example.com', /scheme, port or path/],
    ['a%2eb.com', /scheme, port or path/],
    ['example', /two labels/],
    ['com', /two labels/],
    ['co.uk', /public suffix/],
    ['CO.UK.', /public suffix/],
    ['kawasaki.jp', /public suffix/],
    ['-a.example.com', /label/],
    ['a_b.example.com', /label/],
    ['a..example.com', /label/],
    ['example.com..', /label/],
    [`${'a'.repeat(64)}.com`, /label/],
    [`${'a.'.repeat(126)}com`, /253/],
    ['xn--a.org', /xn-- but is not valid punycode/],
    ['shop.XN--0.com', /xn-- but is not valid punycode/],
    ['xn--abc-.com', /label/],
    ['xn--99999999999.com', /xn-- but is not valid punycode/],
    ['', /domain name/],
    ['.', /domain name/],
    ['a b.com', /domain name/],
    ['a\u0000.com', /domain name/],
  ])('%j is refused', (text, why) => {
    expect(fault(text)).toMatch(why)
    expect(fault(text)).toMatch(/^name: /)
  })

  it('is normal once it was normalized, whatever it was', () => {
    assert(
      property(oneof(domain(), string({ unit: 'grapheme' })), (text) => {
        let name: string
        try {
          name = normalName(text, 'name')
        } catch {
          return
        }
        expect(name).toMatch(/^[a-z0-9.-]{1,253}$/)
        expect(normalName(name, 'name')).toBe(name)
      }),
    )
  })
})

describe('a local name', () => {
  it.each(['localhost', 'a.localhost', 'a.b.test', 'nas.local', 'nas.lan', 'app.internal', 'a.home.arpa'])(
    '%s is one',
    (name) => expect(isLocalName(name)).toBe(true),
  )
  it.each(['example.com', 'localhost.example.com', 'mytest', 'contest.org', 'arpa.home'])(
    '%s is none',
    (name) => expect(isLocalName(name)).toBe(false),
  )
})
