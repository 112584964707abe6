import { describe, expect, test } from 'vitest'
import { repositoryKey } from '../../server/git/same-repository.ts'

describe('a repository', () => {
  test.each([
    'https://git.example.com/team/api',
    'https://git.example.com/team/api.git',
    'https://git.example.com/team/api.git/',
    'https://GIT.example.com:443/team/api',
    'http://git.example.com/team/api',
    'https://user:secret@git.example.com/team/api.git',
    'git@git.example.com:team/api.git',
    'git@git.example.com:/team/api',
    'ssh://git@git.example.com/team/api.git',
    'ssh://git@git.example.com:2222/team/api.git',
    'git://git.example.com/team/api',
  ])('is the same with %s', (url) => {
    expect(repositoryKey(url)).toBe('git.example.com/team/api')
  })

  test.each([
    'https://git.example.org/team/api',
    'https://git.example.com.example.org/team/api',
    'https://git.example.com/other/api',
    'https://git.example.com/team/api/x',
    'https://git.example.com/team/api2',
    'https://git.example.com/team/api.gitx',
    'https://git.example.com@example.org/team/api',
  ])('differs with %s', (url) => {
    expect(repositoryKey(url)).not.toBe('git.example.com/team/api')
  })

  test.each(['', 'team/api', 'file:///team/api', 'git.example.com:team/api'])('is invalid as "%s"', (url) => {
    expect(repositoryKey(url)).toBeNull()
  })
})
