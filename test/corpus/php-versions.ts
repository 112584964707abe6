import { noted, type CorpusTree } from './tree.ts'

/** A PHP program with the packages of its lock file, by the PHP versions that they require. */
const composed = (
  requires: object,
  locked: Record<string, string> = {},
  config = {},
): CorpusTree['files'] => ({
  'composer.json': { require: requires, config },
  'composer.lock': {
    packages: Object.entries(locked).map(([name, php]) => ({ name, version: 'v1.0.0', require: { php } })),
  },
  'public/index.php': '<?php\n',
})

const laravel = (version: string, php: string): CorpusTree['files'] => ({
  'composer.json': { require: { php, 'laravel/framework': '*' } },
  'composer.lock': { packages: [{ name: 'laravel/framework', version, require: { php } }] },
  'public/index.php': '<?php\n',
  artisan: '',
})

const php = (version: string): CorpusTree['plan'] => ({ runtime: 'php', version })

/** Versions of PHP that composer.json and the packages of its lock file ask for. */
export const PHP_VERSIONS: CorpusTree[] = [
  {
    title: 'a lock file of Composer whose packages ask for any 8',
    files: composed({ php: '^8.0' }, { old: '~7.4 || ~8.0', any: '~8.0' }),
    plan: { ...php('8.4'), notes: noted('php 8.4 by composer.json (^8.0)') },
  },
  {
    title: 'Laravel 8 whose packages were locked for a newer PHP',
    files: {
      ...laravel('v8.83.27', '^7.3|^8.0'),
      'composer.lock': {
        packages: [
          { name: 'laravel/framework', version: 'v8.83.27', require: { php: '^7.3|^8.0' } },
          { name: 'symfony/css-selector', version: 'v7.1.1', require: { php: '>=8.2' } },
        ],
      },
    },
    plan: {
      ...php('8.4'),
      notes: noted('php 8.4 by composer.lock, whose symfony/css-selector asks for >=8.2'),
    },
  },
  {
    title: 'Laravel 8 that is installed as if for a newer PHP',
    files: {
      ...laravel('v8.83.27', '^7.3|^8.0'),
      'composer.json': { require: { php: '^8.0' }, config: { platform: { php: '8.2.0' } } },
    },
    plan: php('8.4'),
  },
  ...['*', '>=5.5', '^8.0|^9.0|^10.0'].map((version) => ({
    title: `any Laravel (${version}) without a lock file`,
    files: {
      'composer.json': { require: { php: '>=7.2', 'laravel/framework': version } },
      'public/index.php': '',
    },
    plan: php('8.4'),
  })),
  {
    title: 'a lock file of Composer with a package that refuses newer ones',
    files: composed({ php: '^8.1' }, { 'lcobucci/jwt': '~8.1.0 || ~8.2.0 || ~8.3.0', 'psr/log': '>=8.0' }),
    plan: {
      ...php('8.3'),
      notes: noted('php 8.3 by composer.lock, whose lcobucci/jwt asks for ~8.1.0 || ~8.2.0 || ~8.3.0'),
    },
  },
  {
    title: 'a lock file of Composer whose packages are written in all ways, and take the newest',
    files: composed(
      { php: '^8.1' },
      { one: '8.1 - 8.4', two: '>=7.1 <9.0', three: '^7.2|^8.0', four: '>=7.1||>=8.0' },
    ),
    plan: { ...php('8.4'), notes: noted('php 8.4 by composer.json (^8.1)') },
  },
  {
    title: 'a lock file of Composer for a platform that it pretends',
    files: composed({ php: '^8.1' }, { schema: '8.1 - 8.3' }, { platform: { php: '8.1.0' } }),
    plan: php('8.4'),
  },
  {
    title: 'a lock file of Composer whose packages no one version suits',
    files: composed({ php: '^8.1' }, { old: '~8.1.0', new: '^8.3' }),
    plan: php('8.4'),
  },
  {
    title: 'a pin of PHP beside a lock file that refuses it',
    files: { ...composed({ php: '^8.1' }, { jwt: '~8.3.0' }), '.php-version': '8.2' },
    plan: php('8.2'),
  },
  {
    title: 'Laravel 5, whose composer.json takes any PHP',
    files: laravel('v5.5.50', '>=7.0.0'),
    plan: php('7.4'),
  },
  {
    title: 'Laravel 7, as its last skeleton asks',
    files: laravel('v7.30.4', '^7.2.5|^8.0'),
    plan: php('8.0'),
  },
  { title: 'Laravel 8', files: laravel('v8.83.27', '^7.3|^8.0'), plan: php('8.1') },
  { title: 'Laravel 10', files: laravel('v10.48.4', '^8.1'), plan: php('8.4') },
  {
    title: 'Laravel 5 without a lock file',
    files: {
      'composer.json': { require: { php: '>=5.6.4', 'laravel/framework': '5.4.*' } },
      'public/index.php': '',
    },
    plan: { ...php('7.4'), notes: noted('php 7.4 by laravel/framework 5.4.0, which supports none newer') },
  },
]
