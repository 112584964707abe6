import type { Command } from '../command.ts'
import { FOLLOW_EXITS, FOLLOW_FLAGS } from './follow-flags.ts'

/** The command that brings something new live. */
export const DEPLOY: Command = {
  name: 'deploy',
  group: 'Deploy',
  summary: 'deploy a folder, a commit, an image or a sample, and follow the deploy',
  words: [{ name: 'folder', isOptional: true, completes: 'file' }],
  flags: [
    { name: 'image', value: 'reference', summary: 'set this image and deploy it' },
    { name: 'commit', value: 'commit', summary: 'of the repository, instead of the head of the branch' },
    {
      name: 'sample',
      value: 'name',
      summary: 'of the server, to try it without a source: site or server',
      completes: ['site', 'server'],
    },
    { name: 'clear-cache', summary: 'build without cache' },
    { name: 'create', summary: 'make the service if it does not exist' },
    { name: 'list', summary: 'print what would be packed, and send nothing' },
    { name: 'no-gitignore', summary: 'pack what .gitignore leaves out, too' },
    ...FOLLOW_FLAGS,
  ],
  more: `A service without a repository and an image gets a folder: the word, else the one of .deployer.json, else this one.
It is packed without .git, .hg, .svn and .deployer.json, and without node_modules, .venv, __pycache__, .DS_Store, .env and
.env.* (but .env.example). Then count, each able to bring back what was left out before: .gitignore of every folder and
.git/info/exclude; .dockerignore, if a Dockerfile builds the service; .deployerignore of every folder, which has the syntax of
.gitignore: !dist/ packs dist although .gitignore names it.`,
  examples: [
    'deploy --service web',
    'deploy dist --service site --create',
    'deploy --image registry.example.com/web:2',
    'deploy --sample site --service hello --create',
  ],
  exits: FOLLOW_EXITS,
  load: async () => (await import('../client/commands/deploy.ts')).deploy,
}
