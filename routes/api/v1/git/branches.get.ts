import { readBranches } from '#daemon/sources/branches.ts'
import { Branches, BranchesQuery } from '#server/git/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Read the branches of a repository from its remote',
  description:
    'Signs in as a deploy would: with the credentials in the address, or the connection for it, or without any.',
  auth: 'token',
  least: 'read',
  query: BranchesQuery,
  response: Branches,
  errors: ['git_remote_unreachable', 'git_authorization_rejected', 'git_provider_unavailable'],
  handler: ({ query }) => readBranches(query.repo_url),
})
