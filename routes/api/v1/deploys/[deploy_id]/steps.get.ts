import { findDeploy } from '#server/deploys/operations.ts'
import { DeployRef } from '#server/deploys/schema.ts'
import { DeploySteps, viewSteps } from '#server/deploys/steps.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Read the steps of a deploy and their times',
  description:
    'Next to each step is the same one of the last deploy that went live. A deploy that waits, or that ran before the server recorded steps, has none.',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: DeployRef,
  response: DeploySteps,
  handler: ({ params }) => viewSteps(findDeploy(params.deploy_id)),
})
