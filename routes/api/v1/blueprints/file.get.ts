import { readRepositoryFile } from '#daemon/blueprints/repository-file.ts'
import { FileQuery, RepositoryFile } from '#server/blueprints/synced-schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Read the blueprint of a repository',
  description:
    'Returns the current file and applies nothing. Use a dry run of `POST /blueprints/apply` to plan it.',
  auth: 'token',
  least: 'read',
  query: FileQuery,
  response: RepositoryFile,
  errors: [
    'git_remote_unreachable',
    'git_authorization_rejected',
    'git_provider_unavailable',
    'payload_too_large',
  ],
  handler: ({ query: { repo_url, branch, path } }) =>
    readRepositoryFile({
      url: repo_url,
      branch: branch ?? null,
      path: path ?? null,
      commit: null,
      confined: false,
    }),
})
