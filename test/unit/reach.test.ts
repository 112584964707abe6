import { describe, expect, it } from 'vitest'
import { addressFault, hostFault, isPublicAddress } from '#server/network/addresses.ts'
import { pathAt, placeOf } from '#server/git/providers/place.ts'

const OPEN = { denyPrivate: false, ownPort: 7878 }
const STRICT = { denyPrivate: true, ownPort: null }

describe('a forbidden address', () => {
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '0.0.0.0',
    '0.1.2.3',
    '224.0.0.1',
    '255.255.255.255',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '::',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd00:c1::a9fe:a9fe',
    'fd00:42::42',
    'fd20:ce::254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::169.254.169.254',
    '::a9fe:a9fe',
    '::169.254.169.254',
    '::ffff:0:169.254.169.254',
    '2002:a9fe:a9fe::1',
  ])('is %s, in whatever form', (address) => {
    expect(addressFault(address, 443, OPEN)).toMatch(/never connected to/)
    expect(isPublicAddress(address.split('%')[0]!)).toBe(false)
  })

  it("is this server's own API, at any of the host's addresses", () => {
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
      expect(addressFault(address, 7878, OPEN)).toMatch(/this server's own API/)
    expect(addressFault('127.0.0.1', 7879, OPEN)).toBeNull()
  })
})

describe('a private address', () => {
  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '::1',
    'fd12::1',
    '::ffff:10.0.0.1',
    '64:ff9b::10.0.0.1',
    '::10.0.0.1',
    '::ffff:0:a00:1',
  ])('such as %s is allowed, unless they are denied', (address) => {
    expect(addressFault(address, 443, OPEN)).toBeNull()
    expect(addressFault(address, 443, STRICT)).toMatch(/--deny-private-git/)
    expect(isPublicAddress(address)).toBe(false)
  })

  it('is not one of the internet', () => {
    for (const address of ['140.82.112.3', '172.32.0.1', '2606:50c0:8000::153', '2002:8c52:7003::1']) {
      expect(addressFault(address, 443, STRICT)).toBeNull()
      expect(isPublicAddress(address)).toBe(true)
    }
  })

  it('may have a name, which is checked when it is resolved', () => {
    expect(hostFault('localhost', 443, STRICT)).toBeNull()
  })

  it('may not have the name of a metadata service', () => {
    expect(hostFault('metadata.google.internal', 80, STRICT)).toContain('metadata service')
    expect(hostFault('METADATA.google.internal.', 80, STRICT)).toContain('metadata service')
  })
})

describe('the path of a repository at its provider', () => {
  const gitHub = placeOf({ provider: 'gitprov_a', base_url: null })
  const below = placeOf({ provider: 'gitprov_b', base_url: 'https://example.com:8443/gitlab' })

  it.each([
    ['https://github.com/octo/api.git', gitHub, 'octo/api'],
    ['https://GitHub.com/octo/api/', gitHub, 'octo/api'],
    ['https://example.com:8443/gitlab/team/sub/api.git', below, 'team/sub/api'],
  ])('is found in %s', (url, place, path) => {
    expect(pathAt(place, url)).toBe(path)
  })

  it.each([
    ['http://github.com/octo/api.git', gitHub],
    ['https://github.com.evil.example/octo/api', gitHub],
    ['https://github.com:444/octo/api', gitHub],
    ['https://github.com/octo', gitHub],
    ['git@github.com:octo/api.git', gitHub],
    ['https://example.com:8443/gitlabx/team/api', below],
    ['https://example.com/gitlab/team/api', below],
  ])('does not exist in %s', (url, place) => {
    expect(pathAt(place, url)).toBeNull()
  })
})
