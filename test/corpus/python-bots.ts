import type { CorpusTree } from './tree.ts'

const program = (framework: string | null, startCommand: string, buildCommand: string | null = null) => ({
  runtime: 'python',
  framework,
  startCommand,
  buildCommand,
  isSite: false,
  obstacle: null,
})

const bot = (title: string, packages: string[], program: string, isWorker = false): CorpusTree => ({
  title,
  files: { 'requirements.txt': `${packages.join('\n')}\n`, 'bot.py': program },
  plan: { runtime: 'python', startCommand: 'python bot.py', isWorker },
})

/** Programs of Python that serve nobody, and what only looks like them. */
export const PYTHON_BOTS: CorpusTree[] = [
  {
    title: 'a bot',
    files: { 'requirements.txt': 'discord.py\n', 'bot.py': '' },
    settings: { processType: 'worker' },
    plan: program(null, 'python bot.py'),
  },
  {
    title: 'a bot whose name has a test in it',
    files: {
      'requirements.txt': 'discord.py\n',
      'contest.py': 'if __name__ == "__main__":\n    pass\n',
    },
    plan: { ...program(null, 'python contest.py'), isWorker: true },
  },
  {
    title: 'a bot for Discord in Python',
    files: { 'requirements.txt': 'discord.py>=2.3\npython-dotenv\n', 'main.py': 'import discord\n' },
    plan: { runtime: 'python', startCommand: 'python main.py', isWorker: true },
  },
  {
    title: 'a bot in the only file of Python that is a program',
    files: {
      'requirements.txt': 'python-telegram-bot==21\n',
      'rules_bot.py': 'def main():\n    pass\n\nif __name__ == "__main__":\n    main()\n',
      'components.py': '',
      'test_rules.py': 'if __name__ == "__main__":\n    pass\n',
    },
    settings: { processType: 'worker' },
    plan: { runtime: 'python', startCommand: 'python rules_bot.py', isWorker: true },
  },
  {
    title: 'a bot whose package is in a group of Poetry',
    files: {
      'pyproject.toml':
        '[tool.poetry]\nname = "bot"\n\n[tool.poetry.dependencies]\npython = "^3.12"\n"discord.py" = "^2.4"\n',
      'bot.py': '',
    },
    plan: { runtime: 'python', isWorker: true, startCommand: 'python bot.py' },
  },
  {
    title: 'a bot that draws with Panel',
    files: { 'requirements.txt': 'discord.py\npanel\n', 'bot.py': '' },
    plan: { runtime: 'python', isWorker: true, startCommand: 'python bot.py' },
  },
  {
    title: 'a bot that is sent its work',
    files: {
      'requirements.txt': 'aiohttp\naiogram\n',
      'bot.py': 'app = make()\nregister(app, path="/webhooks")\nrun_app(app)\n',
    },
    plan: { runtime: 'python', isWorker: false },
  },
  bot(
    'a bot with a server of aiohttp behind a name of its own',
    ['aiogram', 'aiohttp'],
    'await web._run_app(app)\n',
  ),
  bot('a bot that answers by the server of Python', ['discord.py', 'aiohttp'], 'httpd.serve_forever()\n'),
  bot('a bot beside a server of streams', ['telethon', 'aiohttp'], 'await asyncio.start_server(answer)\n'),
  bot('a bot that messages are sent to', ['aiogram', 'aiohttp'], 'configure_webhook(app)\n'),
  bot('a bot with Waitress', ['discord.py', 'waitress'], ''),
  bot(
    'a bot that asks for its messages, and says so first',
    ['aiogram', 'aiohttp'],
    'await bot.delete_webhook(drop_pending_updates=True)\nawait dp.start_polling(bot)\n',
    true,
  ),
  {
    title: 'a bot of Python whose requirements name what its packages want',
    files: {
      'requirements.txt': 'aiohttp==3.9.1\ndiscord.py==2.3.2\nmultidict==6.0.4\n',
      'bot.py': 'import discord\nclient.run(TOKEN)\n',
    },
    plan: { runtime: 'python', isWorker: true, startCommand: 'python bot.py' },
  },
  {
    title: 'a bot of Python that answers with a package that other packages want too',
    files: {
      'requirements.txt': 'aiohttp==3.9.1\naiogram==3.4.1\n',
      'bot.py': 'from web import serve\n',
      'web/__init__.py': 'from aiohttp import web\n\ndef serve(app):\n    web.run_app(app)\n',
    },
    plan: { runtime: 'python', isWorker: false, startCommand: 'python bot.py' },
  },
  {
    title: 'a bot of Python to which its messages are sent',
    files: {
      'requirements.txt': 'python-telegram-bot==13.1\ntornado==6.1\n',
      'bot.py': "updater.start_webhook(listen='0.0.0.0', port=PORT)\n",
    },
    plan: { runtime: 'python', isWorker: false },
  },
  {
    title: 'a bot of Discord that names the intents it has',
    files: {
      'requirements.txt': 'aiohttp\ndiscord.py==2.7.1\n',
      'bot.py': 'import discord\n\nintents = discord.Intents.default()\nintents.webhooks = True\n',
    },
    plan: { runtime: 'python', startCommand: 'python bot.py', isWorker: true },
  },
  {
    title: 'a bot in Python that is a package which python runs',
    files: {
      'pyproject.toml': '[project]\nname = "bot"\ndependencies = ["aiogram", "fastapi"]\n',
      'bot/__init__.py': '',
      'bot/__main__.py': 'from .core import main\n\nmain()\n',
      'tests/__main__.py': '',
    },
    plan: { runtime: 'python', startCommand: 'python -m bot', obstacle: null },
  },
  {
    title: 'a bot in Python with two packages that python runs',
    files: {
      'requirements.txt': 'aiogram\n',
      'bot/__main__.py': '',
      'importer/__main__.py': '',
    },
    plan: { runtime: 'python', startCommand: null },
  },
]
