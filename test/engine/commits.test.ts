import { execFile } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commit, createRepository, startGitHttp, type GitHttp, type Repository } from '../stand/git.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { containersOf, docker, endOf } from './live.ts'

const SECRET = 'a secret of webhooks'
const DOCKERFILE = 'FROM busybox:1\nCOPY word /word\nCMD ["sleep", "1000"]\n'

let server: TestServer
let http: GitHttp
let repository: Repository
let first: string
let foreign: string
let service: { id: string; deploy_hook_path: string; latest_deploy: { id: string } }

beforeAll(async () => {
  http = await startGitHttp()
  repository = await createRepository({ Dockerfile: DOCKERFILE, word: 'first' })
  first = await git('rev-parse', 'main')
  await commit(repository, { word: 'second' }, 'second')
  // A stranger's merge request is stored in the same repository.
  foreign = await git('commit-tree', '-p', 'main', '-m', 'evil', 'main^{tree}')
  await git('update-ref', 'refs/pull/7/head', foreign)
  server = await startServer({ engine: true, env: { DEPLOYER_WEBHOOK_SECRET: SECRET } })
  const { body } = await server.api('POST', '/services', {
    name: 'branches',
    type: 'background_worker',
    repo_url: http.url(repository),
  })
  service = body
})
afterAll(async () => {
  await server?.stop()
  await http?.close()
})

async function git(...command: string[]): Promise<string> {
  const author = ['-c', 'user.name=Eve', '-c', 'user.email=eve@example.com']
  const { stdout } = await promisify(execFile)('git', ['-C', repository.path, ...author, ...command])
  return stdout.trim()
}

function push(after: string) {
  const text = JSON.stringify({
    ref: 'refs/heads/main',
    after,
    repository: { clone_url: http.url(repository), default_branch: 'main' },
    pusher: randomUUID(),
  })
  const signature = `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`
  const headers = { 'x-hook-event': 'push', 'x-hook-signature-256': signature }
  return server.request('POST', '/hooks/gitprov', text, { headers })
}

test('if no branch was chosen, the default branch is named: to programs, and in the deploy', async () => {
  expect(await endOf(server, service.latest_deploy.id)).toMatchObject({ status: 'live' })
  const { body } = await server.api('GET', `/deploys/${service.latest_deploy.id}`)
  expect(body.source).toMatchObject({ branch: 'main', commit: null })
  const [container] = await containersOf(service.id)
  const variables = JSON.parse(await docker('inspect', '--format', '{{json .Config.Env}}', container!))
  expect(variables).toContain('DEPLOYER_GIT_BRANCH=main')
})

test('a commit of a fork is deployed neither by the deploy hook nor by a push that names it', async () => {
  for (const id of [foreign, foreign.slice(0, 8)]) {
    const { body } = await server.request('POST', `${service.deploy_hook_path}&ref=${id}`)
    expect(await endOf(server, body.id)).toMatchObject({
      status: 'build_failed',
      error: expect.stringContaining(`does not contain the commit ${id}`),
    })
  }
  const { body } = await push(foreign)
  expect(await endOf(server, body.deploys[0].id)).toMatchObject({ status: 'build_failed', commit_sha: null })
})

test(
  "an older commit of the branch is deployed by the hook, and a fork's by who has a token",
  { tags: ['slow'] },
  async () => {
    const { body } = await server.request('POST', `${service.deploy_hook_path}&ref=${first.slice(0, 8)}`)
    expect(await endOf(server, body.id)).toMatchObject({ status: 'live', commit_sha: first })
    const manual = await server.api('POST', `/services/${service.id}/deploys`, { commit: 'refs/pull/7/head' })
    expect(await endOf(server, manual.body.id)).toMatchObject({
      status: 'live',
      commit_sha: foreign,
      source: { branch: 'main' },
    })
  },
)
