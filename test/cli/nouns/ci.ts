import { expect, test } from 'vitest'
import { ciExamples } from '../../support/ci-examples.ts'
import type { TestServer } from '../../support/server.ts'
import { linesIn } from '../../support/terminal-lines.ts'
import { waitFor } from '../../support/wait.ts'
import { checkedOut, runJob, settingsFor, variablesOf, type JobOutcome } from '../ci-job.ts'

export function ciCases(server: () => TestServer): void {
  const { steps, jobs, scripts } = ciExamples()
  /** Those that go through ssh are run where there is a server for it. */
  const withoutSsh = (script: string) => !script.includes('ssh ')
  const givenBySystem = {
    GITHUB_SHA: '0123456789abcdef0123456789abcdef01234567',
    CI_REGISTRY_IMAGE: 'registry.example.com/team/api',
    CI_COMMIT_TAG: 'v1',
  }
  const settings = () => settingsFor(server())
  const examples: [title: string, script: string, env: () => Record<string, string>][] = [
    ...steps
      .filter(({ run = '' }) => linesIn(run).length > 0 && withoutSsh(run))
      .map((step, index): (typeof examples)[number] => [
        `step ${index + 1} of GitHub Actions`,
        step.run!,
        () => variablesOf(step, settings()),
      ]),
    ...jobs.map(({ script }, index): (typeof examples)[number] => [
      `job ${index + 1} of GitLab CI`,
      script.join('\n'),
      settings,
    ]),
  ]
  const images: Record<string, string> = {
    'ghcr.io': `ghcr.io/team/web:${givenBySystem.GITHUB_SHA}`,
    CI_REGISTRY_IMAGE: 'registry.example.com/team/api:v1',
  }

  test.each(examples)(
    '%s begins the deploy that it says, and ends as that does',
    async (title, script, env) => {
      const environment = `ci-${examples.findIndex(([each]) => each === title) + 1}`
      const [, name] = /--service (\w+)/.exec(script)!
      await server().api('POST', '/environments', { name: environment })
      await server().api('POST', '/services', { name, environment, deploy: false })
      const running = runJob(script, {
        cwd: checkedOut(),
        env: { ...givenBySystem, ...env(), DEPLOYER_ENVIRONMENT: environment },
      })
      const path = `/services/${name}/deploys?environment=${environment}`
      const deploy = await begun(path, running)
      const image = Object.entries(images).find(([part]) => script.includes(part))?.[1]
      expect(deploy.trigger).toBe(image === undefined ? 'upload' : 'manual')
      const service = await server().api('GET', `/services/${name}?environment=${environment}`)
      expect(service.body.image).toBe(image ?? null)
      await server().api('POST', `/deploys/${deploy.id}/cancel`)
      expect(await running).toMatchObject({
        code: 1,
        outputs: '',
        error: expect.stringContaining(`deployer: ${deploy.id} was canceled`),
      })
    },
  )

  test('a folder is deployed without the client, too', async () => {
    await server().api('POST', '/services', { name: 'web', deploy: false })
    const script = scripts.find((each) => each.includes('curl '))!
    const running = runJob(script, { cwd: checkedOut(), env: settings() })
    const deploy = await begun('/services/web/deploys', running)
    const { code, out } = await running
    expect({ code, deploy: JSON.parse(out) }).toMatchObject({ code: 0, deploy: { id: deploy.id } })
    await server().api('POST', `/deploys/${deploy.id}/cancel`)
  })

  /** The first deploy of a service, which a job begins; how the job ended if it began none. */
  function begun(path: string, running: Promise<JobOutcome>): Promise<{ id: string; trigger: string }> {
    let ended: JobOutcome | undefined
    void running.then((outcome) => (ended = outcome))
    return waitFor(async () => (await server().api('GET', path)).body[0] ?? ended, 'the deploy')
  }
}
