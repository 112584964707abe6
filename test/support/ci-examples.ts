import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from './sources.ts'

/** A step of a job of GitHub Actions. */
export interface Step {
  run?: string
  env?: Record<string, string>
}
export interface Workflow {
  on: Record<string, unknown>
  concurrency: { 'cancel-in-progress': boolean }
  permissions: Record<string, string>
  jobs: Record<string, { environment: { name: string }; steps: Step[] }>
}
export interface GitLabJob {
  resource_group: string
  environment: { name: string }
  rules: { if: string }[]
  script: string[]
}

/** The examples of docs/ci.md. */
export interface CiExamples {
  workflows: Workflow[]
  /** Those of the workflows, and those that the page shows alone. */
  steps: Step[]
  jobs: GitLabJob[]
  /** Its blocks for a shell. */
  scripts: string[]
}

/** The code blocks of a page, in these languages. */
export function blocksOf(path: string, languages: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`(?:${languages})\\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, block]) => block!,
  )
}

export function ciExamples(): CiExamples {
  const page = 'docs/ci.md'
  const documents = blocksOf(page, 'yaml').map((block) => parse(block) as object)
  const workflows = documents.filter((each): each is Workflow => 'jobs' in each)
  const fragments = documents.filter((each): each is Step[] => Array.isArray(each))
  const pipelines = documents.filter(
    (each): each is Record<string, GitLabJob> => !Array.isArray(each) && !('jobs' in each),
  )
  return {
    workflows,
    steps: [
      ...workflows.flatMap(({ jobs }) => Object.values(jobs).flatMap(({ steps }) => steps)),
      ...fragments.flat(),
    ],
    jobs: pipelines.flatMap((pipeline) => Object.values(pipeline)),
    scripts: blocksOf(page, 'sh'),
  }
}
