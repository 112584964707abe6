import { cancelDeploy, findDeploy } from '#server/deploys/operations.ts'
import { Deploy, DeployRef } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Cancel a deploy that is queued or running',
  description: 'The live deploy keeps serving.',
  auth: 'token',
  least: 'deploy',
  within: 'service',
  params: DeployRef,
  response: Deploy,
  errors: ['conflict'],
  handler: ({ params }) => viewDeploy(cancelDeploy(findDeploy(params.deploy_id))),
})
