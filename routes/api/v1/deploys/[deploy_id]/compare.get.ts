import { ComparedWith, Comparison } from '#server/deploys/comparison-schema.ts'
import { compareDeploys } from '#server/deploys/comparison.ts'
import { findDeploy } from '#server/deploys/operations.ts'
import { DeployRef } from '#server/deploys/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Compare a deploy with another one of its service',
  description:
    'What the deploy has (`to`) that the other one (`from`) has not, and the other way round: settings, variables, env groups and secret files. Commits are in the two deploys. Values of variables are never shown. 404 for a deploy of another service.',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: DeployRef,
  query: ComparedWith,
  response: Comparison,
  handler: ({ params, query }) => compareDeploys(findDeploy(params.deploy_id), query.with),
})
