import { findDeploy } from '#server/deploys/operations.ts'
import { Deploy, DeployRef } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Read a deploy',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: DeployRef,
  response: Deploy,
  handler: ({ params }) => viewDeploy(findDeploy(params.deploy_id)),
})
