import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findCommand } from '../../../cli/words.ts'
import { COMMANDS } from '../../../cli/table/index.ts'
import { blocksOf, ciExamples } from '../../support/ci-examples.ts'
import { ROOT } from '../../support/sources.ts'
import { linesIn, readLine, wordsOf } from '../../support/terminal-lines.ts'

const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { encoding: 'utf8', recursive: true }).map((name) => `docs/${name}`),
].filter((path) => path.endsWith('.md'))

describe('the documentation', () => {
  const withLines = PAGES.map((path) => ({
    path,
    lines: blocksOf(path, 'sh|console|yaml').flatMap((block) => linesIn(block)),
  })).filter(({ lines }) => lines.length > 0)

  test('has lines of deployer in the pages about it', () => {
    const paths = withLines.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining(['README.md', 'docs/ci.md', 'docs/cli.md', 'docs/getting-started.md']),
    )
  })

  test.each(withLines)('has lines in $path that the command line takes', ({ lines }) => {
    const faults = lines.flatMap((line) => {
      try {
        readLine(line)
        return []
      } catch (error) {
        return [(error as Error).message]
      }
    })
    expect(faults).toEqual([])
  })

  test('names commands in its sentences that exist', () => {
    const named = PAGES.flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(/`deployer ([a-z][^`]*)`/g)].map(
        ([, words]) => [path, words!] as const,
      ),
    )
    const missing = named.filter(([, words]) => {
      const argv = wordsOf(words.replace(/^help /, '')).filter((word) => !word.startsWith('<'))
      return argv.length > 0 && argv[0] !== 'help' && 'unknown' in findCommand(COMMANDS, argv)
    })
    expect(missing).toEqual([])
  })

  test('teaches agents lines that the command line takes, on less than 150 lines', () => {
    const skill = readFileSync(join(ROOT, 'docs/skill/SKILL.md'), 'utf8')
    expect(skill.split('\n').length).toBeLessThan(150)
    const lines = [...skill.matchAll(/`(deployer [a-z][^`]*)`/g)].map(([, line]) => line!)
    expect(lines.length).toBeGreaterThan(30)
    for (const line of lines) readLine(line.replace('<command>', 'show').replaceAll(/<[a-z]+>/g, 'x'))
  })
})

describe('the examples for CI', () => {
  const { workflows, steps, jobs } = ciExamples()
  const scriptsOf = {
    'GitHub Actions': steps.map(({ run = '' }) => run),
    'GitLab CI': jobs.map(({ script }) => script.join('\n')),
  }

  test.each(Object.entries(scriptsOf))('deploy a folder and an image with %s', (_, scripts) => {
    const calls = scripts.flatMap(linesIn).map((line) => readLine(line)!)
    const deploys = calls.filter(({ command }) => command.name === 'deploy')
    expect(deploys.map((call) => call.text('service'))).not.toContain(null)
    expect(deploys.some(({ words }) => words[0] === '.')).toBe(true)
    expect(deploys.some((call) => call.text('image') !== null)).toBe(true)
  })

  test('run for pushes alone, one at a time, for a protected environment', () => {
    expect(workflows.length).toBeGreaterThan(0)
    for (const { on, concurrency, permissions, jobs: all } of workflows) {
      expect(Object.keys(on)).toEqual(['push'])
      expect(concurrency['cancel-in-progress']).toBe(false)
      expect(permissions).toEqual({ contents: 'read' })
      expect(Object.values(all).every(({ environment }) => environment.name === 'production')).toBe(true)
    }
    expect(jobs.length).toBeGreaterThan(0)
    for (const { resource_group, environment, rules } of jobs) {
      expect([resource_group, environment.name]).toEqual(['production', 'production'])
      expect(rules.every((rule) => /^\$CI_COMMIT_(TAG|BRANCH == \$CI_DEFAULT_BRANCH)$/.test(rule.if))).toBe(
        true,
      )
    }
  })

  test('give the token, a secret, to the step that deploys and to nothing else', () => {
    const withToken = steps.filter(({ env }) => env?.DEPLOYER_TOKEN !== undefined)
    expect(withToken).toEqual(steps.filter(({ run = '' }) => linesIn(run).length > 0))
    for (const { env } of withToken) expect(env!.DEPLOYER_TOKEN).toBe('${{ secrets.DEPLOYER_TOKEN }}')
    expect(JSON.stringify(scriptsOf)).not.toContain('TOKEN')
  })
})
